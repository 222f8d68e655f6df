import { z } from "zod";
import { limits } from "../limits.ts";
import { hashSchema, idSchema, timestampSchema } from "./primitives.ts";

const jwsSchema = z.string().meta({
  description: "Compact JWS (EdDSA, typ routing-receipt+jws) over the receipt.",
  example: "eyJhbGciOiJFZERTQSIsInR5cCI6InJvdXRpbmctcmVjZWlwdCtqd3MifQ.e30.c2lnbmF0dXJl",
});

/** Body of operation 14; without an event, the oldest undelivered one. */
export const deliverNotificationBody = z
  .strictObject({
    event_id: idSchema("evt")
      .optional()
      .meta({ description: "The event; without it, the program's oldest undelivered one." }),
  })
  .meta({ id: "DeliverNotification" });

/** One delivery attempt. */
const deliveryAttemptSchema = z
  .object({
    number: z.int().min(1).max(limits.delivery_attempts),
    at: timestampSchema,
    status_code: z.int().nullable().meta({ description: "Null when no answer came.", example: 200 }),
    error: z
      .string()
      .nullable()
      .meta({ description: "Why there was no answer, or no success.", example: null }),
    response_body: z
      .string()
      .nullable()
      .meta({ description: "The beginning of the answer, as text.", example: "{}" }),
    duration_ms: z.int().nullable(),
  })
  .meta({ id: "DeliveryAttempt" });

/** A notification: one event on its way to the pinned receiver. */
const notificationSchema = z
  .object({
    id: idSchema("ntf"),
    event_id: idSchema("evt"),
    status: z.enum(["delivered", "exhausted"]),
    attempts: z.array(deliveryAttemptSchema).max(limits.delivery_attempts),
  })
  .meta({ id: "Notification" });

/** A signed receipt of one event, as the pinned receiver gave it. */
export const deliveryReceiptSchema = z
  .object({
    id: idSchema("rcp"),
    event_id: idSchema("evt"),
    receiver: z.url(),
    body_sha256: hashSchema,
    received_at: timestampSchema,
    deliveries: z
      .int()
      .meta({ description: "How many accepted deliveries the receiver has seen of this event." }),
    jws: jwsSchema,
  })
  .meta({ id: "DeliveryReceipt" });

/** Answer of operation 14. */
export const notificationDeliverySchema = z
  .object({ notification: notificationSchema, receipt: deliveryReceiptSchema.nullable() })
  .meta({ id: "NotificationDelivery" });

/** Answer of operation 17: the same bytes again for a duplicate. */
export const acceptedReceiptSchema = z
  .object({
    receipt_id: idSchema("rcp"),
    event_id: idSchema("evt"),
    body_sha256: hashSchema,
    receiver: z.url(),
    received_at: timestampSchema,
    jws: jwsSchema,
  })
  .meta({ id: "AcceptedReceipt" });
