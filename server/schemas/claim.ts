import { z } from "zod";
import {
  checksumAddressSchema,
  hashSchema,
  idSchema,
  positiveAmountSchema,
  programIdSchema,
  signatureSchema,
  timestampSchema,
} from "./primitives.ts";

/** Body of operation 11; each part may come from the wallet route instead. */
export const fileClaimBody = z
  .strictObject({
    transaction_hash: hashSchema.optional(),
    requested_amount: positiveAmountSchema.optional(),
    reason: z.string().min(1).max(2000).optional().meta({ example: "Arrived broken." }),
    signature: signatureSchema.optional(),
  })
  .meta({ id: "FileClaim" });

/** What operation 11 is sent. */
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
