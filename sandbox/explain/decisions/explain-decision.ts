import { bytesToHex } from "viem";
import { z } from "zod";
import { type Decision, decisionBytes, hashDecision } from "../../../protocol/signatures/decision.ts";
import { validate } from "../../../server/http/request/validate.ts";
import type { Services } from "../../../server/http/services.ts";
import { checkDecision } from "../../../server/refunds/check-decision.ts";
import { hashSchema } from "../../../server/schemas/primitives.ts";
import { recordDecisionBody } from "../../../server/schemas/refunds.ts";
import { findPurchase } from "../../../server/store/records/find.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import type { ExplainOptions } from "../explain-transaction.ts";
import { readOption } from "../read-option.ts";
import { compareMembers, memberMistake } from "../signatures/compare-typed-data.ts";
import { judge, type ServiceAnswer, serviceAnswerOf, simulatedAt } from "../signatures/service-answer.ts";
import type { DecisionExplanation } from "../signatures/signature-explanation.ts";
import {
  type DecisionSignature,
  findSignedDecision,
  type KnownDecision,
  readDecisionSignature,
} from "./signed-decision.ts";

/** The schema of a decision that is given to be explained: the statement that the reviewer signs. */
export const givenDecisionSchema = z.strictObject({
  award: z.string(),
  chain_id: z.int(),
  claim_hash: hashSchema,
  claim_id: z.string(),
  commitment_hash: hashSchema,
  decided_at: z.string(),
  outcome: z.enum(["approved", "denied"]),
  program: z.string(),
  purchase: z.string(),
  reviewer_key_id: z.string(),
});

const members = Object.keys(givenDecisionSchema.shape);

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
  const remedy = `Pass the decision that the reviewer signs: ${members.join(", ")}.`;
  const given = readOption("decision", givenDecisionSchema, raw, remedy);
  const signature = text === undefined ? null : readDecisionSignature(text);
  const known = await findKnownDecision(given, id, services);
  const bytes = signature?.bytes ?? null;
  const signed =
    known === null || bytes === null
      ? null
      : await findSignedDecision({ raw, given, known, bytes }, services);
  const fields =
    known === null
      ? []
      : compareMembers(
          "decision",
          { ...given },
          { ...known.statement },
          members.map((name) => ({ name, type: "string" })),
        );
  const mistakes = [
    ...fields.filter(({ equal }) => !equal).map((member) => memberMistake(member, services.deployment)),
    ...(signature?.mistakes ?? []),
    ...(signed?.mistake ? [signed.mistake] : []),
  ];
  const answer = await answerOfDecision(given, signature, services);
  const verdict = judge({
    mistake: mistakes[0],
    unknown: "The sandbox knows no purchase of this decision.",
    known: known && {
      about: `the decision on ${given.claim_id} of ${known.purchase.id}`,
      signedBy: `the reviewer's key ${known.reviewer.keyId}`,
    },
    answer,
    isSigned: signature !== null,
  });
  return {
    ...verdict,
    subject: known?.purchase.id ?? null,
    decision_hash: hashDecision(given),
    decision_bytes: bytesToHex(decisionBytes(given)),
    expected_key_id: known?.reviewer.keyId ?? null,
    signature: signature && {
      given: signature.given,
      canonical: signature.canonical,
      over: signed?.over ?? null,
    },
    mistakes,
    fields,
    answer,
    simulated: await simulatedAt(services),
  };
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

/**
 * Finds the purchase and the claim that a decision is about, by any of the ids that it has; null when the sandbox knows none of them.
 * Award, outcome and time are the reviewer's to choose.
 *
 * @throws SandboxError argument_invalid when no purchase has the id that is named.
 */
async function findKnownDecision(
  given: Decision,
  id: string | undefined,
  services: Services,
): Promise<KnownDecision | null> {
  const purchase = await findDecided(given, id, services);
  if (purchase === undefined) return null;
  const { store, deployment, keyRing } = services;
  const { program, commitment_hash } = purchase;
  const claim =
    purchase.claim_id === null ? undefined : (await store.get("claims", purchase.claim_id))?.value;
  const reviewer = await keyRing.reviewer(program);
  const statement = {
    ...given,
    chain_id: deployment.chainId,
    claim_hash: claim?.claim_hash ?? given.claim_hash,
    claim_id: claim?.id ?? given.claim_id,
    commitment_hash,
    program,
    purchase: purchase.id,
    reviewer_key_id: reviewer.keyId,
  };
  return { purchase, statement, reviewer };
}

async function findDecided(
  { purchase: named, claim_id, commitment_hash }: Decision,
  id: string | undefined,
  { store }: Services,
): Promise<PurchaseRecord | undefined> {
  const read = async (key: string) => (await store.get("purchases", key))?.value;
  if (id !== undefined) {
    const found = await read(id);
    if (found !== undefined) return found;
    throw new SandboxError(
      "argument_invalid",
      `for is ${showValue(id)}, which is no purchase of this sandbox. Pass the id of a purchase.`,
    );
  }
  const claim = (await store.get("claims", claim_id))?.value;
  const [byCommitment] = await store.list("purchases", { commitment_hash }, { limit: 1 });
  return (await read(named)) ?? (claim && (await read(claim.purchase_id))) ?? byCommitment?.value;
}
