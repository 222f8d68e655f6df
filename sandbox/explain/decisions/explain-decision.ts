import { base64, base64url, base64urlnopad } from "@scure/base";
import { bytesToHex, hexToBytes, isHex } from "viem";
import { type Decision, decisionBytes, hashDecision } from "../../../protocol/signatures/decision.ts";
import { decodeExact } from "../../../protocol/signatures/exact-encoding.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { checkDecision } from "../../../server/refunds/check-decision.ts";
import { recordDecisionBody } from "../../../server/refunds/schemas.ts";
import type { Services } from "../../../server/services.ts";
import { findPurchase } from "../../../server/store/records/find.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import type { ExplainOptions } from "../explain-transaction.ts";
import type { Signed } from "../signatures/find-signed.ts";
import type { SignatureMistake } from "../signatures/mistakes.ts";
import { refusalOf, type ServiceAnswer, serviceAnswerOf, simulatedAt } from "../signatures/service-answer.ts";
import { compareDecision, mistakesOfDecision } from "./compare-decision.ts";
import type { DecisionExplanation } from "./decision-explanation.ts";
import { findKnownDecision, type KnownDecision, readDecision } from "./known-decision.ts";
import { findSignedDecision } from "./signed-decision.ts";

/** The signature of a decision. */
interface DecisionSignature {
  given: string;
  /** The 64 bytes of an Ed25519 signature; null for a signature of another scheme. */
  bytes: Uint8Array | null;
  /** How the given form differs from base64url without padding. */
  mistakes: SignatureMistake[];
}

const encodings = [
  { name: "base64url with padding", encoding: base64url },
  { name: "base64", encoding: base64 },
];

/**
 * Reads the signature of a decision, in any encoding.
 *
 * @throws SandboxError argument_invalid for anything but 64 bytes of Ed25519 or 65 bytes of ECDSA.
 */
function readDecisionSignature(given: unknown): DecisionSignature {
  if (typeof given !== "string") throw wrongSignature(`is ${showValue(given)}`);
  const exact = decodeExact(base64urlnopad, given);
  if (exact?.length === 64) return { given, bytes: exact, mistakes: [] };
  const hex = /^(0x)?([0-9a-fA-F]{2})+$/.test(given) ? hexToBytes(isHex(given) ? given : `0x${given}`) : null;
  if (hex?.length === 65) return { given, bytes: null, mistakes: [ecdsaSignature] };
  if (hex?.length === 64) return inEncoding(given, hex, "hex");
  for (const { name, encoding } of encodings) {
    const bytes = decodeExact(encoding, given);
    if (bytes?.length === 64) return inEncoding(given, bytes, name);
  }
  const length = (exact ?? hex)?.length;
  throw wrongSignature(length === undefined ? `is ${showValue(given)}` : `has ${length} bytes`);
}

function inEncoding(given: string, bytes: Uint8Array, actual: string): DecisionSignature {
  const expected = "base64url without padding";
  const detail = `The signature is in ${actual}; ${expected} was expected. Send ${base64urlnopad.encode(bytes)}.`;
  return {
    given,
    bytes,
    mistakes: [{ name: "wrong_encoding", field: "signature", expected, actual, detail }],
  };
}

const ecdsaSignature: SignatureMistake = {
  name: "ecdsa_signature",
  field: "signature",
  expected: "Ed25519, 64 bytes",
  actual: "ECDSA, 65 bytes",
  detail:
    "The signature was made by a wallet (ECDSA); an Ed25519 signature of the reviewer's key was expected.",
};

function wrongSignature(wrong: string): SandboxError {
  return new SandboxError(
    "argument_invalid",
    `The option signature ${wrong}. Pass the reviewer's Ed25519 signature: 64 bytes in base64url without padding.`,
  );
}

/** A decision to explain, with the reviewer's signature if it is signed. */
export interface ExplainDecision extends ExplainOptions {
  /** The statement that the reviewer signs. */
  decision: Decision;
  /** The reviewer's signature (Ed25519), in base64url without padding. */
  signature?: string | undefined;
}

