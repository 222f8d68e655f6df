import { z } from "zod";
import { mapFields } from "../lib/map-fields.ts";
import { limitTexts } from "../limits.ts";
import {
  addressSchema,
  amountSchema,
  checksumAddressSchema,
  hashSchema,
  idSchema,
  jsonObjectSchema,
  positiveAmountSchema,
  programIdSchema,
  referenceSchema,
  signatureSchema,
  timestampSchema,
  tokenAmountSchema,
  unixTimeSchema,
} from "./primitives.ts";
import { claimSchema, decisionSchema, refundSchema } from "./refunds.ts";
import { relayOperationSchema, typedDataSchema } from "./transactions.ts";

/** The states of a purchase. */
export const purchaseStatuses = [
  "created",
  "active",
  "claimed",
  "approved",
  "denied",
  "refund_due",
  "refunded",
] as const;

/** One state of a purchase. */
export type PurchaseStatus = (typeof purchaseStatuses)[number];

/** The state of a purchase as it is answered. */
export const purchaseStatusSchema = z.enum(purchaseStatuses).meta({ id: "PurchaseStatus" });

/** The texts that a request may give a purchase: stored, returned, searched in the explorer, and not interpreted. */
export const purchaseTexts = { reference: referenceSchema };

/** The texts of a purchase as they are answered; null for one that the request did not give. */
export const purchaseTextsSchema = z.object(
  mapFields(purchaseTexts, (text) => z.string().nullable().meta({ example: text.meta()?.["example"] })),
);

/** Body of `POST …/purchases`. */
export const createPurchaseBody = z
  .strictObject({
    merchant_id: idSchema("mer").meta({ description: "An enrolled merchant." }),
    buyer: addressSchema.meta({ description: "The wallet that pays." }),
    beneficiary: addressSchema
      .optional()
      .meta({ description: "The wallet that may claim and receives the refund; by default the buyer." }),
    amount: positiveAmountSchema.meta({ description: "The price that the buyer pays." }),
    terms: jsonObjectSchema.meta({
      description: "Any JSON object. The signed commitment contains the hash of the object's RFC 8785 form.",
      example: { sku: "course-42", title: "A course" },
    }),
    offer_deadline: unixTimeSchema.optional().meta({
      description: `The last second to offer or register it on the chain; ${limitTexts.offer_deadline} from now by default.`,
    }),
    pay_deadline: unixTimeSchema
      .optional()
      .meta({ description: `The last second to pay; ${limitTexts.pay_deadline} from now by default.` }),
    claim_deadline: unixTimeSchema
      .optional()
      .meta({ description: `The last second to claim; ${limitTexts.claim_deadline} from now by default.` }),
    ...mapFields(purchaseTexts, (text) => text.optional()),
  })
  .meta({ id: "CreatePurchase" });

/** The parsed form of {@link createPurchaseBody}. */
export type CreatePurchase = z.infer<typeof createPurchaseBody>;

/** Body of `POST …/activate`: the commitment that the caller means. */
export const activatePurchaseBody = z
  .strictObject({
    commitment_hash: hashSchema.meta({
      description: "The purchase's `commitment.hash`.",
    }),
  })
  .meta({ id: "ActivatePurchase" });

/** Body of `POST …/registration`; the hash may come from the wallet route instead. */
export const confirmRegistrationBody = z
  .strictObject({
    transaction_hash: hashSchema.optional().meta({
      description: "The merchant's registration transaction; by default from the wallet route.",
    }),
  })
  .meta({ id: "ConfirmRegistration" });

/** Body of `POST …/reconcile`; without hashes, every payment of this purchase on the chain. */
export const reconcilePurchaseBody = z
  .strictObject({
    transaction_hashes: z.array(hashSchema).min(1).max(50).optional().meta({
      description:
        "The transactions with the payments to record; by default all payments of this purchase on the chain.",
    }),
  })
  .meta({ id: "ReconcilePurchase" });

