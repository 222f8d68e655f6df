import type { Hex } from "viem";
import { type Call, claimCall, enrollCall, payWithPermitCall, registerCall } from "../../../protocol/call.ts";
import { type Commitment, purchaseTypes } from "../../../protocol/messages/commitment.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypes,
} from "../../../protocol/messages/funding-authorization.ts";
import { type Permit, permitTypes, signedPermit } from "../../../protocol/messages/permit.ts";
import { type Expectation, expectClaim } from "../../../server/binding/expectations.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import type { Services } from "../../../server/services.ts";
import { readOnChain } from "../../../server/store/records/find.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { explainCall, type UnsentCall } from "../explain-call.ts";
import type { ExplainOptions, ExplainSources } from "../explain-transaction.ts";
import type { CallExplanation } from "../explanation.ts";
import { compareMembers, countEqual, mistakesOfData } from "./compare-typed-data.ts";
import { findSigned, type Signed, typedDataDigest } from "./find-signed.ts";
import { type KnownMessage, type KnownType, knownTypes, possibleMessages } from "./known-messages.ts";
import type { SignatureMistake } from "./mistakes.ts";
import { type ReadSignature, readSignature } from "./read-signature.ts";
import {
  answerOfClaim,
  answerOfPermit,
  refusalOf,
  type ServiceAnswer,
  simulatedAt,
} from "./service-answer.ts";
import type { TypedDataExplanation } from "./signature-explanation.ts";
import {
  type GivenTypedData,
  hashesOf,
  readTypedData,
  type TypeMembers,
  type UnsignedTypedData,
} from "./typed-data.ts";

/** Typed data to explain, with its signature if it is signed. */
export interface ExplainTypedData extends ExplainOptions {
  typed_data: UnsignedTypedData;
  /** The signature of a wallet, in hex. */
  signature?: Hex | undefined;
}

/**
 * Explains typed data and its signature: what was signed and by which account, each mistake by its name, and the answers of the service and
 * the contracts now. Sends nothing.
 *
 * @throws SandboxError argument_invalid when the typed data or the signature is malformed, or the id to compare it with is unknown.
 */
export async function explainTypedData(
  {
    typed_data: raw,
    signature: bytes,
    for: id,
  }: { typed_data: unknown; signature?: unknown } & ExplainOptions,
  sources: ExplainSources,
): Promise<TypedDataExplanation> {
  const { services, labels } = sources;
  const given = readTypedData(raw);
  const hashes = hashesOf(given);
  const known = await findKnown(given, id, services);
  const signature = bytes === undefined ? null : await readSignature(bytes, known?.signer ?? null, services);
  const signed =
    known === null || signature === null ? null : await findSigned({ raw, given, known, signature }, sources);
  const mistakes = collectMistakes(given, { known, signature, signed }, services);
  const [answer, call] = await Promise.all([
    known === null ? null : answerOf(given, known, signature, services),
    known === null ? null : explainCarried(given, known, signature, sources),
  ]);
  const signer = signature === null ? null : await signature.signerOf(hashes.digest);
  const verdict = judge(given, { known, mistakes, signed, answer, call });
  return {
    ...verdict,
    primary_type: given.primaryType,
    subject: known?.subject.id ?? null,
    ...hashes,
    signer: signer === null ? null : { address: signer, name: labels.view(signer).name },
    expected_signer: known === null ? null : { address: known.signer, name: known.signedBy },
    signature:
      signature === null
        ? null
        : { given: signature.given, canonical: signature.canonical, over: signed?.over ?? null },
    mistakes,
    fields: known === null ? [] : compareMembers(given, known.typedData),
    answer,
    call,
    simulated: await simulatedAt(services),
  };
}

