import { z } from "zod";
import type { Decision } from "../../../protocol/signatures/decision.ts";
import { check } from "../../../server/http/request/validate.ts";
import { hashSchema } from "../../../server/http/schemas/primitives.ts";
import type { PublicKey } from "../../../server/keys/key-ring.ts";
import type { Services } from "../../../server/services.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";

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

/**
 * Reads a decision.
 *
 * @throws SandboxError argument_invalid that names the member that is wrong.
 */
export function readDecision(value: unknown): Decision {
  const { data, errors } = check(givenDecisionSchema, value, "");
  if (data !== null) return data;
  const [first] = errors;
  const member = first?.pointer.slice(1) ?? "";
  const wrong =
    member === "" ? `is ${showValue(value)}` : `is wrong: ${member} ${first?.detail.split(";")[0]}`;
  throw new SandboxError(
    "argument_invalid",
    `The option decision ${wrong}. Pass the decision that the reviewer signs: ${Object.keys(givenDecisionSchema.shape).join(", ")}.`,
  );
}

/** The decision that the service would make of a given one, and the key that has to sign it. */
export interface KnownDecision {
  purchase: PurchaseRecord;
  statement: Decision;
  reviewer: PublicKey;
}

/**
 * Finds the purchase and the claim that a decision is about, by any of the ids that it has; null when the sandbox knows none of them.
 * Award, outcome and time are the reviewer's to choose.
 *
 * @throws SandboxError argument_invalid when no purchase has the id that is named.
 */
export async function findKnownDecision(
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
