import { z } from "zod";
import { limitTexts, textLengths } from "../limits.ts";
import {
  addressSchema,
  amountSchema,
  checksumAddressSchema,
  hashSchema,
  idSchema,
  positiveAmountSchema,
  programIdSchema,
  referenceSchema,
  signatureSchema,
  timestampSchema,
  tokenAmountSchema,
  unixTimeSchema,
} from "./primitives.ts";
import { transactionRequestSchema, typedDataSchema } from "./transactions.ts";

/** Body of `POST …/merchants`. */
export const createMerchantBody = z
  .strictObject({
    wallet: addressSchema.meta({ description: "The wallet that receives payments and funds refunds." }),
    name: z
      .string()
      .min(1)
      .max(textLengths.name)
      .meta({ description: "The merchant's name.", example: "Corner Books" }),
    funding_cap: positiveAmountSchema.meta({
      description: "The largest total of all refunds of the merchant.",
    }),
    funding_valid_until: unixTimeSchema.optional().meta({
      description: `The last second in which a refund can be collected; ${limitTexts.funding_validity} from now by default.`,
    }),
    reference: referenceSchema.optional(),
  })
  .meta({ id: "CreateMerchant" });

/** Body of `POST …/enrollment`; each part may come from the wallet route instead. */
export const confirmEnrollmentBody = z
  .strictObject({
    transaction_hash: hashSchema.optional().meta({
      description: "The wallet's enrollment transaction.",
    }),
    signature: signatureSchema.optional().meta({
      description: "The signature of `enrollment.message`.",
    }),
  })
  .meta({ id: "ConfirmEnrollment" });

/** A merchant as it is answered. */
export const merchantSchema = z
  .object({
    id: idSchema("mer"),
    program: programIdSchema,
    name: z.string().meta({ example: "Corner Books" }),
    wallet: checksumAddressSchema,
    reference: z.string().nullable().meta({ example: "shop-7" }),
    status: z.enum(["pending", "enrolled"]),
    funding_authorization: z.object({
      typed_data: typedDataSchema,
      hash: hashSchema,
      signature: signatureSchema,
    }),
    enrollment: z.object({
      message: z
        .string()
        .meta({ description: "The message that the wallet signs with personal_sign (EIP-191)." }),
      transaction: transactionRequestSchema,
      confirmed: z
        .object({ transaction_hash: hashSchema, signature: signatureSchema, confirmed_at: timestampSchema })
        .nullable(),
    }),
    funding: z.object({
      cap: positiveAmountSchema,
      collected: amountSchema,
      remaining: amountSchema,
      valid_until: unixTimeSchema,
      allowance: tokenAmountSchema.meta({ description: "The wallet's allowance to the funding source." }),
      balance: tokenAmountSchema,
    }),
    wallet_url: z.url(),
    created_at: timestampSchema,
    event_id: idSchema("evt"),
  })
  .meta({ id: "Merchant" });

/** A merchant as it is answered. */
export type Merchant = z.output<typeof merchantSchema>;
