import { type Address, type Hex, hashMessage } from "viem";
import { contractWalletReason } from "../../protocol/binding/check-binding.ts";
import { approveCall, type Call, claimCall, enrollCall, payCall, registerCall } from "../../protocol/call.ts";
import { claimTypedData, hashClaim } from "../../protocol/messages/claim.ts";
import { hashPermit, permitTypedData } from "../../protocol/messages/permit.ts";
import type { Json } from "../../protocol/values/json.ts";
import { authorizationOf, commitmentOf, domainOf } from "../binding/commitment-of.ts";
import { payableUntil } from "../binding/deadlines.ts";
import { noSignature, permitDomainOf, permitOf, permitPayment, whyNoPermit } from "../binding/permits.ts";
import { sayCause } from "../binding/reverts/cause.ts";
import { type ExplainedStep, explainRevert } from "../binding/reverts/explain-revert.ts";
import type { BlockPoint, ChainFunding, ChainPurchase } from "../chain/chain-reader.ts";
import type { Services } from "../http/services.ts";
import { readFundingNeed } from "../merchants/funding.ts";
import { whyNotPending } from "../merchants/merchant-steps.ts";
import { enrollmentMessageOf } from "../merchants/views.ts";
import { operationAfter, readFiledClaim } from "../purchases/filed-claim.ts";
import { reconciledOf, whyNotPayable, whyPaymentsRemoved } from "../purchases/payment-receipts.ts";
import { whyNeverActive, whyNotStep } from "../purchases/purchase-steps.ts";
import { claimOf } from "../refunds/claims.ts";
import type { WalletAction } from "../schemas/wallets.ts";
import { submissionsOf } from "../store/records/submissions.ts";
import type { MerchantRecord, PurchaseRecord } from "../store/records.ts";
import { viewTransactionRequest, viewTypedData } from "../transactions/views.ts";

/** One action of a wallet: what to sign or send, or why not now. */
export interface OfferedAction {
  name: WalletAction;
  allowed: boolean;
  why_not: string | null;
  transaction?: Json;
  sign?: Json;
  /** The values in the bytes, as they are submitted with them. */
  amount?: string;
  reason?: string;
}

/** An action before it is simulated. */
interface PlannedAction {
  name: WalletAction;
  from: Address;
  call: Call;
  /** The call that the signature approves, if the call needs a signature that is not made yet. */
  permitted?: Call;
  sign?: Json;
  amount?: string;
  reason?: string;
  /** The program operation that takes it, such as `POST …/registration`; null where none does. */
  operation: string | null;
  /** The reason why that operation would refuse it or, if there is none, why there is nothing to do. */
  whyNot: string | null;
}

/** The state that actions are simulated on: a block's state, at the time of the next block. */
interface SimulatedState {
  at: BlockPoint;
  time: number;
  /** The amount that a buyer has approved to the registrar contract, in base units. */
  approved: bigint;
  /** The purchase that is acted on; null for a merchant. */
  purchase: PurchaseRecord | null;
}

/** The step that each action is. */
const stepOf: { readonly [A in WalletAction]: ExplainedStep } = {
  enroll: "enrollment",
  fund: "funding approval",
  register: "registration",
  approve: "payment approval",
  pay: "payment",
  claim: "claim",
  pay_with_permit: "payment",
};

/** The reason of a claim for which none is asked: `POST …/claims` takes no claim without one. */
const noReason = "No reason given.";

/** Returns the current actions of a merchant's wallet. */
export async function merchantWalletActions(
  merchant: MerchantRecord,
  funding: ChainFunding,
  services: Services,
): Promise<OfferedAction[]> {
  const { registrar, token, fundingSource } = services.deployment;
  const { wallet: from } = merchant;
  const authorization = authorizationOf(merchant, services.deployment);
  const { needed, others, shortfall } = await readFundingNeed(merchant, funding, services);
  const message = enrollmentMessageOf(merchant, services);
  const time = await services.chain.nextTime();
  const plans: PlannedAction[] = [
    {
      name: "enroll",
      from,
      call: enrollCall(registrar.address, authorization, merchant.funding.signature),
      sign: { method: "personal_sign", message, digest: hashMessage(message) },
      operation: "POST …/enrollment",
      whyNot: whyNotPending(merchant, funding),
    },
    {
      name: "fund",
      from,
      call: approveCall(token.address, fundingSource.address, needed),
      operation: null,
      whyNot: shortfall > 0n ? null : sayFunded(needed, others),
    },
  ];
  return await offerAll(plans, { at: funding.asOf, time, approved: 0n, purchase: null }, services);
}

function sayFunded(needed: bigint, others: bigint): string {
  return others === 0n
    ? "The funding source may draw all that remains under the cap already."
    : `The funding source may draw ${needed} base units already, all that remains under the caps of the wallet's fundings.`;
}

