import type { Hex } from "viem";
import { type Claim, hashClaim, hashReason } from "../../protocol/messages/claim.ts";
import { bindingMismatch } from "../binding/binding-mismatch.ts";
import { domainOf } from "../binding/commitment-of.ts";
import { assertInTime, claimableUntil } from "../binding/deadlines.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { Deployment } from "../chain/deployment.ts";
import { assertNoFieldErrors } from "../errors/problem.ts";
import type { Services } from "../http/services.ts";
import { assertPaymentsOnChain } from "../payments/assert-payments-on-chain.ts";
import { otherClaim } from "../purchases/filed-claim.ts";
import { reconciledOf } from "../purchases/payment-receipts.ts";
import { assertStep } from "../purchases/purchase-steps.ts";
import { readOnChain } from "../store/records/find.ts";
import type { ClaimRecord, PurchaseRecord, SubmissionRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";

/** Returns the claim that the beneficiary of a purchase makes and signs. */
export function claimOf(
  purchase: Pick<PurchaseRecord, "commitment_hash" | "beneficiary">,
  { amount, reason }: { amount: bigint; reason: string },
): Claim {
  return {
    commitment: purchase.commitment_hash,
    beneficiary: purchase.beneficiary,
    requestedAmount: amount,
    reasonHash: hashReason(reason),
  };
}

/**
 * Refuses a claim of more than reconcile has recorded.
 *
 * @param pointer - where the amount is in the body.
 * @throws Problem validation_failed
 */
export function assertReconciled(purchase: PurchaseRecord, amount: string, pointer: string): void {
  const reconciled = reconciledOf(purchase);
  const detail = `must be at most ${reconciled}, which is what is reconciled`;
  assertNoFieldErrors(BigInt(amount) > reconciled ? [{ pointer, code: "above_paid", detail }] : []);
}

/**
 * Asks whether the chain has a claim of a purchase or can still get one.
 *
 * @throws Problem claim_window_closed
 */
export function assertClaimWindow(
  purchase: PurchaseRecord,
  { claimHash, nextTime }: Pick<ChainPurchase, "claimHash" | "nextTime">,
): void {
  if (claimHash === null) assertInTime("claim_window_closed", "claim", claimableUntil(purchase), nextTime);
}

/**
 * Asks whether a purchase takes a claim now. After the window, it is refused for that first: to reconcile a payment would not help.
 *
 * @throws Problem state_conflict, claim_window_closed
 */
export async function assertClaimable(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  services: Services,
): Promise<void> {
  if (purchase.status === "active" && reconciledOf(purchase) === 0n) assertClaimWindow(purchase, onChain);
  await assertStep(purchase, "claims", services);
  await assertPaymentsOnChain(purchase, onChain, services);
}

/** Tells whether the award of a purchase has been collected for another claim than the decided one. */
export async function collectedForAnother(purchase: PurchaseRecord, services: Services): Promise<boolean> {
  const claim =
    purchase.claim_id === null ? undefined : await services.store.get("claims", purchase.claim_id);
  if (claim === undefined) return false;
  const onChain = await readOnChain(purchase, services);
  return onChain.collectedClaimHash !== null && otherClaim(claim.value, onChain) !== null;
}

/**
 * Checks that the claim on the chain is the filed one; another check covers a chain without a claim.
 *
 * @param about - what says that the filed one counts, as in `The decision dec_… is on the claim`.
 * @param instead - what to do, as the chain takes no second claim.
 * @throws Problem binding_mismatch
 */
export function assertFiledClaim(
  claim: Pick<ClaimRecord, "claim_hash">,
  { claimHash }: Pick<ChainPurchase, "claimHash">,
  { about, instead }: { about: string; instead: string },
): void {
  if (claimHash === null || claimHash === claim.claim_hash) return;
  const detail =
    `${about} ${claim.claim_hash}, and the chain has the claim ${claimHash} of this purchase. ` +
    `The contract takes no second claim, so ${instead}.`;
  throw bindingMismatch(detail, { name: "purchase", expected: claim.claim_hash, actual: claimHash });
}

/** Picks the claim that the wallet submitted: the one that the chain holds, else the newest. */
export function pickClaim(
  submissions: readonly Stored<SubmissionRecord>[],
  purchase: PurchaseRecord,
  { claimHash }: Pick<ChainPurchase, "claimHash">,
  deployment: Deployment,
): SubmissionRecord | null {
  const claims = submissions.map(({ value }) => value);
  const onChain = claims.find((claim) => hashOf(claim, purchase, deployment) === claimHash);
  return onChain ?? claims.at(-1) ?? null;
}

function hashOf(
  { amount, reason }: SubmissionRecord,
  purchase: PurchaseRecord,
  deployment: Deployment,
): Hex | undefined {
  if (amount === undefined || reason === undefined) return undefined;
  return hashClaim(domainOf(deployment), claimOf(purchase, { amount: BigInt(amount), reason }));
}