/**
 * Explains a decision and its signature: the signed bytes, the key that signed them, each mistake by its name, and the answer of the
 * service now. Sends nothing.
 *
 * @throws SandboxError argument_invalid when the decision or the signature is malformed, or the id to compare it with is unknown.
 */
export async function explainDecision(
  { decision: raw, signature: text, for: id }: { decision: unknown; signature?: unknown } & ExplainOptions,
  services: Services,
): Promise<DecisionExplanation> {
  const given = readDecision(raw);
  const signature = text === undefined ? null : readDecisionSignature(text);
  const known = await findKnownDecision(given, id, services);
  const signed = await signedBy(raw, { given, known, signature }, services);
  const mistakes = [
    ...(known === null ? [] : mistakesOfDecision(given, known.statement)),
    ...(signature?.mistakes ?? []),
    ...(signed?.mistake ? [signed.mistake] : []),
  ];
  const answer = await answerOfDecision(given, signature, services);
  return {
    ...judge(given, { known, mistakes, signature, answer }),
    subject: known?.purchase.id ?? null,
    decision_hash: hashDecision(given),
    decision_bytes: bytesToHex(decisionBytes(given)),
    expected_key_id: known?.reviewer.keyId ?? null,
    signature: signature === null ? null : viewSignature(signature, signed),
    mistakes,
    fields: known === null ? [] : compareDecision(given, known.statement),
    answer,
    simulated: await simulatedAt(services),
  };
}

async function signedBy(
  raw: unknown,
  {
    given,
    known,
    signature,
  }: { given: Decision; known: KnownDecision | null; signature: DecisionSignature | null },
  services: Services,
): Promise<Signed | null> {
  const bytes = signature?.bytes ?? null;
  if (known === null || bytes === null || typeof raw !== "object" || raw === null) return null;
  return await findSignedDecision({ raw, given, known, bytes }, services);
}

function viewSignature(
  { given, bytes }: DecisionSignature,
  signed: Signed | null,
): DecisionExplanation["signature"] {
  const canonical = bytes === null ? null : base64urlnopad.encode(bytes);
  return { given, canonical, over: signed?.over ?? null };
}

/** Stands for a signature that does not exist yet. It is never valid. */
const noApproval = "A".repeat(86);

/** Returns what the service would answer. Without a signature, only the checks before the signature count. */
async function answerOfDecision(
  { award, claim_id, decided_at, outcome, program, purchase: id, reviewer_key_id }: Decision,
  signature: DecisionSignature | null,
  services: Services,
): Promise<ServiceAnswer> {
  const approval = signature?.given ?? noApproval;
  const decision = { award, claim_id, decided_at, outcome, reviewer_key_id, approval };
  const check = async () => {
    const body = validate(recordDecisionBody, decision, "");
    const { purchase } = await findPurchase(services, program, id);
    await checkDecision(purchase, body, await services.clock.now(), services);
  };
  const answer = await serviceAnswerOf("recordDecision", check);
  const isUnsigned = signature === null && answer.code === "signature_invalid";
  return isUnsigned ? await serviceAnswerOf("recordDecision", async () => {}) : answer;
}

/** Returns whether everything is correct and, if not, the reason in one sentence. */
function judge(
  { claim_id }: Decision,
  {
    known,
    mistakes: [mistake],
    signature,
    answer,
  }: {
    known: KnownDecision | null;
    mistakes: readonly SignatureMistake[];
    signature: DecisionSignature | null;
    answer: ServiceAnswer;
  },
): Pick<DecisionExplanation, "cause" | "accepted"> {
  if (mistake !== undefined) return { cause: mistake.detail, accepted: false };
  if (known === null) return { cause: "The sandbox knows no purchase of this decision.", accepted: false };
  if (answer.code !== null) return { cause: refusalOf(answer), accepted: false };
  const about = `the decision on ${claim_id} of ${known.purchase.id}`;
  const { keyId } = known.reviewer;
  return signature === null
    ? { cause: `It is ${about}; the reviewer's key ${keyId} signs it.`, accepted: true }
    : { cause: `It would be accepted as ${about}.`, accepted: true };
}
