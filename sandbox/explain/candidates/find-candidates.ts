import { type Address, type Hex, toFunctionSelector } from "viem";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import type { ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import type { DecodedCall } from "../../../protocol/call.ts";
import { differingBytes } from "../../../protocol/values/differing-bytes.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { sameAddress } from "../../../protocol/values/same-address.ts";
import type { ExplainedStep } from "../../../server/binding/reverts/explain-revert.ts";
import type { Services } from "../../../server/http/services.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { functionCalled, readCallTo } from "../address-book.ts";
import { member } from "../cause/compare-calls.ts";
import { allCalls, type TracedCall } from "../execution/call-trace.ts";
import { type Candidate, candidateOf } from "./candidate.ts";

/** One call that a transaction makes, itself or on its way, and the transaction's sender. */
type MadeCall = DecodedCall & { sender: Address };

/** Everything that the service knows and a transaction could be about. */
interface Known {
  purchases: Stored<PurchaseRecord>[];
  merchants: Stored<MerchantRecord>[];
}

/** A step that a call could be, of the merchant or the purchase with an id. */
type Meant = [step: ExplainedStep, id: string];

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
    const found = await Promise.all(
      meant(call, known, services).map(
        async ([step, id]) => await candidateOf(step, id, { observed, args: call.args }, services),
      ),
    );
    if (found.some((candidate) => candidate !== null)) return found.filter((candidate) => candidate !== null);
  }
  const input = observed.envelope?.input ?? "0x";
  const step = stepsOfCalls.get(functionCalled(input, services.deployment) ?? "");
  const merchant =
    step === "enrollment" ? known.merchants.find(({ key }) => isIn(input, hashId(key))) : undefined;
  const likeliest = merchant ?? likeliestOf(observed, calls, known);
  if (likeliest === undefined) return [];
  const compared = { observed, args: {} };
  // The arguments of a known function may be what cannot be read.
  const candidate =
    (step !== undefined && (await candidateOf(step, likeliest.key, compared, services))) ||
    (await candidateOf("payment", likeliest.key, compared, services));
  return candidate === null ? [] : [candidate];
}

function isIn(input: Hex, hash: Hex): boolean {
  return input.toLowerCase().includes(hash.slice(2));
}

/** Returns the purchase that the calls or the logs of a transaction name, or its calldata has the hash of, or its sender buys. */
function likeliestOf(
  { envelope, receipt }: ObservedTransaction,
  calls: readonly MadeCall[],
  { purchases }: Known,
): Stored<PurchaseRecord> | undefined {
  const ids = [
    ...calls.map(({ args }) => args["id"]),
    ...(receipt?.logs ?? []).flatMap(({ topics }) => topics),
  ];
  const byId = new Map<Json | undefined, Stored<PurchaseRecord>>(
    purchases.map((purchase) => [purchase.value.commitment_hash, purchase]),
  );
  const input = envelope?.input ?? "0x";
  return (
    byId.get(ids.find((id) => byId.has(id))) ??
    purchases.find(({ key, value }) =>
      [value.commitment_hash, hashId(key)].some((hash) => isIn(input, hash)),
    ) ??
    purchases.findLast(({ value }) => sameAddress(value.buyer, envelope?.sender ?? null))
  );
}

async function readKnown({ store, deployment }: Services): Promise<Known> {
  const known: Known = { purchases: [], merchants: [] };
  for (const { id: program } of deployment.programs) {
    known.purchases.push(...(await store.list("purchases", { program })));
    known.merchants.push(...(await store.list("merchants", { program })));
  }
  return known;
}

/**
 * The transaction's own call and those inside it, as far as they say something under the ABIs of the deployment. One byte of the
 * own call's selector may be wrong.
 */
function madeCalls(
  { envelope }: ObservedTransaction,
  trace: TracedCall | null,
  { deployment }: Services,
): MadeCall[] {
  if (envelope?.sender === null || envelope === null) return [];
  const { sender, to, input } = envelope;
  const own = readCallTo(to, input, deployment) === null ? withNearestSelector(input) : input;
  const calls = [{ to, input: own }, ...(trace === null ? [] : allCalls(trace))];
  return calls.flatMap((call) => {
    const decoded = readCallTo(call.to ?? null, call.input, deployment);
    return decoded === null ? [] : [{ ...decoded, sender }];
  });
}

