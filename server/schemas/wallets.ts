import { z } from "zod";
import { textLengths } from "../limits.ts";
import {
  amountSchema,
  checksumAddressSchema,
  hashSchema,
  idSchema,
  jsonObjectSchema,
  positiveAmountSchema,
  signatureSchema,
  timestampSchema,
  tokenAmountSchema,
  unixTimeSchema,
} from "./primitives.ts";
import { purchaseStatusSchema } from "./purchases.ts";
import { transactionRequestSchema, typedDataSchema } from "./transactions.ts";

/** The actions of a merchant's wallet. */
export const merchantActions = ["enroll", "fund"] as const;

/** The actions of a buyer's, beneficiary's or merchant's wallet for a purchase. */
export const purchaseActions = ["register", "approve", "pay", "claim", "pay_with_permit"] as const;

/** An action of a wallet. */
export type WalletAction = (typeof merchantActions)[number] | (typeof purchaseActions)[number];

/** Query of a merchant's wallet route: none, as it has nothing to choose. */
export const readMerchantWalletQuery = z.strictObject({});

/** Query of a purchase's wallet route: what an approval, a payment or a claim should say, so that its bytes can be shown. */
export const readPurchaseWalletQuery = z.strictObject({
  amount: positiveAmountSchema.optional().meta({
    description:
      "The amount to approve, pay or claim. By default the outstanding amount; for pay its approved part, if any; for claim the reconciled amount.",
  }),
  reason: z
    .string()
    .min(1)
    .max(textLengths.reason)
    .optional()
    .meta({ description: "For `claim`: the reason." }),
});

const transaction = { transaction_hash: hashSchema };

/** A transaction, a signature or both; `signing` names the actions that need a signature, and what is signed. */
const evidenceOf = (signing: string) => ({
  transaction_hash: hashSchema.optional().meta({ description: "The transaction that the wallet sent." }),
  signature: signatureSchema.optional().meta({ description: `For ${signing}.` }),
});
const merchantEvidence = evidenceOf("`enroll`: the wallet's signature of `enrollment.message`");
const purchaseEvidence = evidenceOf("`claim` and `pay_with_permit`: the wallet's signature");

const amount = positiveAmountSchema.optional().meta({
  description:
    "The amount on the chain or in the permit. By default that of the purchase (`approve`), that of the transaction (`pay`), " +
    "what is outstanding (`pay_with_permit`), or that submitted before (`claim`).",
});

const reason = z.string().min(1).max(textLengths.reason).optional().meta({
  description: "For `claim`: the signed reason; by default the one submitted before.",
  example: "Arrived broken.",
});

const merchantForms = [
  z.strictObject({ action: z.literal("enroll"), ...merchantEvidence }),
  z.strictObject({ action: z.literal("fund"), ...transaction }),
] as const;

const purchaseForms = [
  z.strictObject({ action: z.literal("register"), ...transaction }),
  z.strictObject({ action: z.literal("approve"), ...transaction, amount }),
  z.strictObject({ action: z.literal("pay"), ...transaction, amount }),
  z.strictObject({ action: z.literal("pay_with_permit"), signature: signatureSchema, amount }),
  z.strictObject({ action: z.literal("claim"), ...purchaseEvidence, amount, reason }),
] as const;

/** A body with the fields of all actions. */
const merchantFields = z.strictObject({
  action: z.enum(merchantActions).meta({ description: "The action of the wallet." }),
  ...merchantEvidence,
});
const purchaseFields = z.strictObject({
  action: z.enum(purchaseActions).meta({ description: "The action of the wallet." }),
  ...purchaseEvidence,
  amount,
  reason,
});

/** A JSON Schema of the bodies that have a field too many for their action, or that lack one. */
function refusedForms(fields: z.ZodObject, forms: readonly z.ZodObject[]) {
  /** The forms for which a condition holds, as a schema of the bodies whose other properties are as given; none for no form. */
  const where = (
    holds: (shape: z.ZodRawShape) => boolean,
    properties: Record<string, boolean>,
    required?: string[],
  ) => {
    const found = forms.map(({ shape }) => shape).filter(holds);
    const actions = found.map(({ action }) => (action instanceof z.ZodLiteral ? action.value : null));
    return actions.length === 0
      ? []
      : [{ properties: { action: { enum: actions }, ...properties }, required }];
  };
  const isNeeded = (shape: z.ZodRawShape, name: string) =>
    shape[name] !== undefined && !z.safeParse(shape[name], undefined).success;
  const evidence = Object.keys(evidenceOf(""));
  return {
    anyOf: [
      ...Object.keys(fields.shape).flatMap((name) => [
        ...where((shape) => !(name in shape), { [name]: true }, [name]),
        ...(name === "action" ? [] : where((shape) => isNeeded(shape, name), { [name]: false })),
      ]),
      ...where(
        (shape) => !evidence.some((name) => isNeeded(shape, name)),
        Object.fromEntries(evidence.map((name) => [name, false])),
      ),
    ],
  };
}

