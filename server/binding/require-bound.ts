import type { Hex } from "viem";
import {
  type BindingReport,
  type CheckName,
  checkBinding,
  countConfirmations,
} from "../../protocol/binding/check-binding.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { toJson } from "../../protocol/values/json.ts";
import { toChainTimestamp } from "../../protocol/values/time.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { RefusedTransaction } from "../errors/refused-transaction.ts";
import type { Services } from "../http/services.ts";
import type { Expectation } from "./expectations.ts";
import { explainMined } from "./reverts/explain-mined.ts";
import type { ExplainedStep } from "./reverts/explain-revert.ts";
import { type Use, usedBy } from "./used-transactions.ts";

/** The codes of {@link requireBound} that every step has; a step with a deadline also has the code of a late transaction. */
export const bindingErrors = [
  "transaction_not_found",
  "transaction_unconfirmed",
  "transaction_reverted",
  "transaction_already_used",
  "binding_mismatch",
] as const satisfies readonly ErrorCode[];

/**
 * Accepts a transaction only when it is exactly the expected one.
 *
 * @param use - what it would serve; a use of the same step and subject is not a second use.
 * @throws Problem of {@link bindingErrors}, deadline_passed or claim_window_closed: each with every check.
 */
export async function requireBound(
  hash: Hex,
  expected: Expectation,
  use: Use,
  services: Services,
): Promise<ObservedTransaction> {
  const observed = await services.chain.observe(hash, { to: expected.call.to, wallet: expected.wallet });
  await assertBound(observed, expected, use, services);
  return observed;
}

/**
 * The check behind {@link requireBound}, on what was already read.
 *
 * @throws Problem as {@link requireBound} does.
 */
export async function assertBound(
  observed: ObservedTransaction,
  expected: Expectation,
  use: Use,
  services: Services,
): Promise<void> {
  const report = await evaluateChecks(observed, expected, use, services);
  if (!report.accepted) throw await refusal(observed, expected, report, use, services);
}

/** Evaluates every check of a transaction against a step, with what the chain and the store say about it now. */
export async function evaluateChecks(
  observed: ObservedTransaction,
  expected: Expectation,
  use: Use,
  services: Services,
): Promise<BindingReport> {
  const { block } = observed;
  const walletCode = block === null ? "none" : await services.chain.walletCode(expected.wallet, block);
  return checkBinding(observed, { ...expected, walletCode, usedBy: await usedBy(use, services) });
}

async function refusal(
  observed: ObservedTransaction,
  { wallet: from, call, timely, batch }: Expectation,
  report: BindingReport,
  { step, subject }: Use,
  services: Services,
): Promise<RefusedTransaction> {
  const { hash } = observed;
  const failed = report.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  const explain = `${services.settings.urls.control}/explain/${hash}`;
  const refused = { transactionHash: hash, step, report, explain };
  if (observed.envelope === null)
    return new RefusedTransaction(
      "transaction_not_found",
      `The chain knows no transaction ${hash}. Send the hash of a transaction on this chain, once the wallet has broadcast it.`,
      refused,
    );
  // A node that lags behind, or a reorg, can have a receipt without its block, or of a block after the newest one, which all else was read at: the
  // identical request may succeed later.
  const isMined = observed.receipt !== null && observed.block !== null;
  const isAhead = isMined && countConfirmations(observed) === 0;
  // Until it is confirmed, a reorg can have put it into another block, which not every node of a provider knows.
  const isOpen =
    failed.includes("confirmations") &&
    failed.every((name) => name === "confirmations" || name === "canonical");
  if (!isMined || isAhead || isOpen)
    return new RefusedTransaction("transaction_unconfirmed", "The transaction is not confirmed yet.", {
      ...refused,
      members: { confirmations: isMined ? countConfirmations(observed) : 0 },
      headers: { "Retry-After": "1" },
    });
  const code = soleCause(report, failed, step);
  if (code === "transaction_reverted") {
    const { message, revert } = await services.chain.revertOf(hash);
    const purchase = (await services.store.get("purchases", subject))?.value ?? null;
    const { to, data } = call;
    const mined = { call: { from, to, data }, revert, message };
    const { detail } = await explainMined(step, mined, { step, purchase }, advice, services);
    return new RefusedTransaction(code, detail, { ...refused, members: { revert: toJson(revert) } });
  }
  if (code === "deadline_passed" || code === "claim_window_closed") {
    // Only a step that has a deadline is late.
    const end = toChainTimestamp(Number(timely.to));
    const whose = batch === undefined ? "its deadline" : `the deadline of ${batch.first}`;
    const othersCan = batch !== undefined && (observed.block?.timestamp ?? 0) <= batch.lastDeadline;
    const instead = othersCan ? `Leave that payment out, then ${advice.again}.` : adviceOfLate[step];
    const detail = `The transaction of the ${step} was mined after ${whose}, ${end}. ${instead}`;
    return new RefusedTransaction(code, detail, refused);
  }
  const lag = failed.includes("timely") ? await describeLag(services) : "";
  return new RefusedTransaction(code, `${sentences[code]}; failed: ${failed.join(", ")}.${lag}`, refused);
}

/** Says that a node's chain is behind the clock, so that it would have each transaction too early; empty if it is not. */
async function describeLag({ chain, clock, settings }: Services): Promise<string> {
  if (settings.blockLagSeconds === 0) return "";
  const [{ timestamp }, now] = await Promise.all([chain.head(), clock.now()]);
  const behind = now - timestamp;
  return behind > settings.blockLagSeconds
    ? ` The newest block is ${behind} seconds behind this machine's clock; if the next one would be, too, set the clock, or the node's time.`
    : "";
}

const advice = { again: "send a new transaction", never: "No new transaction succeeds." };

const newPurchase = "No new transaction succeeds: create a new purchase (POST …/purchases).";

/** The advice on a transaction that came too late, by step. */
const adviceOfLate: { readonly [S in ExplainedStep]: string } = {
  enrollment:
    "No new transaction succeeds: create a new merchant with a later funding_valid_until (POST …/merchants).",
  "funding approval": advice.never,
  offer: newPurchase,
  registration: newPurchase,
  "payment approval": newPurchase,
  payment: newPurchase,
  claim: advice.never,
  refund: advice.never,
};

/** The sentence of a refusal by failed checks, by its code. */
const sentences = {
  binding_mismatch: "The transaction is not the one this step is bound to",
  transaction_already_used: "The transaction serves another step already",
} as const satisfies { readonly [C in ErrorCode]?: string };

/** A code of its own for the cases in which the transaction is the right one, but not now or not again. */
function soleCause(
  report: BindingReport,
  failed: readonly CheckName[],
  step: string,
): keyof typeof sentences | "deadline_passed" | "claim_window_closed" | "transaction_reverted" {
  const only = (...names: CheckName[]) => failed.every((name) => names.includes(name));
  // A late transaction reverts because it is late: the contract checks the deadlines as well.
  const reverted = ["status", "log", "purchase", "confirmations"] as const;
  if (failed.includes("timely") && only("timely", ...reverted) && isLate(report))
    return step === "claim" ? "claim_window_closed" : "deadline_passed";
  if (failed.includes("status") && only(...reverted)) return "transaction_reverted";
  if (only("unused")) return "transaction_already_used";
  return "binding_mismatch";
}

function isLate({ checks }: BindingReport): boolean {
  const timely = checks.find(({ name }) => name === "timely");
  const window = timely?.expected;
  if (typeof window !== "object" || window === null || Array.isArray(window)) return false;
  return Number(timely?.actual) > Number(window["to"] ?? Number.POSITIVE_INFINITY);
}
