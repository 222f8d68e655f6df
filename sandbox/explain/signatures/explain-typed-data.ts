import type { Hex } from "viem";
import type { Services } from "../../../server/http/services.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { explainCall, type UnsentCall } from "../explain-call.ts";
import type { ExplainOptions, ExplainSources } from "../explain-transaction.ts";
import type { CallExplanation } from "../explanation.ts";
import { compareTypedData, countDiffering, mistakesOfData } from "./compare-typed-data.ts";
import { findSigned, type Signed } from "./find-signed.ts";
import { type KnownMessage, knownTypes, type PossibleMessage, possibleMessages } from "./known-messages.ts";
import type { SignatureMistake } from "./mistakes.ts";
import { type ReadSignature, readSignature } from "./read-signature.ts";
import { judge, simulatedAt } from "./service-answer.ts";
import type { TypedDataExplanation } from "./signature-explanation.ts";
import {
  type GivenTypedData,
  hashesOf,
  readTypedData,
  typedDataDigest,
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
  const { primaryType, message } = given;
  const hashes = hashesOf(given);
  const known = await findKnown(given, id, services);
  const digests = [known && typedDataDigest(known.typedData), hashes.digest];
  const signature =
    bytes === undefined
      ? null
      : await readSignature(
          bytes,
          known?.signer ?? null,
          digests.filter((digest) => digest !== null),
          services,
        );
  const signed = known && signature && (await findSigned({ raw, given, known, signature }, sources));
  const mistakes = collectMistakes(given, { known, signature, signed }, services);
  const [answer = null, call] = await Promise.all([
    known?.answerOf?.({ message, signature: signature?.given }),
    known && explainCarried(given, known, signature, sources),
  ]);
  const signer = signature && (await signature.signerOf(hashes.digest));
  const verdict = judge({
    mistake: mistakes.find(({ detail }) => detail !== harmless),
    unknown: `The sandbox knows no ${primaryType} that this one could be.`,
    known: known && { about: known.about, signedBy: `${known.signedBy} (${known.signer})` },
    answer,
    call,
    isSigned: signature !== null,
  });
  return {
    ...verdict,
    primary_type: primaryType,
    subject: known?.id ?? null,
    ...hashes,
    signer: signer && { address: signer, name: labels.view(signer).name },
    expected_signer: known && { address: known.signer, name: known.signedBy },
    signature: signature && {
      given: signature.given,
      canonical: signature.canonical,
      over: signed?.over ?? null,
    },
    mistakes,
    fields: known === null ? [] : compareTypedData(given, known.typedData),
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
  if (type === undefined) return null;
  const possible = await possibleMessages(type, services);
  if (id !== undefined) {
    const named = possible.find((one) => one.id === id);
    if (named === undefined) throw unknownId(id, given.primaryType);
    return await named.complete(given.message);
  }
  let closest: PossibleMessage | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const one of possible) {
    const differing = countDiffering(given, one.fixed);
    if (differing > fewest || Math.floor(differing) * 2 > Object.keys(one.fixed).length) continue;
    [closest, fewest] = [one, differing];
  }
  return closest && (await closest.complete(given.message));
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
  const inForm = signature?.mistakes ?? [];
  const isKnownType = knownTypes.some((type) => type === given.primaryType);
  if (known === null) return [...(isKnownType ? [] : [unknownType(given)]), ...inForm];
  const bySigning = signed?.mistake ?? null;
  const inData = mistakesOfData(given, known.typedData, deployment).flatMap((mistake) => {
    if (mistake.name !== "missing_domain_type") return [mistake];
    if (bySigning?.name === mistake.name) return [];
    return [signed?.over === "given" ? { ...mistake, detail: harmless } : mistake];
  });
  return [...inData, ...inForm, ...(bySigning === null ? [] : [bySigning])];
}

/** The sentence of the one mistake that does no harm: a library such as viem derives the type of the domain, but a wallet does not. */
const harmless =
  "types has no EIP712Domain. This signature holds, because its program derived the type; a wallet would have signed an empty domain (eth_signTypedData_v4).";

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

async function explainCarried(
  given: GivenTypedData,
  { id, callOf, expect }: KnownMessage,
  signature: ReadSignature | null,
  sources: ExplainSources,
): Promise<CallExplanation | null> {
  let call: UnsentCall | null = null;
  try {
    call = callOf(given, signature?.given);
  } catch {
    // A value of another type has no calldata; the comparison of the members names it.
  }
  return call && (await explainCall(call, { for: id }, sources, await expect?.()));
}
