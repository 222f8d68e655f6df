import type { Address, Hex } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../../protocol/abi.generated.ts";
import type { ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import { readCall } from "../../../protocol/read-call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { sameAddress } from "../../../protocol/values/same-address.ts";
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
} from "../../../server/domain/binding/expectations.ts";
import type { Use } from "../../../server/domain/binding/used-transactions.ts";
import { readFunding } from "../../../server/domain/merchants/merchant-steps.ts";
import { readClaimedPayments } from "../../../server/domain/payments/payments-in-calldata.ts";
import { asJournaled } from "../../../server/domain/purchases/status-after-reorg.ts";
import { findParts, readOnChain } from "../../../server/domain/records/find.ts";
import type { Services } from "../../../server/services.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";
import { contractAt } from "./address-book.ts";
import { member } from "./member.ts";
import { allCalls, type TracedCall } from "./read-trace.ts";

/** A step that a transaction could have been meant for. */
export interface Candidate {
  use: Use;
  /** The merchant or the purchases that it is about, by their ids. */
  about: string;
  expectation: Expectation;
}

/** One call that a transaction makes, itself or on its way. */
interface MadeCall {
  to: Address | null;
  sender: Address;
  function: string | null;
  args: { [name: string]: Json };
}

/** Everything that the service knows and a transaction could be about. */
interface Known {
  purchases: Stored<PurchaseRecord>[];
  merchants: Stored<MerchantRecord>[];
}

/**
 * Finds the steps that a transaction could have been meant for: by its own call, then by the calls inside it, then by the
 * purchases that its calls or its logs name, then by who sent it.
 */
export async function findCandidates(
  observed: ObservedTransaction,
  trace: TracedCall | null,
  services: Services,
): Promise<Candidate[]> {
  const known = await readKnown(services);
  const calls = madeCalls(observed, trace, services);
  for (const call of calls) {
    const found = await candidatesOf(call, observed, known, services);
    if (found.length > 0) return found;
  }
  const ids: Json[] = [
    ...calls.flatMap(({ args }) => args["id"] ?? []),
    ...(observed.receipt?.logs ?? []).flatMap(({ topics }) => topics),
  ];
  const named = ids.flatMap((id) => known.purchases.filter(({ value }) => value.commitment_hash === id));
  const sender = observed.envelope?.sender ?? null;
  const own = known.purchases.filter(({ value }) => sameAddress(value.buyer, sender)).toReversed();
  const [likeliest] = [...named, ...own];
  return likeliest === undefined ? [] : [await payment(likeliest, observed, services)];
}

async function readKnown({ store, deployment }: Services): Promise<Known> {
  const known: Known = { purchases: [], merchants: [] };
  for (const { id: program } of deployment.programs) {
    known.purchases.push(...(await store.list("purchases", { program })));
    known.merchants.push(...(await store.list("merchants", { program })));
  }
  return known;
}

/** The transaction's own call and those inside it, as far as they say something under the ABIs of the deployment. */
function madeCalls(
  { envelope }: ObservedTransaction,
  trace: TracedCall | null,
  { deployment }: Services,
): MadeCall[] {
  if (envelope?.sender === null || envelope === null) return [];
  const { sender } = envelope;
  const calls = [
    { to: envelope.to, data: envelope.input },
    ...(trace === null ? [] : allCalls(trace).map(({ to, input }) => ({ to: to ?? null, data: input }))),
  ];
  return calls.flatMap(({ to, data }) => {
    const abi = contractAt(deployment, to)?.abi;
    const decoded =
      (abi === undefined ? null : readCall(abi, data)) ??
      readCall(purchaseRegistrarAbi, data) ??
      readCall(testUsdcAbi, data);
    return decoded === null ? [] : [{ to, sender, function: decoded.function, args: decoded.args }];
  });
}

async function candidatesOf(
  call: MadeCall,
  observed: ObservedTransaction,
  known: Known,
  services: Services,
): Promise<Candidate[]> {
  const { args } = call;
  const byId = (id: Json | undefined) => known.purchases.filter(({ value }) => value.commitment_hash === id);
  switch (call.function) {
    case "enroll":
      return await enrollments(call, observed, known, services);
    case "offer":
    case "register":
      return await openings(call, observed, known, services);
    case "pay":
    case "payWithPermit":
    case "payBatch": {
      const ids = call.function === "payBatch" ? list(args["ids"]) : [args["id"]];
      const found = [...new Set(ids)].flatMap(byId);
      return await Promise.all(found.map(async (stored) => await payment(stored, observed, services)));
    }
    case "claim":
      return await Promise.all(
        byId(args["id"]).map(async (stored) => await claim(stored, call, observed, services)),
      );
    case "collectRefund": {
      const found = byId(args["id"]).map(async (stored) => await refund(stored, observed, services));
      return (await Promise.all(found)).filter((candidate) => candidate !== null);
    }
    case "approve":
      return approvals(call, observed, known, services);
    default:
      return [];
  }
}

