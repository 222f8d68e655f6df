import { z } from "zod";
import { type EventType, eventTypes } from "../outbox/event-types.ts";
import { idSchema, programIdSchema, timestampSchema } from "./primitives.ts";

const envelope = {
  id: idSchema("evt"),
  program: programIdSchema,
  sequence: z
    .int()
    .min(1)
    .meta({ description: "Counts the program's events from 1, without gaps.", example: 1 }),
  created_at: timestampSchema,
};

function eventSchemaOf<T extends EventType>(type: T) {
  const { description, data } = eventTypes[type];
  const { id, ...rest } = envelope;
  const name = type.split(".").map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`);
  return z
    .object({ id, type: z.literal(type), ...rest, data })
    .meta({ id: `${name.join("")}Event`, description });
}

/** Every kind of outbox event as it is delivered. */
export const eventSchemas = {
  "merchant.created": eventSchemaOf("merchant.created"),
  "merchant.enrolled": eventSchemaOf("merchant.enrolled"),
  "purchase.created": eventSchemaOf("purchase.created"),
  "purchase.activated": eventSchemaOf("purchase.activated"),
  "purchase.registered": eventSchemaOf("purchase.registered"),
  "purchase.reconciled": eventSchemaOf("purchase.reconciled"),
  "purchase.claimed": eventSchemaOf("purchase.claimed"),
  "purchase.decided": eventSchemaOf("purchase.decided"),
  "refund.due": eventSchemaOf("refund.due"),
  "refund.collected": eventSchemaOf("refund.collected"),
  "wallet.submitted": eventSchemaOf("wallet.submitted"),
} as const satisfies { [T in EventType]: z.ZodObject };

/** An outbox event as it is delivered; its bytes are frozen when it is written. */
export const eventSchema = z
  .discriminatedUnion("type", [
    eventSchemas["merchant.created"],
    eventSchemas["merchant.enrolled"],
    eventSchemas["purchase.created"],
    eventSchemas["purchase.activated"],
    eventSchemas["purchase.registered"],
    eventSchemas["purchase.reconciled"],
    eventSchemas["purchase.claimed"],
    eventSchemas["purchase.decided"],
    eventSchemas["refund.due"],
    eventSchemas["refund.collected"],
    eventSchemas["wallet.submitted"],
  ])
  .meta({ id: "Event", description: "An outbox event; its bytes are frozen when it is written." });