/**
 * The amount that a wallet of a purchase is asked to approve, pay or claim, and the reason; null if nothing is asked.
 */
interface AskedAmount {
  amount: bigint | null;
  reason: string | null;
}

/**
 * Returns the current actions of the wallets of a purchase.
 *
 * @param wish - without an amount, as much as is outstanding, approved or reconciled.
 */
export async function purchaseWalletActions(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  wish: AskedAmount,
  services: Services,
): Promise<OfferedAction[]> {
  const { deployment } = services;
  const time = await services.chain.nextTime();
  const head = { at: onChain.asOf, time, approved: onChain.approved, purchase };
  const plans: PlannedAction[] = [
    {
      name: "register",
      from: purchase.merchant,
      call: registerCall(
        deployment.registrar.address,
        commitmentOf(purchase, deployment),
        purchase.commitment_signature,
      ),
      operation: "POST …/registration",
      whyNot: whyNotStep(purchase, "registration"),
    },
    planApproval(purchase, onChain, { ...wish, time }, services),
    planPayment(purchase, onChain, wish, services),
    (await planClaimAgain(purchase, onChain, wish, services)) ?? planClaim(purchase, onChain, wish, services),
    await planPermitPayment(purchase, onChain, { ...wish, head }, services),
  ];
  const isUnconfirmed = purchase.status === "created" && onChain.exists;
  const never = isUnconfirmed ? await whyNeverActive(purchase, services) : null;
  return await offerAll(
    plans.map((plan) => ({ ...plan, whyNot: never ?? plan.whyNot ?? null })),
    head,
    services,
  );
}

function planApproval(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  wish: AskedAmount & { time: number },
  { deployment }: Services,
): PlannedAction {
  const outstanding = BigInt(purchase.amount) - onChain.paid;
  const amount = wish.amount ?? outstanding;
  return {
    name: "approve",
    from: purchase.buyer,
    call: approveCall(deployment.token.address, deployment.registrar.address, amount),
    amount: amount.toString(),
    operation: null,
    whyNot:
      wish.time > payableUntil(purchase)
        ? "The pay deadline has passed."
        : whyNotApprovable(onChain, amount, outstanding),
  };
}

function whyNotApprovable(onChain: ChainPurchase, amount: bigint, outstanding: bigint): string | null {
  const { approved } = onChain;
  const whyNot = whyNotPayable(onChain);
  if (whyNot !== null) return whyNot;
  if (outstanding === 0n) return "The purchase is fully paid.";
  if (amount > outstanding) return `Only ${outstanding} base units are outstanding.`;
  if (approved < amount) return null;
  return amount === outstanding
    ? "The outstanding amount is approved already."
    : `${approved} base units are approved already.`;
}

function planPayment(
  purchase: PurchaseRecord,
  { paid, approved }: ChainPurchase,
  wish: AskedAmount,
  { deployment }: Services,
): PlannedAction {
  const outstanding = BigInt(purchase.amount) - paid;
  const payable = approved > 0n && approved < outstanding ? approved : outstanding;
  const amount = wish.amount ?? payable;
  return {
    name: "pay",
    from: purchase.buyer,
    call: payCall(deployment.registrar.address, purchase.commitment_hash, amount),
    amount: amount.toString(),
    operation: "POST …/reconcile",
    whyNot: whyNotCounted(purchase),
  };
}

/** Says why a payment would not count yet; null once the program has confirmed that the purchase is on chain. */
function whyNotCounted({ status }: PurchaseRecord): string | null {
  return status === "created" ? "The program has not confirmed this purchase yet." : null;
}

/** Asks for the permit first; once its signature was submitted and pays, for the transaction. */
async function planPermitPayment(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  wish: AskedAmount & { head: SimulatedState },
  services: Services,
): Promise<PlannedAction> {
  const { chain, deployment } = services;
  const { buyer: from } = purchase;
  const common = {
    name: "pay_with_permit",
    from,
    operation: "POST …/reconcile",
    whyNot: whyNotCounted(purchase),
  } as const;
  const submitted = await submittedPermit(purchase, wish.amount, services);
  if (submitted !== null) {
    const call = permitPayment(purchase, submitted, deployment);
    const tried = [{ from, to: call.to, data: call.data }];
    if ((await chain.simulate(tried, wish.head.at, wish.head.time)) === null)
      return { ...common, call, amount: submitted.amount.toString() };
  }
  const amount = wish.amount ?? BigInt(purchase.amount) - onChain.paid;
  const nonce = await chain.permitNonce(from, onChain.asOf.hash);
  const permit = permitOf(purchase, { amount, nonce }, deployment);
  const domain = permitDomainOf(deployment);
  return {
    ...common,
    call: permitPayment(purchase, { amount, signature: noSignature }, deployment),
    permitted: approveCall(deployment.token.address, deployment.registrar.address, amount),
    sign: {
      method: "eth_signTypedData_v4",
      typed_data: viewTypedData(permitTypedData(domain, permit)),
      digest: hashPermit(domain, permit),
    },
    amount: amount.toString(),
  };
}