/** A payment that the chain holds. */
export const paymentReceiptSchema = z
  .object({
    transaction_hash: hashSchema,
    log_index: z.int().meta({ example: 1 }),
    block_number: z.int(),
    block_hash: hashSchema,
    payer: checksumAddressSchema,
    amount: positiveAmountSchema,
    paid_total: positiveAmountSchema,
    reconciled_at: timestampSchema.nullable(),
  })
  .meta({ id: "PaymentReceipt" });

/** A payment that the chain holds. */
export type PaymentReceipt = z.infer<typeof paymentReceiptSchema>;

/** A purchase as it is answered. */
export const purchaseSchema = z
  .object({
    id: idSchema("pur"),
    program: programIdSchema,
    merchant_id: idSchema("mer"),
    status: purchaseStatusSchema,
    route: z.enum(["registrar_offer", "merchant_direct"]).nullable().meta({ example: null }),
    payment_status: z.enum(["unpaid", "partially_paid", "paid"]),
    expired: z.boolean().meta({
      description:
        "Whether the next block would be too late to bring the purchase on the chain or, while nothing is paid, to pay it.",
      example: false,
    }),
    withdrawn: z.boolean().meta({
      description:
        "Whether the operator has withdrawn the offer on the chain, so that no more payments are accepted.",
      example: false,
    }),
    commitment: z.object({
      typed_data: typedDataSchema,
      hash: hashSchema,
      signature: signatureSchema,
      signer: checksumAddressSchema,
    }),
    terms: jsonObjectSchema,
    amount: positiveAmountSchema,
    buyer: checksumAddressSchema,
    beneficiary: checksumAddressSchema,
    deadlines: z.object({
      offer_deadline: unixTimeSchema,
      pay_deadline: unixTimeSchema,
      claim_deadline: unixTimeSchema,
    }),
    ...purchaseTextsSchema.shape,
    figures: z.object({
      amount: positiveAmountSchema,
      approved: tokenAmountSchema.meta({
        description: "The buyer's allowance to the registrar contract.",
      }),
      paid: amountSchema,
      outstanding: amountSchema,
      refunded: amountSchema,
      reconciled: amountSchema.meta({
        description: "Recorded by reconcile. Above `paid` if a reorg has removed a payment since.",
      }),
      as_of: z.object({ block_number: z.int(), block_hash: hashSchema, timestamp: timestampSchema }),
    }),
    receipts: z.array(paymentReceiptSchema),
    claim: claimSchema.nullable().meta({ example: null }),
    decision: decisionSchema.nullable().meta({ example: null }),
    refund: refundSchema.nullable().meta({ example: null }),
    wallet_url: z.url(),
    created_at: timestampSchema,
    event_id: idSchema("evt").meta({ description: "The event of the last change." }),
  })
  .meta({ id: "Purchase" });

/** A purchase as it is answered. */
export type Purchase = z.output<typeof purchaseSchema>;

/** The deadlines of a purchase, in Unix seconds. */
export type Deadlines = Purchase["deadlines"];

/** Answer of `POST …/activate`. */
export const activationSchema = z
  .object({ purchase: purchaseSchema, operation: relayOperationSchema, event_id: idSchema("evt").nullable() })
  .meta({ id: "Activation" });

/** Answer of `POST …/reconcile`. */
export const reconciliationSchema = z
  .object({
    purchase: purchaseSchema,
    applied: z.array(paymentReceiptSchema),
    already_reconciled: z.array(paymentReceiptSchema),
    reverted: z.array(paymentReceiptSchema).meta({
      description: "Payment receipts that were removed because the chain no longer has their payments.",
    }),
    affected_purchases: z.array(idSchema("pur")),
    event_id: idSchema("evt").nullable().meta({ description: "Null when nothing changed." }),
  })
  .meta({ id: "Reconciliation" });
