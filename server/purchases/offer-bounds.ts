import { hashId } from "../../protocol/values/id.ts";
import type { Json } from "../../protocol/values/json.ts";
import { toChainSeconds, toTimestamp } from "../../protocol/values/time.ts";
import type { ChainProgram, ChainRevert } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import { assertCovered } from "../merchants/merchant-steps.ts";
import type { Services } from "../services.ts";
import type { PurchaseRecord } from "../store/records.ts";
import { assertInTime } from "./assert-in-time.ts";

/** Begins the reads of {@link assertOfferable}. */
export function beginOfferBounds(
  { program: id, merchant: wallet }: PurchaseRecord,
  { chain }: Services,
): Promise<unknown>[] {
  const program = hashId(id);
  return [chain.program(program), chain.nextTime(), chain.enrolledAs({ program, wallet })];
}

/** Refuses what the contract would refuse in the next block, before the relayer reserves anything. */
export async function assertOfferable(purchase: PurchaseRecord, services: Services): Promise<void> {
  const { chain } = services;
  const [state, timestamp] = await Promise.all([chain.program(hashId(purchase.program)), chain.nextTime()]);
  assertInTime("deadline_passed", "offer", purchase.offer_deadline, timestamp);
  await assertCovered(purchase, services);
  const amount = BigInt(purchase.amount);
  const available = state.openBudget - state.openOffers;
  const causes = [
    state.paused && "the program is paused, which the direct route does not avoid",
    amount > state.maxPurchase && `the largest purchase is ${state.maxPurchase}`,
    amount > available && `${available < 0n ? 0n : available} of the budget for open offers is left`,
    timestamp > state.validUntil && `the bounds were valid until ${toTimestamp(state.validUntil)}`,
  ].filter((cause) => cause !== false);
  if (causes.length > 0) {
    const detail = `The program does not allow this offer of ${amount}: ${causes.join(", and ")}.`;
    const members = { bounds: viewBounds(purchase, state) };
    throw new Problem("registrar_bound_exceeded", detail, { members });
  }
}

function viewBounds({ amount }: PurchaseRecord, state: ChainProgram) {
  return {
    amount,
    max_purchase: state.maxPurchase.toString(),
    open_budget: state.openBudget.toString(),
    open_offers: state.openOffers.toString(),
    valid_until: toChainSeconds(state.validUntil),
    paused: state.paused,
  };
}

/** The explanation of each revert because the program's bounds have changed, or are used up, since they were read. */
const boundReverts: { readonly [error: string]: (args: ChainRevert["args"]) => string } = {
  BudgetExceeded: ({ available }) => `${available} of the budget for open offers was left`,
  AmountOutOfRange: ({ max }) => `the largest purchase was ${max}`,
  ProgramPaused: () => "the program was paused",
  DeadlinePassed: ({ deadline }) => `the bounds were valid until ${toTimestamp(Number(deadline))}`,
};

/** The code that {@link assertOfferable} would have refused with, had it seen what the transaction met. */
export function refusalOfOffer(
  { offer_deadline, amount }: PurchaseRecord,
  { name, args }: ChainRevert,
  members: { [name: string]: Json },
): Problem | null {
  if (name === "DeadlinePassed" && args["deadline"] === String(offer_deadline))
    return new Problem(
      "deadline_passed",
      `The offer was due by ${toTimestamp(offer_deadline)}; the block of its transaction, which reverted, has the time ${toTimestamp(Number(args["timestamp"]))}.`,
      { members },
    );
  const met = name === null ? undefined : boundReverts[name]?.(args);
  if (met === undefined) return null;
  const detail = `The program did not allow this offer of ${amount}: ${met}.`;
  return new Problem("registrar_bound_exceeded", detail, { members });
}