/** Body of a submission by a merchant's wallet; a field that the action does not use is refused. */
export const submitMerchantActionBody = merchantFields
  .meta({ id: "SubmitMerchantWalletAction", not: refusedForms(merchantFields, merchantForms) })
  .pipe(z.discriminatedUnion("action", merchantForms));

/** A submission by a merchant's wallet. */
export type SubmitMerchantAction = z.output<typeof submitMerchantActionBody>;

/** Body of a submission by a wallet of a purchase; a field that the action does not use is refused. */
export const submitPurchaseActionBody = purchaseFields
  .meta({ id: "SubmitPurchaseWalletAction", not: refusedForms(purchaseFields, purchaseForms) })
  .pipe(z.discriminatedUnion("action", purchaseForms));

/** A submission by a wallet of a purchase. */
export type SubmitPurchaseAction = z.output<typeof submitPurchaseActionBody>;

/** A submission of a wallet as it is answered. */
export const submissionSchema = z
  .object({
    action: z.enum([...merchantActions, ...purchaseActions]),
    transaction_hash: hashSchema.nullable(),
    signature: signatureSchema.nullable(),
    amount: amountSchema.nullable(),
    reason: z.string().nullable().meta({ example: "Arrived broken." }),
    submitted_at: timestampSchema,
  })
  .meta({ id: "WalletSubmission" });

const digestSchema = hashSchema.meta({
  description: "The 32-byte digest (EIP-191 or EIP-712) that is signed.",
});

/** A merchant as its wallet's owner needs it to decide. */
export const merchantSubjectSchema = z.object({
  type: z.literal("merchant"),
  id: z.string(),
  name: z.string(),
  wallet: checksumAddressSchema,
  funding_cap: amountSchema.meta({ description: "The most that refunds may draw." }),
  funding_valid_until: unixTimeSchema,
  funding_needed: tokenAmountSchema.meta({
    description: "The remaining caps of the wallet's active fundings, which share one allowance.",
  }),
  funding_allowance: tokenAmountSchema,
  funding_shortfall: tokenAmountSchema,
});

/** A purchase as its buyer and its beneficiary need it to decide: who is paid, for what, how much, until when, and what came of a claim. */
export const purchaseSubjectSchema = z.object({
  type: z.literal("purchase"),
  id: z.string(),
  status: purchaseStatusSchema,
  merchant_name: z.string(),
  merchant: checksumAddressSchema,
  buyer: checksumAddressSchema,
  beneficiary: checksumAddressSchema,
  terms: jsonObjectSchema,
  amount: positiveAmountSchema,
  paid: amountSchema,
  outstanding: amountSchema,
  requested_amount: amountSchema,
  claim_reason: z.string().nullable(),
  award: amountSchema,
  refunded: amountSchema,
  payment_hashes: z.array(hashSchema),
  refund_hash: hashSchema.nullable(),
  pay_deadline: unixTimeSchema,
  claim_deadline: unixTimeSchema,
});

/** The wallet route as JSON. */
export const walletSchema = z
  .object({
    subject: z.discriminatedUnion("type", [merchantSubjectSchema, purchaseSubjectSchema]),
    actions: z.array(
      z.object({
        name: z.enum([...merchantActions, ...purchaseActions]),
        allowed: z.boolean(),
        why_not: z.string().nullable(),
        transaction: transactionRequestSchema.optional().meta({
          description: "The transaction to send. pay_with_permit has one after its signature was submitted.",
        }),
        amount: amountSchema.optional().meta({
          description: "The amount in the bytes to sign or send. Submit the same amount.",
        }),
        reason: z.string().optional().meta({
          description: "For `claim`: the reason in the bytes to sign. Submit the same one.",
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
  .object({
    submission: submissionSchema,
    transaction: transactionRequestSchema.optional().meta({
      description: "pay_with_permit: the transaction to send.",
    }),
    event_id: idSchema("evt"),
  })
  .meta({ id: "WalletSubmissionResult" });
