import { z } from "zod";
import {
  checksumAddressSchema,
  hashSchema,
  idSchema,
  positiveAmountSchema,
  programIdSchema,
  timestampSchema,
} from "./primitives.ts";
import { relayOperationSchema } from "./relay-operation.ts";

/** Body of operation 13. */
export const executeRefundBody = z
  .strictObject({ decision_id: idSchema("dec") })
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
      description: "The merchant's wallet, drawn through the funding source.",
    }),
    to: checksumAddressSchema.meta({ description: "The beneficiary." }),
    operation_id: idSchema("op"),
    transaction_hash: hashSchema.nullable().meta({
      description:
        "The confirmed transaction. While the refund is due, it is null or the one that the relayer confirmed by itself: send operation 13 again, which records it.",
    }),
    claim_hash: hashSchema.nullable().meta({
      description:
        "The claim that the chain had when the award was collected; null before. It is another one than the decided claim's only when a reorg replaced the claim just before the collection was mined; operation 13 then answers binding_mismatch.",
    }),
    created_at: timestampSchema,
    collected_at: timestampSchema.nullable(),
    event_id: idSchema("evt"),
  })
  .meta({ id: "Refund" });

/** Answer of operation 13. */
export const refundExecutionSchema = z
  .object({ refund: refundSchema, operation: relayOperationSchema, event_id: idSchema("evt") })
  .meta({ id: "RefundExecution" });
