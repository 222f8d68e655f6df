import { hashId } from "../../protocol/values/id.ts";
import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { assertInTime } from "../binding/deadlines.ts";
import { sayRemedy, sayWrong } from "../binding/reverts/cause.ts";
import { explainUnenrolled } from "../binding/reverts/explain-unenrolled.ts";
import type { ChainFunding } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../http/services.ts";
import { findMerchantId } from "../store/records/find.ts";
import type { MerchantRecord, PurchaseRecord } from "../store/records.ts";

/** Says why a merchant's enrollment cannot be confirmed; null when it can. */
export function whyNotPending(merchant: MerchantRecord, funding: ChainFunding): string | null {
  if (funding.revokedAt !== null)
    return `The wallet revoked this enrollment at ${toTimestamp(funding.revokedAt)}. Create a new merchant for it with POST …/merchants.`;
  return currentStatus(merchant, funding) === "enrolled" ? "The merchant is enrolled already." : null;
}

/**
 * Asks whether a merchant's enrollment can be confirmed.
 *
 * @throws Problem state_conflict: a merchant whose enrollment is confirmed or revoked no longer takes operations of its own.
 */
export function assertPending(merchant: MerchantRecord, funding: ChainFunding): void {
  const whyNot = whyNotPending(merchant, funding);
  if (whyNot === null) return;
  const members = { current_state: currentStatus(merchant, funding), allowed: [] };
  throw new Problem("state_conflict", whyNot, { members });
}

/**
 * Asks whether a merchant that the chain has no enrollment of can still enroll.
 *
 * @throws Problem deadline_passed
 */
export async function assertEnrollable(
  { funding: { valid_until } }: MerchantRecord,
  { authorization }: ChainFunding,
  { chain }: Pick<Services, "chain">,
): Promise<void> {
  if (authorization === null)
    assertInTime("deadline_passed", "enrollment", valid_until, await chain.nextTime());
}

/**
 * Asks whether purchases can be created under a merchant.
 *
 * @throws Problem merchant_not_enrolled, which says whether its enrollment is not confirmed yet, was revoked or was removed by a reorg.
 */
export async function assertEnrolled(
  merchant: MerchantRecord,
  funding: ChainFunding,
  services: Pick<Services, "chain" | "store">,
): Promise<void> {
  const { id, status } = merchant;
  const { revokedAt } = funding;
  const errors = [{ pointer: "/merchant_id", code: "not_enrolled", detail: "must be an enrolled merchant" }];
  const refuse = (detail: string, retryable: boolean) =>
    new Problem("merchant_not_enrolled", detail, { errors, retryable });
  if (revokedAt !== null) {
    const revoked = `The wallet of ${id} revoked its enrollment at ${toTimestamp(revokedAt)}.`;
    throw refuse(`${revoked} ${await nameInstead(merchant, services)}`, false);
  }
  if (status === "pending" && funding.authorization !== null)
    throw refuse(
      `The wallet of ${id} has enrolled, which is not confirmed. Confirm it with POST …/enrollment, then send the identical request again.`,
      true,
    );
  if (status === "pending") throw refuse(`${id} is pending; its wallet has to enroll first.`, true);
  if (currentStatus(merchant, funding) === "pending")
    throw refuse(
      `The chain no longer has the enrollment of ${id}. Let its wallet enroll again, then send the identical request again.`,
      true,
    );
}

/**
 * Asks whether the wallet of a purchase's merchant is enrolled, so that the purchase can come on chain.
 *
 * @throws Problem merchant_not_enrolled
 */
export async function assertCovered(
  purchase: PurchaseRecord,
  services: Pick<Services, "chain" | "store">,
): Promise<void> {
  const enrolled = { program: hashId(purchase.program), wallet: purchase.merchant };
  if ((await services.chain.enrolledAs(enrolled)) === null)
    throw await refusalOfUnenrolled(purchase, services);
}

/** The refusal of a step for whose purchase the chain has no enrollment. */
export async function refusalOfUnenrolled(
  purchase: PurchaseRecord,
  services: Pick<Services, "chain" | "store">,
  members: { [name: string]: Json } = {},
): Promise<Problem> {
  const cause = await explainUnenrolled(purchase, services);
  const detail = `${sayWrong(cause)} ${sayRemedy(cause, "send the identical request again", "")}`;
  return new Problem("merchant_not_enrolled", detail, { members, retryable: true });
}

/**
 * Returns a merchant's current status: its record has the status that was confirmed once. It is pending while a reorg
 * has removed the enrollment.
 */
function currentStatus(
  { status }: MerchantRecord,
  { authorization }: ChainFunding,
): MerchantRecord["status"] {
  return authorization === null ? "pending" : status;
}

/** Returns the merchant under which to create a purchase instead of one that has revoked its enrollment. */
async function nameInstead(
  { program, wallet }: MerchantRecord,
  { chain, store }: Pick<Services, "chain" | "store">,
): Promise<string> {
  const merchantRef = await chain.enrolledAs({ program: hashId(program), wallet });
  const other = merchantRef === null ? null : await findMerchantId(store, program, merchantRef);
  return other === null
    ? "Create a new merchant for the wallet with POST …/merchants, and the purchase under that one."
    : `Create the purchase under ${other}, which the wallet is enrolled as now.`;
}
