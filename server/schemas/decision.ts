import { z } from "zod";
import { amountSchema, hashSchema, idSchema, programIdSchema, timestampSchema } from "./primitives.ts";

const reviewerKeySchema = z.string().min(1).max(100).meta({
  description: "RFC 7638 thumbprint of the reviewer's key.",
  example: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
});

const approvalSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{86}$/, "must be 64 bytes in base64url without padding")
  .meta({
    description: "Ed25519 signature (RFC 8032) over the decision bytes, base64url.",
    example: "q1w2e3r4".repeat(11).slice(0, 86),
  });

/** Body of operation 12. */
export const recordDecisionBody = z
  .strictObject({
    claim_id: idSchema("clm"),
    outcome: z.enum(["approved", "denied"]),
    award: amountSchema,
    decided_at: timestampSchema,
    reviewer_key_id: reviewerKeySchema,
    approval: approvalSchema,
  })
  .meta({
    id: "RecordDecision",
    description: "The award is above zero when the claim is approved, and 0 when it is denied.",
    // The handler says which of both it is, and compares the award with the claim.
    not: {
      anyOf: [
        { properties: { outcome: { const: "approved" }, award: { const: "0" } } },
        { properties: { outcome: { const: "denied" }, award: { not: { const: "0" } } } },
      ],
    },
  });

/** What {@link recordDecisionBody} reads. */
export type RecordDecision = z.infer<typeof recordDecisionBody>;

/** A decision as it is answered. */
export const decisionSchema = z
  .object({
    id: idSchema("dec"),
    program: programIdSchema,
    purchase_id: idSchema("pur"),
    claim_id: idSchema("clm"),
    outcome: z.enum(["approved", "denied"]),
    award: amountSchema,
    decided_at: timestampSchema,
    reviewer_key_id: reviewerKeySchema,
    approval: approvalSchema,
    decision_hash: hashSchema,
    created_at: timestampSchema,
    event_id: idSchema("evt"),
  })
  .meta({ id: "Decision" });