/** Returns the step that a transaction would serve, for one merchant or purchase. */
function useOf(
  { hash }: ObservedTransaction,
  step: Use["step"],
  subject: string,
): Omit<Candidate, "expectation"> {
  return { use: { key: hash, step, subject }, about: subject };
}

async function enrollments(
  { args }: MadeCall,
  observed: ObservedTransaction,
  { merchants }: Known,
  services: Services,
): Promise<Candidate[]> {
  const merchantRef = member(args["authorization"], "merchantRef");
  const found = merchants.filter(({ key }) => hashId(key) === merchantRef);
  return await Promise.all(
    found.map(async ({ key, value }) => ({
      ...useOf(observed, "enrollment", key),
      expectation: expectEnrollment(value, (await readFunding(value, services)).authorization, services),
    })),
  );
}

/** The offer or the registration of a purchase. */
async function openings(
  call: MadeCall,
  observed: ObservedTransaction,
  { purchases }: Known,
  services: Services,
): Promise<Candidate[]> {
  const purchaseRef = member(call.args["purchase"], "purchaseRef");
  const found = purchases.filter(({ key }) => hashId(key) === purchaseRef);
  return await Promise.all(
    found.map(async ({ key, value }) => {
      const { exists } = await readOnChain(value, services);
      const operator = services.deployment.programs.find(({ id }) => id === value.program)?.operator;
      return call.function === "offer" && operator !== undefined
        ? {
            ...useOf(observed, "offer", key),
            expectation: expectOffer(value, operator, exists, services),
          }
        : {
            ...useOf(observed, "registration", key),
            expectation: expectRegistration(value, exists, services),
          };
    }),
  );
}

/**
 * Returns the possible purposes of an approval: a wallet can be a merchant's and a buyer's, and the spender can be the
 * wrong one of the two.
 */
function approvals(
  { args, sender }: MadeCall,
  observed: ObservedTransaction,
  known: Known,
  services: Services,
): Candidate[] {
  const amount = BigInt(String(args["value"] ?? args["amount"] ?? "0"));
  const fundings = known.merchants
    .filter(({ value }) => sameAddress(value.wallet, sender))
    .map(({ key, value }) => ({
      ...useOf(observed, "funding approval", key),
      expectation: expectFundingApproval(value, services),
    }));
  const payments = known.purchases
    .filter(({ value }) => sameAddress(value.buyer, sender))
    .toReversed()
    .map(({ key, value }) => ({
      ...useOf(observed, "payment approval", key),
      expectation: expectPaymentApproval(value, amount, services),
    }));
  const funds = sameAddress(String(args["spender"]), services.deployment.fundingSource.address);
  return funds ? [...fundings, ...payments] : [...payments, ...fundings];
}

async function payment(
  stored: Stored<PurchaseRecord>,
  observed: ObservedTransaction,
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

async function claim(
  { key, value }: Stored<PurchaseRecord>,
  { args }: MadeCall,
  observed: ObservedTransaction,
  services: Services,
): Promise<Candidate> {
  const { claim: filed } = await findParts(asJournaled(services), value);
  const claimHash = filed?.claim_hash ?? asHash(args["claimHash"]);
  const { exists } = await readOnChain(value, services);
  return {
    ...useOf(observed, "claim", key),
    expectation: expectClaim(value, claimHash, exists, services),
  };
}

async function refund(
  { key, value: purchase }: Stored<PurchaseRecord>,
  observed: ObservedTransaction,
  services: Services,
): Promise<Candidate | null> {
  const { claim: filed, decision } = await findParts(asJournaled(services), purchase);
  const operator = services.deployment.programs.find(({ id }) => id === purchase.program)?.operator;
  if (filed === null || decision === null || operator === undefined) return null;
  const at = await readOnChain(purchase, services);
  const step = { purchase, claim: filed, decision, operator };
  return { ...useOf(observed, "refund", key), expectation: expectRefund(step, at, services) };
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function asHash(value: Json | undefined): Hex {
  return `0x${String(value).slice(2)}`;
}