/** Finds the message that typed data is closest to; null if no step accepts its type, or no message is close. */
async function findKnown(
  given: GivenTypedData,
  id: string | undefined,
  services: Services,
): Promise<KnownMessage | null> {
  const type = knownTypes.find((name) => name === given.primaryType);
  const possible = type === undefined ? [] : await possibleMessages(type, services);
  if (id !== undefined) {
    const named = possible.find((one) => one.id === id);
    if (named === undefined) throw unknownId(id, given.primaryType);
    return await named.complete(given.message);
  }
  let closest: { equal: number; complete: (typeof possible)[number]["complete"] } | null = null;
  for (const { fixed, complete } of possible) {
    const equal = countEqual(given, fixed, given.types);
    const isClose = equal * 2 >= Object.keys(fixed).length;
    if (isClose && equal >= (closest?.equal ?? 0)) closest = { equal, complete };
  }
  return closest === null ? null : await closest.complete(given.message);
}

function unknownId(id: string, primaryType: string): SandboxError {
  const kind = primaryType === "FundingAuthorization" ? "merchant" : "purchase";
  return new SandboxError(
    "argument_invalid",
    `for is ${showValue(id)}, and the sandbox knows no ${primaryType} of such a ${kind}. Pass the id of a ${kind}.`,
  );
}

/** Collects the mistakes in the order in which they are corrected: data, form of the signature, signed bytes. */
function collectMistakes(
  given: GivenTypedData,
  {
    known,
    signature,
    signed,
  }: { known: KnownMessage | null; signature: ReadSignature | null; signed: Signed | null },
  { deployment }: Services,
): SignatureMistake[] {
  if (known === null)
    return isKnownType(given.primaryType)
      ? [...(signature?.mistakes ?? [])]
      : [unknownType(given), ...(signature?.mistakes ?? [])];
  const bySigning = signed?.mistake ?? null;
  const inData = mistakesOfData(given, known.typedData, deployment)
    .filter(({ name }) => name !== bySigning?.name || name !== "missing_domain_type")
    .map((mistake) => (isHarmless(mistake, signed) ? { ...mistake, detail: harmless } : mistake));
  return [...inData, ...(signature?.mistakes ?? []), ...(bySigning === null ? [] : [bySigning])];
}

const harmless =
  "types has no EIP712Domain. This signature holds, because its program derived the type; a wallet would have signed an empty domain (eth_signTypedData_v4).";

/** Returns whether a mistake does no harm: a library such as viem derives the type of the domain, but a wallet does not. */
function isHarmless({ name }: SignatureMistake, signed: Signed | null): boolean {
  return name === "missing_domain_type" && signed?.over === "given";
}

function isKnownType(name: string): name is KnownType {
  return knownTypes.some((known) => known === name);
}

function unknownType({ primaryType }: GivenTypedData): SignatureMistake {
  const known = new Intl.ListFormat("en", { type: "disjunction" }).format(knownTypes);
  return {
    name: "unknown_primary_type",
    field: "primaryType",
    expected: [...knownTypes],
    actual: primaryType,
    detail: `primaryType is ${JSON.stringify(primaryType)}; ${known} was expected.`,
  };
}

/** Returns what the service would answer to a message of a wallet; null for one that the service signs itself. */
async function answerOf(
  { message }: GivenTypedData,
  { type, subject }: KnownMessage,
  signature: ReadSignature | null,
  services: Services,
): Promise<ServiceAnswer | null> {
  const submitted = { message, signature: signature?.given };
  if (type === "Claim") return await answerOfClaim(subject as PurchaseRecord, submitted, services);
  if (type === "Permit") return await answerOfPermit(subject as PurchaseRecord, submitted, services);
  return null;
}

async function explainCarried(
  given: GivenTypedData,
  known: KnownMessage,
  signature: ReadSignature | null,
  sources: ExplainSources,
): Promise<CallExplanation | null> {
  const { services } = sources;
  const call = callOf({ given, known, signature: signature?.given }, services.deployment);
  if (call === null) return null;
  const expectation = known.type === "Claim" ? await expectationOfClaim(known, services) : undefined;
  return await explainCall(call, { for: known.subject.id }, sources, expectation);
}

