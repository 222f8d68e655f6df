import { base64urlnopad } from "@scure/base";
import { bytesToHex } from "viem";
import { type Decision, decisionBytes, hashDecision } from "../../../protocol/signatures/decision.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { checkDecision } from "../../../server/refunds/check-decision.ts";
import { recordDecisionBody } from "../../../server/refunds/schemas.ts";
import type { Services } from "../../../server/services.ts";
import { findPurchase } from "../../../server/store/records/find.ts";
import type { ExplainOptions } from "../explain-transaction.ts";
import type { Signed } from "../signatures/find-signed.ts";
import type { SignatureMistake } from "../signatures/mistakes.ts";
import { refusalOf, type ServiceAnswer, serviceAnswerOf, simulatedAt } from "../signatures/service-answer.ts";
import { compareDecision, mistakesOfDecision } from "./compare-decision.ts";
import type { DecisionExplanation } from "./decision-explanation.ts";
import { type DecisionSignature, readDecisionSignature } from "./decision-signature.ts";
import { findKnownDecision, type KnownDecision, readDecision } from "./known-decision.ts";
import { findSignedDecision } from "./signed-decision.ts";

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
 * @example (await explainDecision({ decision, signature }, services)).mistakes
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
