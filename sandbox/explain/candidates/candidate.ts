import type { Hex } from "viem";
import type { ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import type { Json } from "../../../protocol/values/json.ts";
import {
  type Expectation,
  expectClaim,
  expectEnrollment,
  expectFundingApproval,
  expectOffer,
  expectPaymentApproval,
  expectPayments,
  expectRefund,
  expectRegistration,
} from "../../../server/binding/expectations.ts";
import { readClaimedPayments } from "../../../server/binding/payments-in-calldata.ts";
import { readFunding } from "../../../server/binding/read-funding.ts";
import type { ExplainedStep } from "../../../server/binding/reverts/explain-revert.ts";
import type { Use } from "../../../server/binding/used-transactions.ts";
import type { Services } from "../../../server/http/services.ts";
import { readFundingNeed } from "../../../server/merchants/funding.ts";
import { findParts, readOnChain } from "../../../server/store/records/find.ts";
import { asJournaled } from "../../../server/store/records/status-after-reorg.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";

/** A step that a transaction could have been meant for. */
export interface Candidate {
  use: Use;
  /** The merchant or the purchases that it is about, by their ids. */
  about: string;
  expectation: Expectation;
}

/** A transaction that is compared with a step. */
export interface Compared {
  observed: ObservedTransaction;
  /** The arguments of the call that could be the step's: a step leaves some open, such as an amount. */
  args: { [name: string]: Json };
}

/** Returns what a step expects of the transaction that serves it; null while there is nothing to compare with. */
type Expect<R> = (record: R, compared: Compared, services: Services) => Promise<Expectation | null>;

const merchantSteps: { readonly [S in ExplainedStep]?: Expect<MerchantRecord> } = {
  enrollment: async (merchant, _, services) =>
    expectEnrollment(merchant, (await readFunding(merchant, services)).authorization, services),
  async "funding approval"(merchant, { observed }, services) {
    const { needed } = await readFundingNeed(merchant, await readFunding(merchant, services), services);
    return expectFundingApproval(merchant, { needed, observed }, services);
  },
};

const purchaseSteps: { readonly [S in ExplainedStep]?: Expect<PurchaseRecord> } = {
  async offer(purchase, _, services) {
    const operator = operatorOf(purchase, services);
    const { exists } = await readOnChain(purchase, services);
    return operator === undefined ? null : expectOffer(purchase, operator, exists, services);
  },
  registration: async (purchase, _, services) =>
    expectRegistration(purchase, (await readOnChain(purchase, services)).exists, services),
  async "payment approval"(purchase, { args }, services) {
    const approved = BigInt(String(args["value"] ?? args["amount"] ?? "0"));
    // No request takes an approval of nothing: without an amount, one of the whole purchase is expected.
    return expectPaymentApproval(purchase, approved > 0n ? approved : BigInt(purchase.amount), services);
  },
  async claim(purchase, { args }, services) {
    const { claim: filed } = await findParts(asJournaled(services), purchase);
    const { exists } = await readOnChain(purchase, services);
    return expectClaim(purchase, filed?.claim_hash ?? asHash(args["claimHash"]), exists, services);
  },
  async refund(purchase, _, services) {
    const { claim, decision } = await findParts(asJournaled(services), purchase);
    const operator = operatorOf(purchase, services);
    if (claim === null || decision === null || operator === undefined) return null;
    const at = await readOnChain(purchase, services);
    return expectRefund({ purchase, claim, decision, operator }, at, services);
  },
};

/** Builds the candidate of a step of the merchant or the purchase with an id; null when it is not there or has no such step. */
export async function candidateOf(
  step: ExplainedStep,
  id: string,
  compared: Compared,
  services: Services,
): Promise<Candidate | null> {
  const { store } = services;
  const [merchant, purchase] = [await store.get("merchants", id), await store.get("purchases", id)];
  if (step === "payment")
    return purchase === undefined ? null : await paymentCandidate(purchase, compared, services);
  const expectation =
    (merchant && (await merchantSteps[step]?.(merchant.value, compared, services))) ??
    (purchase && (await purchaseSteps[step]?.(purchase.value, compared, services)));
  if (expectation === undefined || expectation === null) return null;
  return { use: { key: compared.observed.hash, step, subject: id }, about: id, expectation };
}

/** A payment can be one of several purchases. */
async function paymentCandidate(
  stored: Stored<PurchaseRecord>,
  { observed }: Compared,
  services: Services,
): Promise<Candidate> {
  const at = await readOnChain(stored.value, services);
  const { call, payments, mayPermit } = await readClaimedPayments(observed, stored, at, services);
  return {
    use: { key: observed.hash, step: "payment", subject: observed.hash },
    about: [...new Set(payments.map(({ id, stored: paid }) => paid?.key ?? id))].join(", "),
    expectation: expectPayments(call, payments, stored.value, services, mayPermit),
  };
}

function operatorOf({ program }: PurchaseRecord, { deployment }: Services) {
  return deployment.programs.find(({ id }) => id === program)?.operator;
}

function asHash(value: Json | undefined): Hex {
  return `0x${String(value ?? `0x${"0".repeat(64)}`).slice(2)}`;
}
