import type { Address } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../../protocol/abi.generated.ts";
import type { ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import { readCall } from "../../../protocol/read-call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { sameAddress } from "../../../protocol/values/same-address.ts";
import type { ExplainedStep } from "../../../server/reverts/explain-revert.ts";
import type { Services } from "../../../server/services.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";
import { contractAt } from "../address-book.ts";
import { member } from "../cause/compare-calls.ts";
import { allCalls, type TracedCall } from "../execution/read-call-trace.ts";
import {
  type Candidate,
  candidateOf,
  type ExplainedMerchantStep,
  type ExplainedPurchaseStep,
  merchantCandidate,
  purchaseCandidate,
} from "./candidate.ts";

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
  const ids = new Set<Json>([
    ...calls.flatMap(({ args }) => args["id"] ?? []),
    ...(observed.receipt?.logs ?? []).flatMap(({ topics }) => topics),
  ]);
  const byId = new Map<Json, Stored<PurchaseRecord>>(
    known.purchases.map((purchase) => [purchase.value.commitment_hash, purchase]),
  );
  // Calldata of no known function names a purchase if it has its hash anywhere.
  const input = observed.envelope?.input.toLowerCase() ?? "";
  const named = [
    ...[...ids].flatMap((id) => byId.get(id) ?? []),
    ...known.purchases.filter(({ key, value }) =>
      [value.commitment_hash, hashId(key)].some((hash) => input.includes(hash.slice(2))),
    ),
  ];
  const sender = observed.envelope?.sender ?? null;
  const own = known.purchases.filter(({ value }) => sameAddress(value.buyer, sender)).toReversed();
  const [likeliest] = [...named, ...own];
  if (likeliest === undefined) return [];
  const candidate = await purchaseCandidate("payment", likeliest, { observed, args: {} }, services);
  return candidate === null ? [] : [candidate];
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
  const compared = { observed, args: call.args };
  const found = meant(call, known, services).map(async (one) =>
    "merchant" in one
      ? await merchantCandidate(one.step, one.merchant, compared, services)
      : await purchaseCandidate(one.step, one.purchase, compared, services),
  );
  return (await Promise.all(found)).filter((candidate) => candidate !== null);
}

/** A step that a call could be, of a merchant or of a purchase. */
type Meant =
  | { step: ExplainedMerchantStep; merchant: Stored<MerchantRecord> }
  | { step: ExplainedPurchaseStep; purchase: Stored<PurchaseRecord> };

function meant(call: MadeCall, { merchants, purchases }: Known, services: Services): Meant[] {
  const { args } = call;
  const step = stepOfCall(call.function);
  const of = (chosen: Stored<PurchaseRecord>[], as: ExplainedPurchaseStep) =>
    chosen.map((purchase): Meant => ({ step: as, purchase }));
  const byId = (id: Json | undefined) => nearest(purchases, ({ value }) => value.commitment_hash, id);
  switch (step) {
    case "enrollment": {
      const merchantRef = member(args["authorization"], "merchantRef");
      return nearest(merchants, ({ key }) => hashId(key), merchantRef).map((merchant) => ({
        step,
        merchant,
      }));
    }
    case "offer":
    case "registration": {
      const purchaseRef = member(args["purchase"], "purchaseRef");
      return of(
        nearest(purchases, ({ key }) => hashId(key), purchaseRef),
        step,
      );
    }
    case "payment": {
      const ids = call.function === "payBatch" ? list(args["ids"]) : [args["id"]];
      return of([...new Set(ids)].flatMap(byId), step);
    }
    case "claim":
    case "refund":
      return of(byId(args["id"]), step);
    case "payment approval":
      return approvals(call, { merchants, purchases }, services);
    default:
      return [];
  }
}

/** Returns the objects whose hash is the named one, or has the most bytes in common with it if those are most of its bytes. */
function nearest<T>(objects: T[], hashOf: (object: T) => string, named: Json | undefined): T[] {
  const [, ...bytes] = String(named).match(/../g) ?? [];
  const differing = (object: T) =>
    (hashOf(object).match(/../g) ?? []).slice(1).filter((byte, index) => byte !== bytes[index]).length;
  const least = Math.min(hashBytes / 2 - 1, ...objects.map(differing));
  return objects.filter((object) => differing(object) === least);
}

const hashBytes = 32;

/** Returns the step that a function serves; an approval can also be one of a funding. */
function stepOfCall(name: string | null): ExplainedStep | null {
  return name !== null && Object.hasOwn(stepsOfCalls, name) ? (stepsOfCalls[name] ?? null) : null;
}

const stepsOfCalls: { readonly [name: string]: ExplainedStep } = {
  enroll: "enrollment",
  offer: "offer",
  register: "registration",
  pay: "payment",
  payWithPermit: "payment",
  payBatch: "payment",
  claim: "claim",
  collectRefund: "refund",
  approve: "payment approval",
};

/**
 * Returns the possible purposes of an approval: a wallet can be a merchant's and a buyer's, and the spender can be the
 * wrong one of the two.
 */
function approvals({ args, sender }: MadeCall, known: Known, services: Services): Meant[] {
  const fundings = known.merchants
    .filter(({ value }) => sameAddress(value.wallet, sender))
    .map((merchant): Meant => ({ step: "funding approval", merchant }));
  const payments = known.purchases
    .filter(({ value }) => sameAddress(value.buyer, sender))
    .toReversed()
    .map((purchase): Meant => ({ step: "payment approval", purchase }));
  const funds = sameAddress(String(args["spender"]), services.deployment.fundingSource.address);
  return funds ? [...fundings, ...payments] : [...payments, ...fundings];
}

/**
 * Builds the candidate for the merchant or the purchase that the caller names: the step of the transaction's own call, or a payment or an
 * enrollment where that is none of this object.
 *
 * @returns null when there is no such object.
 */
export async function findNamedCandidate(
  id: string,
  observed: ObservedTransaction,
  services: Services,
): Promise<Candidate | null> {
  const [call] = madeCalls(observed, null, services);
  const compared = { observed, args: call?.args ?? {} };
  const own = stepOfCall(call?.function ?? null);
  const steps = [...(own === "payment approval" ? ["funding approval"] : []), own, "payment", "enrollment"];
  for (const step of steps) {
    const candidate = step === null ? null : await candidateOf(step, id, compared, services);
    if (candidate !== null) return candidate;
  }
  return null;
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