/** The permit that was submitted last, of this amount if one is named. */
async function submittedPermit(
  { program, id }: PurchaseRecord,
  asked: bigint | null,
  { store }: Services,
): Promise<{ amount: bigint; signature: Hex } | null> {
  const submissions = await submissionsOf(store, program, id, "pay_with_permit");
  const last = submissions.findLast(
    ({ value }) => asked === null || value.amount === asked.toString(),
  )?.value;
  const { amount, signature } = last ?? {};
  return amount === undefined || !signature ? null : { amount: BigInt(amount), signature };
}

/** A claim, whose deadline is not checked here: the simulated call reverts after it. */
function planClaim(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  wish: AskedAmount,
  { deployment }: Services,
): PlannedAction {
  const { beneficiary } = purchase;
  const reconciled = reconciledOf(purchase);
  const amount = wish.amount ?? reconciled;
  const reason = wish.reason ?? noReason;
  const domain = domainOf(deployment);
  const claim = claimOf(purchase, { amount, reason });
  const digest = hashClaim(domain, claim);
  const tooMuch = amount > reconciled ? `Only ${reconciled} base units are reconciled.` : null;
  return {
    name: "claim",
    from: beneficiary,
    call: claimCall(deployment.registrar.address, purchase.commitment_hash, digest),
    sign: {
      method: "eth_signTypedData_v4",
      typed_data: viewTypedData(claimTypedData(domain, claim)),
      digest,
    },
    amount: amount.toString(),
    reason,
    operation: "POST …/claims",
    whyNot: whyNotStep(purchase, "claims") ?? whyPaymentsRemoved(purchase, onChain) ?? tooMuch,
  };
}

/** The filed claim as it was, once a reorg has removed it: its signature is recorded, only its transaction is missing. */
async function planClaimAgain(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  wish: AskedAmount,
  services: Services,
): Promise<PlannedAction | null> {
  const filed = onChain.claimHash === null ? await readFiledClaim(purchase, services) : null;
  if (filed === null || onChain.decisionHash !== null) return null;
  const { requested_amount: amount, reason, claim_hash } = filed;
  const { address } = services.deployment.registrar;
  const isFiled = (wish.amount ?? BigInt(amount)) === BigInt(amount) && (wish.reason ?? reason) === reason;
  const other = isFiled
    ? null
    : `The claim that was filed is of ${amount} base units, with the reason "${reason}".`;
  const removed = purchase.status === "claimed" ? whyPaymentsRemoved(purchase, onChain) : null;
  return {
    name: "claim",
    from: purchase.beneficiary,
    call: claimCall(address, purchase.commitment_hash, claim_hash),
    amount,
    reason,
    operation: operationAfter(purchase),
    whyNot: other ?? removed,
  };
}

async function offerAll(
  plans: readonly PlannedAction[],
  head: SimulatedState,
  services: Services,
): Promise<OfferedAction[]> {
  return await Promise.all(plans.map(async (plan) => await offer(plan, head, services)));
}

/** Allows what would succeed on chain and be taken by the program operation. */
async function offer(
  plan: PlannedAction,
  { at, time, approved, purchase }: SimulatedState,
  services: Services,
): Promise<OfferedAction> {
  const { chain, deployment } = services;
  const { name, from, call, permitted, operation, whyNot, ...shown } = plan;
  const calls = permitted === undefined ? [call] : [permitted, call];
  const [revert, code] = await Promise.all([
    chain.simulate(
      calls.map(({ to, data }) => ({ from, to, data })),
      at,
      time,
    ),
    chain.walletCode(from, at),
  ]);
  const refusal = whyNot ?? (code === "contract" ? contractWalletReason : null);
  const about = { step: stepOf[name], purchase, approved };
  const reasons = [
    revert && `The transaction would revert: ${sayCause(await explainRevert(revert, about, services))}`,
    refusal && (operation === null ? refusal : `${operation} would refuse it: ${refusal}`),
    // The operation takes a payment under a permit that the wallet has sent itself.
    refusal === null && name === "pay_with_permit" && whyNoPermit(code),
  ].filter((reason) => reason !== null && reason !== false);
  if (reasons.length > 0) return { name, allowed: false, why_not: reasons.join(" ") };
  const offered = { name, allowed: true, why_not: null, ...shown };
  return permitted === undefined
    ? { ...offered, transaction: viewTransactionRequest(call, from, deployment) }
    : offered;
}
