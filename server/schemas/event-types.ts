import { z } from "zod";
import {
  amountSchema,
  checksumAddressSchema,
  hashSchema,
  idSchema,
  positiveAmountSchema,
} from "./primitives.ts";

/** The largest number of entries in each list of an event: an event must fit into the body that a receiver takes. */
export const eventListLimit = 50;

const paymentLog = z
  .object({ transaction_hash: hashSchema, log_index: z.int().min(0), amount: positiveAmountSchema })
  .meta({ id: "EventPaymentLog", description: "One payment: a log of one transaction." });

const paymentLogs = z.array(paymentLog).max(eventListLimit);

const refund = { purchase_id: idSchema("pur"), refund_id: idSchema("ref"), award: positiveAmountSchema };

/** Every kind of outbox event: when it is written, and what its `data` holds. */
export const eventTypes = {
  "merchant.created": {
    description: "A merchant was created, with a signed funding authorization.",
    data: z.object({
      merchant_id: idSchema("mer"),
      wallet: checksumAddressSchema,
      funding_cap: positiveAmountSchema,
    }),
  },
  "merchant.enrolled": {
    description: "A merchant's wallet enrollment was confirmed.",
    data: z.object({ merchant_id: idSchema("mer"), transaction_hash: hashSchema }),
  },
  "purchase.created": {
    description: "A purchase commitment was signed.",
    data: z.object({
      purchase_id: idSchema("pur"),
      merchant_id: idSchema("mer"),
      commitment_hash: hashSchema,
      amount: positiveAmountSchema,
    }),
  },
  "purchase.activated": {
    description: "The program operator's offer of a purchase was confirmed.",
    data: z.object({ purchase_id: idSchema("pur"), transaction_hash: hashSchema }),
  },
  "purchase.registered": {
    description: "The merchant's own registration of a purchase was confirmed.",
    data: z.object({ purchase_id: idSchema("pur"), transaction_hash: hashSchema }),
  },
  "purchase.reconciled": {
    description: "Payment receipts of a purchase were recorded or removed.",
    data: z.object({
      purchase_id: idSchema("pur"),
      applied: paymentLogs.meta({
        description: "Payments that were recorded; only the first ones if there are more.",
      }),
      reverted: paymentLogs.meta({ description: "Payments that are no longer on the chain." }),
      affected_purchases: z.array(idSchema("pur")).max(eventListLimit),
      totals: z
        .object({
          applied: z.int().min(0),
          reverted: z.int().min(0),
          affected_purchases: z.int().min(1),
        })
        .meta({ description: `The number of each kind; an event lists at most ${eventListLimit}.` }),
    }),
  },
  "purchase.claimed": {
    description: "A beneficiary's claim was confirmed.",
    data: z.object({ purchase_id: idSchema("pur"), claim_id: idSchema("clm"), claim_hash: hashSchema }),
  },
  "purchase.decided": {
    description: "The decision of the program's reviewer was recorded.",
    data: z.object({
      purchase_id: idSchema("pur"),
      decision_id: idSchema("dec"),
      outcome: z.enum(["approved", "denied"]),
      award: amountSchema,
    }),
  },
  "refund.due": {
    description: "An award was recorded. Its collection is not confirmed yet.",
    data: z.object(refund),
  },
  "refund.collected": {
    description: "A refund was collected from the merchant's wallet.",
    data: z.object({
      ...refund,
      transaction_hash: hashSchema,
      claim_hash: hashSchema.meta({ description: "The claim that was paid." }),
    }),
  },
  "wallet.submitted": {
    description: "A wallet submitted a transaction or a signature over its wallet route.",
    data: z.object({
      subject: z.object({ type: z.enum(["merchant", "purchase"]), id: z.string() }),
      action: z.string(),
      transaction_hash: hashSchema.nullable(),
    }),
  },
} as const satisfies { [type: string]: { description: string; data: z.ZodObject } };

/** The type of an outbox event. */
export type EventType = keyof typeof eventTypes;

/** The types of outbox events, in the order of a purchase's lifecycle. */
export const eventTypeNames = Object.keys(eventTypes).filter((type): type is EventType => type in eventTypes);

/** An event to be written: its type and the data that belongs to it. */
export type NewEvent = {
  [T in EventType]: { type: T; data: z.output<(typeof eventTypes)[T]["data"]> };
}[EventType];
