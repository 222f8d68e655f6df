import { z } from "zod";
import { textLengths } from "../limits.ts";
import {
  amountSchema,
  checksumAddressSchema,
  hashSchema,
  idSchema,
  positiveAmountSchema,
  programIdSchema,
  signatureSchema,
  timestampSchema,
} from "./primitives.ts";
import { relayOperationSchema } from "./transactions.ts";

/** Body of `POST …/claims`; each part may come from the wallet route instead. */
export const fileClaimBody = z
  .strictObject({
    transaction_hash: hashSchema.optional().meta({
      description: "The beneficiary's claim transaction.",
    }),
    requested_amount: positiveAmountSchema.optional().meta({
      description: "The claimed amount, at most the reconciled amount.",
    }),
    reason: z.string().min(1).max(textLengths.reason).optional().meta({
      description: "The signed reason.",
      example: "Arrived broken.",
    }),
    signature: signatureSchema.optional().meta({
      description: "The beneficiary's signature of the claim.",
    }),
  })
  .meta({ id: "FileClaim" });

/** The body of `POST …/claims`. */
export type FileClaim = z.infer<typeof fileClaimBody>;

/** A claim as it is answered. */
export const claimSchema = z
  .object({
    id: idSchema("clm"),
    program: programIdSchema,
    purchase_id: idSchema("pur"),
    beneficiary: checksumAddressSchema,
    requested_amount: positiveAmountSchema,
    reason: z.string().meta({ example: "Arrived broken." }),
    reason_hash: hashSchema,
    claim_hash: hashSchema,
    signature: signatureSchema,
    transaction_hash: hashSchema,
    created_at: timestampSchema,
    event_id: idSchema("evt"),
  })
  .meta({ id: "Claim" });

/** A claim as it is answered. */
export type Claim = z.output<typeof claimSchema>;

const reviewerKeySchema = z.string().min(1).max(textLengths.reviewer_key_id).meta({
  description: "RFC 7638 thumbprint of the reviewer's key.",
  example: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
});

const approvalSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{86}$/, "must be 64 bytes in base64url without padding")
  .meta({
    description:
      "Ed25519 signature (RFC 8032) of the line `routing-sandbox/decision/v1` and the RFC 8785 form of the decision, base64url.",
    example: "q1w2e3r4".repeat(11).slice(0, 86),
  });

/** Body of `POST …/decisions`. */
export const recordDecisionBody = z
  .strictObject({
    claim_id: idSchema("clm").meta({ description: "The purchase's claim." }),
    outcome: z.enum(["approved", "denied"]).meta({ description: "The reviewer's decision." }),
    award: amountSchema.meta({
      description: "The amount to refund: at most the claimed amount, and `0` if denied.",
    }),
    decided_at: timestampSchema.meta({
      description: "The time of the decision: not before the claim and not later than now.",
    }),
    reviewer_key_id: reviewerKeySchema,
    approval: approvalSchema,
  })
  .superRefine(({ outcome, award }, { addIssue }) => {
    if ((outcome === "denied") === (award === "0")) return;
    const [code, message] =
      outcome === "denied"
        ? ["not_zero", "must be 0 when the claim is denied"]
        : ["zero", "must be above 0 when the claim is approved"];
    addIssue({ code: "custom", path: ["award"], message, input: award, params: { code } });
  })
  .meta({
    id: "RecordDecision",
    description: "The award is above zero when the claim is approved, and 0 when it is denied.",
    not: {
      anyOf: [
        { properties: { outcome: { const: "approved" }, award: { const: "0" } } },
        { properties: { outcome: { const: "denied" }, award: { not: { const: "0" } } } },
      ],
    },
  });

/** The parsed form of {@link recordDecisionBody}. */
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

/** Body of `POST …/refunds`. */
export const executeRefundBody = z
  .strictObject({ decision_id: idSchema("dec").meta({ description: "The approved decision." }) })
  .meta({ id: "ExecuteRefund" });

/** A refund as it is answered. */
export const refundSchema = z
  .object({
    id: idSchema("ref"),
    program: programIdSchema,
    purchase_id: idSchema("pur"),
    decision_id: idSchema("dec"),
    status: z.enum(["due", "collected"]),
    award: positiveAmountSchema,
    from: checksumAddressSchema.meta({
      description: "The merchant's wallet; the funding source transfers from it.",
    }),
    to: checksumAddressSchema.meta({ description: "The beneficiary." }),
    operation_id: idSchema("op"),
    transaction_hash: hashSchema.nullable().meta({
      description:
        "The confirmed transaction. While the refund is due, null or the transaction that the relayer confirmed by itself; send `POST …/refunds` again to record it.",
    }),
    claim_hash: hashSchema.nullable().meta({
      description:
        "The claim on the chain when the award was collected; null before. It differs from the decided claim only if a reorg replaced the claim just before the collection was mined; `POST …/refunds` then returns binding_mismatch.",
    }),
    created_at: timestampSchema,
    collected_at: timestampSchema.nullable(),
    event_id: idSchema("evt"),
  })
  .meta({ id: "Refund" });

/** A refund as it is answered. */
export type Refund = z.output<typeof refundSchema>;

/** Answer of `POST …/refunds`. */
export const refundExecutionSchema = z
  .object({ refund: refundSchema, operation: relayOperationSchema, event_id: idSchema("evt") })
  .meta({ id: "RefundExecution" });
