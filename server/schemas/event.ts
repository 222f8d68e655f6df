import { z } from "zod";
import { type EventType, eventTypes } from "../outbox/event-types.ts";
import { idSchema, jsonObjectSchema, programIdSchema, timestampSchema } from "./primitives.ts";

const names = Object.keys(eventTypes).filter((type): type is EventType => type in eventTypes);

/** An outbox event as it is delivered; its bytes are frozen when it is written. */
export const eventSchema = z
  .object({
    id: idSchema("evt"),
    type: z.enum(names),
    program: programIdSchema,
    sequence: z
      .int()
      .min(1)
      .meta({ description: "Counts the program's events from 1, without gaps.", example: 1 }),
    created_at: timestampSchema,
    data: jsonObjectSchema.meta({
      description: "What happened, by identifiers; read the resources for the rest.",
    }),
  })
  .meta({ id: "Event", description: "An outbox event; its bytes are frozen when it is written." });
