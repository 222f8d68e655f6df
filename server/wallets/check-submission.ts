import { type Address, type Hex, hashMessage } from "viem";
import { hashClaim } from "../../protocol/messages/claim.ts";
import { hashPermit } from "../../protocol/messages/permit.ts";
import { recoverSigner } from "../../protocol/messages/wallet-signature.ts";
import { bindingMismatch } from "../binding/binding-mismatch.ts";
import { domainOf } from "../binding/commitment-of.ts";
import {
  type Expectation,
  expectClaim,
  expectEnrollment,
  expectFundingApproval,
  expectPaymentApproval,
  expectPayments,
  expectRegistration,
} from "../binding/expectations.ts";
import { paymentCall, readClaimedPayments } from "../binding/payments-in-calldata.ts";
import { findNonce, permitDomainOf, permitOf, permitPayment, whyNoPermit } from "../binding/permits.ts";
import { readFunding } from "../binding/read-funding.ts";
import { assertBound, requireBound } from "../binding/require-bound.ts";
import { requireSignature } from "../binding/require-signature.ts";
import { sayCause } from "../binding/reverts/cause.ts";
import { type ExplainedStep, explainRevert, saysInvalidPermit } from "../binding/reverts/explain-revert.ts";
import type { ChainPurchase, ChainRevert } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import type { OperationContext } from "../http/operation.ts";
import type { Services } from "../http/services.ts";
import { readFundingNeed } from "../merchants/funding.ts";
import { assertEnrollable, assertPending } from "../merchants/merchant-steps.ts";
import { enrollmentMessageOf } from "../merchants/views.ts";
import { readFiledClaim } from "../purchases/filed-claim.ts";
import { whyNotPayable } from "../purchases/payment-receipts.ts";
import { assertPaidTogether, assertRoute, assertStep, stepConflict } from "../purchases/purchase-steps.ts";
import {
  assertClaimable,
  assertClaimWindow,
  assertReconciled,
  claimOf,
  pickClaim,
} from "../refunds/claims.ts";
import type { SubmitMerchantAction, SubmitPurchaseAction, WalletAction } from "../schemas/wallets.ts";
import { findMerchant, findPurchase, readOnChain } from "../store/records/find.ts";
import { currentPurchase } from "../store/records/status-after-reorg.ts";
import type { PurchaseRecord, SubmissionRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";

type SubmissionContext<B> = Pick<OperationContext<B>, "services" | "program" | "id" | "body">;
type Of<A extends WalletAction> = SubmissionContext<
  Extract<SubmitMerchantAction | SubmitPurchaseAction, { action: A }>
>;

/** A submission that holds, with what it says. */
export interface CheckedSubmission {
  /** The digest that is signed, or the transaction's hash where nothing is signed. */
  about: Hex;
  transaction_hash?: Hex | undefined;
  signature?: Hex | undefined;
  amount?: string;
  reason?: string;
  /** The signer of the digest, if there is one. */
  signer: Address | null;
}

/** Checks what the wallet of a merchant did, as `POST …/enrollment` does. */
export async function checkMerchantSubmission(
  given: SubmissionContext<SubmitMerchantAction>,
): Promise<CheckedSubmission> {
  const { body } = given;
  return body.action === "enroll"
    ? await checkEnrollment({ ...given, body })
    : await checkFunding({ ...given, body });
}

/** Checks what a wallet of a purchase did, as `POST …/registration`, `POST …/reconcile` and `POST …/claims` do. */
export async function checkPurchaseSubmission(
  given: SubmissionContext<SubmitPurchaseAction>,
  submissions: readonly Stored<SubmissionRecord>[],
): Promise<CheckedSubmission> {
  const { services, program, id, body } = given;
  const { stored, purchase } = await findPurchase(services, program.id, id);
  const onChain = await readOnChain(purchase, services);
  switch (body.action) {
    case "register":
      return await checkRegistration({ ...given, body }, purchase, onChain);
    case "approve":
      return await checkApproval({ ...given, body }, purchase, onChain);
    case "pay":
      return await checkPayment({ ...given, body }, stored, onChain);
    case "pay_with_permit":
      return await checkPermit({ ...given, body }, purchase, onChain);
    case "claim":
      return await checkClaim({ ...given, body }, purchase, onChain, submissions);
  }
}

async function checkEnrollment({ services, program, id, body }: Of<"enroll">): Promise<CheckedSubmission> {
  const merchant = (await findMerchant(services.store, program.id, id)).value;
  const funding = await readFunding(merchant, services);
  assertPending(merchant, funding);
  const { wallet } = merchant;
  const { transaction_hash, signature } = body;
  if (transaction_hash !== undefined) {
    const expected = expectEnrollment(merchant, funding.authorization, services);
    await requireTransaction(transaction_hash, "enrollment", expected, { services, id });
  } else await assertEnrollable(merchant, funding, services);
  const digest = hashMessage(enrollmentMessageOf(merchant, services));
  if (signature !== undefined) await requireSignature({ wallet, digest, signature }, services);
  return { about: digest, transaction_hash, signature, signer: wallet };
}

async function checkFunding({ services, program, id, body }: Of<"fund">): Promise<CheckedSubmission> {
  const merchant = (await findMerchant(services.store, program.id, id)).value;
  const { transaction_hash } = body;
  const [{ needed }, observed] = await Promise.all([
    readFundingNeed(merchant, await readFunding(merchant, services), services),
    services.chain.observe(transaction_hash),
  ]);
  const expected = expectFundingApproval(merchant, { needed, observed }, services);
  await requireTransaction(transaction_hash, "funding approval", expected, { services, id });
  return { about: transaction_hash, transaction_hash, signer: null };
}

async function checkRegistration(
  { services, id, body }: Of<"register">,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
): Promise<CheckedSubmission> {
  await assertStep(purchase, "registration", services);
  await assertRoute(purchase, "merchant_direct", services);
  const { transaction_hash } = body;
  const expected = expectRegistration(purchase, onChain.exists, services);
  await requireTransaction(transaction_hash, "registration", expected, { services, id });
  return { about: transaction_hash, transaction_hash, signer: null };
}

async function checkApproval(
  { services, id, body }: Of<"approve">,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
): Promise<CheckedSubmission> {
  const { transaction_hash, amount = purchase.amount } = body;
  const expected = expectPaymentApproval(purchase, BigInt(amount), services);
  await requireTransaction(transaction_hash, "payment approval", expected, { services, id });
  const whyNot = whyNotPayable(onChain);
  if (whyNot !== null) throw await stepConflict(purchase, whyNot, services);
  return { about: transaction_hash, transaction_hash, amount, signer: null };
}

async function checkPayment(
  { services, body }: Of<"pay">,
  stored: Stored<PurchaseRecord>,
  onChain: ChainPurchase,
): Promise<CheckedSubmission> {
  const purchase = stored.value;
  await assertStep(await currentPurchase(purchase, services), "reconcile", services);
  const { transaction_hash } = body;
  const observed = await services.chain.observe(transaction_hash);
  const claimed = await readClaimedPayments(observed, stored, onChain, services);
  const own = purchase.commitment_hash;
  const paid = claimed.payments.reduce((sum, { id, amount }) => (id === own ? sum + amount : sum), 0n);
  const amount = BigInt(body.amount ?? paid);
  const given = {
    call: paymentCall(services.deployment.registrar.address, own, amount, claimed.permit),
    payments: [{ id: own, amount, purchase: onChain.exists ? purchase : null, stored }],
  };
  const { call, payments } = amount === paid ? claimed : given;
  const expected = expectPayments(call, payments, purchase, services, claimed.mayPermit);
  const use = { key: transaction_hash, step: "payment", subject: transaction_hash } as const;
  await assertBound(observed, expected, use, services);
  for (const { stored: other } of payments)
    if (other !== null && other.key !== stored.key)
      await assertPaidTogether(await currentPurchase(other.value, services), services);
  return { about: transaction_hash, transaction_hash, amount: amount.toString(), signer: null };
}

/** A permit is accepted when the buyer has signed it and the payment under it would succeed now. */
async function checkPermit(
  { services, body }: Of<"pay_with_permit">,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
): Promise<CheckedSubmission> {
  await assertStep(purchase, "reconcile", services);
  const { chain, deployment } = services;
  const { buyer } = purchase;
  await assertPermits(buyer, onChain, services);
  const { signature } = body;
  const amount = BigInt(body.amount ?? BigInt(purchase.amount) - onChain.paid);
  const permit = await findPermit(purchase, { amount, signature }, onChain, services);
  await requireSignature({ wallet: buyer, digest: permit.digest, signature }, services);
  const { to, data } = permitPayment(purchase, { amount, signature }, deployment);
  const revert = await chain.simulate([{ from: buyer, to, data }], onChain.asOf, await chain.nextTime());
  if (revert?.name !== "DeadlinePassed" && isOutdated(permit, revert))
    throw await outdatedPermit(purchase, permit, services);
  if (revert !== null) {
    const about = { step: "payment", purchase, approved: onChain.approved } as const;
    const detail = `The payment would revert: ${sayCause(await explainRevert(revert, about, services))}`;
    if (revert.name === "DeadlinePassed") throw new Problem("deadline_passed", detail);
    throw await stepConflict(purchase, detail, services);
  }
  return { about: permit.digest, signature, amount: amount.toString(), signer: buyer };
}

/** A permit by its nonce, and the nonce that the token expects next. */
interface NumberedPermit {
  digest: Hex;
  nonce: bigint;
  next: bigint;
}

/** Finds the permit that the buyer has signed, the next one or one whose nonce was used; the next one where it has signed neither. */
async function findPermit(
  purchase: PurchaseRecord,
  { amount, signature }: { amount: bigint; signature: Hex },
  { asOf }: ChainPurchase,
  { chain, deployment }: Services,
): Promise<NumberedPermit> {
  const next = await chain.permitNonce(purchase.buyer, asOf.hash);
  const numbered = (nonce: bigint): NumberedPermit => {
    const permit = permitOf(purchase, { amount, nonce }, deployment);
    return { digest: hashPermit(permitDomainOf(deployment), permit), nonce, next };
  };
  const signed = permitOf(purchase, { amount, nonce: next }, deployment);
  return numbered((await findNonce(signed, signature, next, deployment)) ?? next);
}

/**
 * Returns whether a permit's nonce was used. The last one still counts while it pays, because anyone can submit it to
 * the token first.
 */
function isOutdated({ nonce, next }: NumberedPermit, revert: ChainRevert | null): boolean {
  return nonce < next - 1n || (nonce < next && revert !== null && saysInvalidPermit(revert));
}

async function outdatedPermit(
  purchase: PurchaseRecord,
  { nonce, next }: NumberedPermit,
  services: Services,
): Promise<Problem> {
  const detail =
    `The permit is for nonce ${nonce}, which was used; the token expects nonce ${next}. ` +
    "Let the buyer sign the permit that the wallet route shows now.";
  const { members } = await stepConflict(purchase, detail, services);
  const error = {
    pointer: "/signature",
    code: "nonce_used",
    detail: `must sign a permit with nonce ${next}`,
  };
  return new Problem("state_conflict", detail, { members, errors: [error] });
}

/** A permit is taken of an account whose own key decides whether it is valid. */
async function assertPermits(wallet: Address, { asOf }: ChainPurchase, { chain }: Services): Promise<void> {
  const detail = whyNoPermit(await chain.walletCode(wallet, asOf));
  if (detail === null) return;
  throw bindingMismatch(detail, {
    name: "wallet",
    expected: wallet,
    actual: { address: wallet, reason: detail },
  });
}

async function checkClaim(
  { services, id, body }: Of<"claim">,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  submissions: readonly Stored<SubmissionRecord>[],
): Promise<CheckedSubmission> {
  const again = await checkClaimAgain({ services, id, body }, purchase, onChain);
  if (again !== null) return again;
  await assertClaimable(purchase, onChain, services);
  const { transaction_hash, signature } = body;
  const before = pickClaim(submissions, purchase, onChain, services.deployment);
  const amount = body.amount ?? before?.amount;
  const reason = body.reason ?? before?.reason;
  if (amount === undefined || reason === undefined) {
    assertClaimWindow(purchase, onChain);
    throw missingClaim({ amount, reason });
  }
  const claim = claimOf(purchase, { amount: BigInt(amount), reason });
  const claimHash = hashClaim(domainOf(services.deployment), claim);
  await assertClaim(purchase, onChain, { amount, claimHash, transaction_hash, signature }, services);
  const { beneficiary: signer } = purchase;
  return { about: claimHash, transaction_hash, signature, amount, reason, signer };
}

/** A claim by its digest, with its evidence. */
interface ClaimEvidence
  extends Pick<Extract<SubmitPurchaseAction, { action: "claim" }>, "transaction_hash" | "signature"> {
  amount: string;
  claimHash: Hex;
}

/**
 * Checks the amount, the transaction and the signature of a claim, as far as they are given.
 *
 * @throws Problem that says what is wrong.
 */
export async function assertClaim(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  { amount, claimHash, transaction_hash, signature }: ClaimEvidence,
  services: Services,
): Promise<void> {
  if (transaction_hash === undefined) assertClaimWindow(purchase, onChain);
  assertReconciled(purchase, amount, "/amount");
  const { id, beneficiary: wallet } = purchase;
  if (transaction_hash !== undefined) {
    const expected = expectClaim(purchase, claimHash, onChain.exists, services);
    await requireTransaction(transaction_hash, "claim", expected, { services, id });
  } else await assertNoOtherClaim({ claimHash, signature }, wallet, onChain, services);
  if (signature !== undefined) await requireSignature({ wallet, digest: claimHash, signature }, services);
}

/** The filed claim, sent again after a reorg; null for anything else, which is judged as a claim that is not filed yet. */
async function checkClaimAgain(
  { services, id, body }: Pick<Of<"claim">, "services" | "id" | "body">,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
): Promise<CheckedSubmission | null> {
  const filed = await readFiledClaim(purchase, services);
  const { transaction_hash, signature } = body;
  if (filed === null || transaction_hash === undefined) return null;
  const { amount = filed.requested_amount, reason = filed.reason } = body;
  const claim = claimOf(purchase, { amount: BigInt(amount), reason });
  const claimHash = hashClaim(domainOf(services.deployment), claim);
  if (claimHash !== filed.claim_hash) return null;
  const expected = expectClaim(purchase, claimHash, onChain.exists, services);
  await requireTransaction(transaction_hash, "claim", expected, { services, id });
  const { beneficiary: signer } = purchase;
  if (signature !== undefined)
    await requireSignature({ wallet: signer, digest: claimHash, signature }, services);
  return { about: claimHash, transaction_hash, signature, amount, reason, signer };
}

/**
 * A claim without its transaction must be the one that the chain holds. As long as it holds none, the signature of an account's own key is
 * enough; that of code says nothing, because the code may answer yes to anything.
 */
async function assertNoOtherClaim(
  { claimHash, signature }: Pick<ClaimEvidence, "claimHash" | "signature">,
  wallet: Address,
  onChain: ChainPurchase,
  { chain }: Services,
): Promise<void> {
  if (onChain.claimHash === claimHash) return;
  if (onChain.claimHash === null) {
    const code = await chain.walletCode(wallet, onChain.asOf);
    if (code === "none") return;
    const isOwn = signature !== undefined && (await recoverSigner(claimHash, signature)) === wallet;
    if (code === "delegated" && isOwn) return;
  }
  const detail =
    onChain.claimHash === null
      ? "The beneficiary has code, and the chain holds no claim of it yet. Submit the signature once it does."
      : "The chain holds another claim of this purchase. Submit the amount and the reason of that one.";
  throw bindingMismatch(detail, { name: "purchase", expected: claimHash, actual: onChain.claimHash });
}

async function requireTransaction(
  hash: Hex,
  step: ExplainedStep,
  expected: Expectation,
  { services, id }: Pick<SubmissionContext<unknown>, "services" | "id">,
): Promise<void> {
  await requireBound(hash, expected, { key: hash, step, subject: id }, services);
}

function missingClaim(claim: { amount: string | undefined; reason: string | undefined }): Problem {
  const missing = [
    ...(claim.amount === undefined ? ["amount"] : []),
    ...(claim.reason === undefined ? ["reason"] : []),
  ];
  const detail = "is missing; send what the signed claim says";
  const errors = missing.map((field) => ({ pointer: `/${field}`, code: "missing", detail }));
  return new Problem("validation_failed", `/${missing.join(" and /")} ${detail}`, { errors });
}
