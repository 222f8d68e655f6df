import { z } from "zod";
import { mapFields } from "../lib/map-fields.ts";
import { capitalize } from "../lib/wording.ts";
import { limits } from "../limits.ts";
import { type EventType, eventTypes } from "./event-types.ts";
import { hashSchema, idSchema, programIdSchema, timestampSchema } from "./primitives.ts";

const envelope = {
  id: idSchema("evt"),
  program: programIdSchema,
  sequence: z.int().min(1).meta({ description: "Per program from 1, without gaps.", example: 1 }),
  created_at: timestampSchema,
};

/** Every kind of outbox event as it is delivered. */
export const eventSchemas = mapFields(eventTypes, ({ description, data }, type) => {
  const { id, ...rest } = envelope;
  const name = type.split(".").map(capitalize);
  return z
    .object({ id, type: z.literal(type), ...rest, data })
    .meta({ id: `${name.join("")}Event`, description });
});

type EventSchema = (typeof eventSchemas)[EventType];

/** An outbox event as it is delivered; its bytes never change. */
export const eventSchema = z
  .discriminatedUnion("type", Object.values(eventSchemas) as [EventSchema, ...EventSchema[]])
  .meta({ id: "Event", description: "An outbox event; its bytes never change." });

const jwsSchema = z.string().meta({
  description: "Compact JWS (EdDSA, typ routing-receipt+jws) over the delivery receipt.",
  example: "eyJhbGciOiJFZERTQSIsInR5cCI6InJvdXRpbmctcmVjZWlwdCtqd3MifQ.e30.c2lnbmF0dXJl",
});

/** Body of `POST …/notifications`; without an event, the oldest undelivered one. */
export const deliverNotificationBody = z
  .strictObject({
    event_id: idSchema("evt")
      .optional()
      .meta({ description: "The event to deliver; by default the program's oldest undelivered one." }),
  })
  .meta({ id: "DeliverNotification" });

/** One delivery attempt. */
const deliveryAttemptSchema = z
  .object({
    number: z.int().min(1).max(limits.delivery_attempts),
    at: timestampSchema,
    status_code: z
      .int()
      .nullable()
      .meta({ description: "Null if the receiver did not respond.", example: 200 }),
    error: z
      .string()
      .nullable()
      .meta({ description: "The reason why there was no response or no success.", example: null }),
    response_body: z
      .string()
      .nullable()
      .meta({ description: "The beginning of the response, as text.", example: "{}" }),
    duration_ms: z.int().nullable(),
  })
  .meta({ id: "DeliveryAttempt" });

/** A notification: one event on its way to the pinned receiver. */
export const notificationSchema = z
  .object({
    id: idSchema("ntf"),
    event_id: idSchema("evt"),
    status: z.enum(["delivered", "exhausted"]),
    attempts: z.array(deliveryAttemptSchema).max(limits.delivery_attempts),
  })
  .meta({ id: "Notification" });

/** A signed delivery receipt of one event, as the pinned receiver gave it. */
export const deliveryReceiptSchema = z
  .object({
    id: idSchema("rcp"),
    event_id: idSchema("evt"),
    receiver: z.url(),
    body_sha256: hashSchema,
    received_at: timestampSchema,
    deliveries: z
      .int()
      .meta({ description: "The number of deliveries of this event that the receiver has accepted." }),
    jws: jwsSchema,
  })
  .meta({ id: "DeliveryReceipt" });

/** A delivery receipt as it is listed. */
export type DeliveryReceipt = z.output<typeof deliveryReceiptSchema>;

/** Answer of `POST …/notifications`. */
export const notificationDeliverySchema = z
  .object({ notification: notificationSchema, receipt: deliveryReceiptSchema.nullable() })
  .meta({ id: "NotificationDelivery" });

/** Answer of `POST …/notification-receiver`: the same bytes again for a duplicate. */
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