/** Returns the claim that the service expects: it computes the hash itself, and takes only amount and reason from the given data. */
async function expectationOfClaim(known: KnownMessage, services: Services): Promise<Expectation | undefined> {
  const purchase = known.subject as PurchaseRecord;
  const claimHash = typedDataDigest(known.typedData);
  if (claimHash === null) return undefined;
  const { exists } = await readOnChain(purchase, services);
  return expectClaim(purchase, claimHash, exists, services);
}

/** Returns whether everything is correct and, if not, the reason in one sentence. */
function judge(
  given: GivenTypedData,
  {
    known,
    mistakes,
    signed,
    answer,
    call,
  }: {
    known: KnownMessage | null;
    mistakes: readonly SignatureMistake[];
    signed: Signed | null;
    answer: ServiceAnswer | null;
    call: CallExplanation | null;
  },
): Pick<TypedDataExplanation, "cause" | "accepted"> {
  const [mistake] = mistakes.filter((one) => !isHarmless(one, signed));
  if (mistake !== undefined) return { cause: mistake.detail, accepted: false };
  if (known === null)
    return {
      cause: `The sandbox knows no ${given.primaryType} that this one could be.`,
      accepted: false,
    };
  if (answer !== null && answer.detail !== null) return { cause: refusalOf(answer), accepted: false };
  if (call !== null && !call.accepted) return { cause: call.cause, accepted: false };
  const { about, signedBy, signer } = known;
  return signed === null
    ? { cause: `It is ${about}; ${signedBy} (${signer}) signs it.`, accepted: true }
    : { cause: `It would be accepted as ${about}.`, accepted: true };
}

/** Typed data and its signature, with the message that the sandbox knows. */
interface Carried {
  given: GivenTypedData;
  known: KnownMessage;
  signature: Hex | undefined;
}

/**
 * Returns the call that carries typed data to a contract, with its signature or, of a message that the service signs, with the known
 * one; null where a call needs what is not given.
 */
function callOf(carried: Carried, deployment: Deployment): UnsentCall | null {
  try {
    const made = calls[carried.known.type](carried, deployment);
    return made === null ? null : { from: made.from, to: made.call.to, data: made.call.data };
  } catch {
    // A value of another type has no calldata; the comparison of the members names it.
    return null;
  }
}

type MakeCall = (carried: Carried, deployment: Deployment) => { from: Hex; call: Call } | null;

const calls: { readonly [T in KnownType]: MakeCall } = {
  Purchase({ given, known, signature }, { registrar }) {
    const { merchant, commitment_signature } = known.subject as PurchaseRecord;
    const commitment = structOf<Commitment>(given, purchaseTypes);
    return {
      from: merchant,
      call: registerCall(registrar.address, commitment, signature ?? commitment_signature),
    };
  },
  FundingAuthorization({ given, known, signature }, { registrar }) {
    const { wallet, funding } = known.subject as MerchantRecord;
    const authorization = structOf<FundingAuthorization>(given, fundingAuthorizationTypes);
    return {
      from: wallet,
      call: enrollCall(registrar.address, authorization, signature ?? funding.signature),
    };
  },
  Claim({ given, known }, { registrar }) {
    const { beneficiary, commitment_hash } = known.subject as PurchaseRecord;
    return {
      from: beneficiary,
      call: claimCall(registrar.address, commitment_hash, hashesOf(given).digest),
    };
  },
  Permit({ given, known, signature }, { registrar }) {
    if (signature === undefined) return null;
    const { buyer, commitment_hash } = known.subject as PurchaseRecord;
    const { value, deadline } = structOf<Permit>(given, permitTypes);
    const permit = signedPermit(deadline, signature);
    return { from: buyer, call: payWithPermitCall(registrar.address, commitment_hash, value, permit) };
  },
};

/** Returns the members of a message as a contract's arguments are passed: integers as bigints. */
function structOf<T>({ primaryType, message }: GivenTypedData, types: TypeMembers): T {
  const entries = (types[primaryType] ?? []).map(({ name, type }) => {
    const value = message[name];
    return [name, type.startsWith("uint") ? BigInt(String(value)) : value];
  });
  return Object.fromEntries(entries) as T;
}
