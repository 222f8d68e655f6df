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
import type { Use } from "../../../server/binding/used-transactions.ts";
import { readFundingNeed } from "../../../server/merchants/funding.ts";
import { readFunding } from "../../../server/merchants/merchant-steps.ts";
import { readClaimedPayments } from "../../../server/payments/payments-in-calldata.ts";
import { asJournaled } from "../../../server/purchases/status-after-reorg.ts";
import type { ExplainedStep } from "../../../server/reverts/explain-revert.ts";
import type { Services } from "../../../server/services.ts";
import { findParts, readOnChain } from "../../../server/store/records/find.ts";
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

type Build<R> = (stored: Stored<R>, compared: Compared, services: Services) => Promise<Candidate | null>;

/** A step of a merchant. */
export type ExplainedMerchantStep = "enrollment" | "funding approval";

/** A step of a purchase. */
export type ExplainedPurchaseStep = Exclude<ExplainedStep, ExplainedMerchantStep>;

const merchantSteps: { readonly [S in ExplainedMerchantStep]: Build<MerchantRecord> } = {
  enrollment: async ({ key, value }, { observed }, services) => ({
    ...useOf(observed, "enrollment", key),
    expectation: expectEnrollment(value, (await readFunding(value, services)).authorization, services),
  }),
  async "funding approval"({ key, value }, { observed }, services) {
    const { needed } = await readFundingNeed(value, await readFunding(value, services), services);
    return {
      ...useOf(observed, "funding approval", key),
      expectation: expectFundingApproval(value, { needed, observed }, services),
    };
  },
};

const purchaseSteps: { readonly [S in ExplainedPurchaseStep]: Build<PurchaseRecord> } = {
  async offer({ key, value }, { observed }, services) {
    const operator = operatorOf(value, services);
    if (operator === undefined) return null;
    const { exists } = await readOnChain(value, services);
    return {
      ...useOf(observed, "offer", key),
      expectation: expectOffer(value, operator, exists, services),
    };
  },
  async registration({ key, value }, { observed }, services) {
    const { exists } = await readOnChain(value, services);
    return {
      ...useOf(observed, "registration", key),
      expectation: expectRegistration(value, exists, services),
    };
  },
  async "payment approval"({ key, value }, { observed, args }, services) {
    const amount = BigInt(String(args["value"] ?? args["amount"] ?? "0"));
    return {
      ...useOf(observed, "payment approval", key),
      expectation: expectPaymentApproval(value, amount, services),
    };
  },
  async payment(stored, { observed }, services) {
    const at = await readOnChain(stored.value, services);
    const { call, payments, mayPermit } = await readClaimedPayments(observed, stored, at, services);
    return {
      use: { key: observed.hash, step: "payment", subject: observed.hash },
      about: [...new Set(payments.map(({ id, stored: paid }) => paid?.key ?? id))].join(", "),
      expectation: expectPayments(call, payments, stored.value, services, mayPermit),
    };
  },
  async claim({ key, value }, { observed, args }, services) {
    const { claim: filed } = await findParts(asJournaled(services), value);
    const claimHash = filed?.claim_hash ?? asHash(args["claimHash"]);
    const { exists } = await readOnChain(value, services);
    return {
      ...useOf(observed, "claim", key),
      expectation: expectClaim(value, claimHash, exists, services),
    };
  },
  async refund({ key, value: purchase }, { observed }, services) {
    const { claim: filed, decision } = await findParts(asJournaled(services), purchase);
    const operator = operatorOf(purchase, services);
    if (filed === null || decision === null || operator === undefined) return null;
    const at = await readOnChain(purchase, services);
    const step = { purchase, claim: filed, decision, operator };
    return { ...useOf(observed, "refund", key), expectation: expectRefund(step, at, services) };
  },
};

/** Builds the candidate of a step of a merchant. */
export async function merchantCandidate(
  step: ExplainedMerchantStep,
  stored: Stored<MerchantRecord>,
  compared: Compared,
  services: Services,
): Promise<Candidate | null> {
  return await merchantSteps[step](stored, compared, services);
}

/** Builds the candidate of a step of a purchase; null while the step has nothing to compare with. */
export async function purchaseCandidate(
  step: ExplainedPurchaseStep,
  stored: Stored<PurchaseRecord>,
  compared: Compared,
  services: Services,
): Promise<Candidate | null> {
  return await purchaseSteps[step](stored, compared, services);
}

/** Builds the candidate of a step of the merchant or the purchase with an id; null when it is not there or has no such step. */
export async function candidateOf(
  step: string,
  id: string,
  compared: Compared,
  services: Services,
): Promise<Candidate | null> {
  const merchant = await services.store.get("merchants", id);
  if (merchant !== undefined && isIn(merchantSteps, step))
    return await merchantCandidate(step, merchant, compared, services);
  const purchase = await services.store.get("purchases", id);
  if (purchase === undefined || !isIn(purchaseSteps, step)) return null;
  return await purchaseCandidate(step, purchase, compared, services);
}

function isIn<S extends object>(steps: S, name: string): name is Extract<keyof S, string> {
  return Object.hasOwn(steps, name);
}

/** Returns the step that a transaction would serve, for one merchant or purchase. */
function useOf(
  { hash }: ObservedTransaction,
  step: ExplainedStep,
  subject: string,
): Omit<Candidate, "expectation"> {
  return { use: { key: hash, step, subject }, about: subject };
}

function operatorOf({ program }: PurchaseRecord, { deployment }: Services) {
  return deployment.programs.find(({ id }) => id === program)?.operator;
}

function asHash(value: Json | undefined): Hex {
  return `0x${String(value ?? `0x${"0".repeat(64)}`).slice(2)}`;
}
