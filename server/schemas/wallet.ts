import { z } from "zod";
import { transactionRequestSchema, typedDataSchema } from "./call.ts";
import {
  amountSchema,
  hashSchema,
  idSchema,
  positiveAmountSchema,
  signatureSchema,
  timestampSchema,
} from "./primitives.ts";

/** What a merchant's wallet can do. */
export const merchantActions = ["enroll", "fund"] as const;

/** What a buyer's, beneficiary's or merchant's wallet can do for a purchase. */
export const purchaseActions = ["register", "approve", "pay", "claim"] as const;

/** What a wallet can do. */
export type WalletAction = (typeof merchantActions)[number] | (typeof purchaseActions)[number];

/** Query of the wallet route: what an approval, a payment or a claim should say, so that its bytes can be shown. */
export const readWalletQuery = z.strictObject({
  amount: positiveAmountSchema.optional().meta({
    description:
      "How much to approve, pay or claim; without it all that is outstanding, approved or reconciled.",
  }),
  reason: z.string().min(1).max(2000).optional().meta({ description: "claim: the reason." }),
});

const evidence = { transaction_hash: hashSchema.optional(), signature: signatureSchema.optional() };

/** Body of a submission by a merchant's wallet: a transaction, a signature or both. */
export const submitMerchantActionBody = z
  .strictObject({ action: z.enum(merchantActions), ...evidence })
  .meta({ id: "SubmitMerchantWalletAction" });

/** Body of a submission by a wallet of a purchase: a transaction, a signature or both. */
export const submitPurchaseActionBody = z
  .strictObject({
    action: z.enum(purchaseActions),
    ...evidence,
    amount: positiveAmountSchema
      .optional()
      .meta({ description: "approve: the approved amount; claim: the claimed one." }),
    reason: z.string().min(1).max(2000).optional().meta({
      description: "claim: the reason that was signed.",
      example: "Arrived broken.",
    }),
  })
  .meta({ id: "SubmitPurchaseWalletAction" });

const submissionSchema = z
  .object({
    action: z.enum([...merchantActions, ...purchaseActions]),
    transaction_hash: hashSchema.nullable(),
    signature: signatureSchema.nullable(),
    submitted_at: timestampSchema,
  })
  .meta({ id: "WalletSubmission" });

const digestSchema = hashSchema.meta({
  description: "The 32 bytes that are signed, as EIP-191 or EIP-712 hash them.",
});

/** The wallet route as JSON. */
export const walletSchema = z
  .object({
    subject: z.object({ type: z.enum(["merchant", "purchase"]), id: z.string() }),
    actions: z.array(
      z.object({
        name: z.enum([...merchantActions, ...purchaseActions]),
        allowed: z.boolean(),
        why_not: z.string().nullable(),
        transaction: transactionRequestSchema.optional(),
        amount: amountSchema.optional().meta({
          description: "approve, pay and claim: how much the bytes are about; submit it with them.",
        }),
        reason: z.string().optional().meta({
          description: "claim: the reason that the bytes are about; submit it with them.",
          example: "Arrived broken.",
        }),
        sign: z
          .discriminatedUnion("method", [
            z.object({ method: z.literal("personal_sign"), message: z.string(), digest: digestSchema }),
            z.object({
              method: z.literal("eth_signTypedData_v4"),
              typed_data: typedDataSchema,
              digest: digestSchema,
            }),
          ])
          .optional(),
      }),
    ),
    submissions: z.array(submissionSchema),
  })
  .meta({ id: "Wallet" });

/** Answer of a wallet submission. */
export const walletSubmissionSchema = z
  .object({ submission: submissionSchema, event_id: idSchema("evt") })
  .meta({ id: "WalletSubmissionResult" });