function meant(call: MadeCall, known: Known, services: Services): Meant[] {
  const { merchants, purchases } = known;
  const { args } = call;
  const step = stepsOfCalls.get(call.function);
  if (step === undefined) return [];
  const of = (ids: string[]) => ids.map((id): Meant => [step, id]);
  switch (step) {
    case "enrollment":
      return of(nearest(merchants, ({ key }) => hashId(key), member(args["authorization"], "merchantRef")));
    case "offer":
    case "registration":
      return of(nearest(purchases, ({ key }) => hashId(key), member(args["purchase"], "purchaseRef")));
    case "payment approval":
      return approvals(call, known, services);
    default: {
      const ids = new Set(Array.isArray(args["ids"]) ? args["ids"] : [args["id"]]);
      return of([...ids].flatMap((id) => nearest(purchases, ({ value }) => value.commitment_hash, id)));
    }
  }
}

/** Returns the ids of the objects whose hash is the named one, or has the most bytes in common with it if those are most of its bytes. */
function nearest<T extends { key: string }>(
  objects: T[],
  hashOf: (object: T) => string,
  named: Json | undefined,
): string[] {
  const differing = (object: T) => differingBytes(hashOf(object), String(named)).length;
  const least = Math.min(hashBytes / 2 - 1, ...objects.map(differing));
  return objects.filter((object) => differing(object) === least).map(({ key }) => key);
}

const hashBytes = 32;

/** The step that each function serves; an approval can also be one of a funding. */
const stepsOfCalls: ReadonlyMap<string, ExplainedStep> = new Map([
  ["enroll", "enrollment"],
  ["offer", "offer"],
  ["register", "registration"],
  ["pay", "payment"],
  ["payWithPermit", "payment"],
  ["payBatch", "payment"],
  ["claim", "claim"],
  ["collectRefund", "refund"],
  ["approve", "payment approval"],
]);

const selectors = purchaseRegistrarAbi
  .filter((item) => item.type === "function")
  .filter(({ name }) => stepsOfCalls.has(name))
  .map((item) => toFunctionSelector(item));

function withNearestSelector(input: Hex): Hex {
  const meant = selectors.find((selector) => differingBytes(selector, input.slice(0, 10)).length === 1);
  return meant === undefined ? input : `0x${meant.slice(2)}${input.slice(10)}`;
}

/**
 * Returns the possible purposes of an approval: a wallet can be a merchant's and a buyer's, and the spender can be the
 * wrong one of the two.
 */
function approvals({ args, sender }: MadeCall, known: Known, { deployment }: Services): Meant[] {
  const fundings = known.merchants
    .filter(({ value }) => sameAddress(value.wallet, sender))
    .map(({ key }): Meant => ["funding approval", key]);
  const payments = known.purchases
    .filter(({ value }) => sameAddress(value.buyer, sender))
    .toReversed()
    .map(({ key }): Meant => ["payment approval", key]);
  const funds = sameAddress(String(args["spender"]), deployment.fundingSource.address);
  return funds ? [...fundings, ...payments] : [...payments, ...fundings];
}

/**
 * Builds the candidate for the merchant or the purchase that the caller names: the step of the transaction's own call, or a payment or an
 * enrollment where that is none of this object.
 *
 * @throws SandboxError argument_invalid when there is no such object.
 */
export async function requireNamed(
  id: string,
  observed: ObservedTransaction,
  services: Services,
): Promise<Candidate> {
  const [call] = madeCalls(observed, null, services);
  const own = call && stepsOfCalls.get(call.function);
  const approval = own === "payment approval" ? ("funding approval" as const) : undefined;
  for (const step of [approval, own, "payment", "enrollment"] as const) {
    const compared = { observed, args: call?.args ?? {} };
    const candidate = step === undefined ? null : await candidateOf(step, id, compared, services);
    if (candidate !== null) return candidate;
  }
  throw new SandboxError(
    "argument_invalid",
    `for is ${showValue(id)}, which is no merchant and no purchase of this sandbox. Pass an id that the API has returned, such as "pur_…".`,
  );
}
