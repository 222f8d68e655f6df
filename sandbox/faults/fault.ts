import { z } from "zod";
import { faultLayers } from "./fault-matrix.ts";

const texts = z.record(z.string(), z.string());

/** The schema of a fault that is set. */
export const faultSchema = z
  .object({
    layer: z.enum(faultLayers),
    point: z.string(),
    action: z.string(),
    match: z.record(z.string(), z.union([z.string(), z.int()])),
    matched: z.int().exactOptional().meta({
      description:
        "With `match.occurrence`: the number of requests, relay operations or calls that have matched.",
    }),
    remaining: z.int().nullable().meta({
      description: "The number of times that it will still act; null if it acts until it is cleared.",
    }),
    hits: z.int().meta({ description: "The number of times that it has acted." }),
    depth: z.int().exactOptional().meta({ description: "The number of blocks that a `reorg` removes." }),
    delay_ms: z.int().exactOptional().meta({ description: "The length of a `delay`, in real milliseconds." }),
    status: z.int().exactOptional().meta({ description: "The status of the receiver's response." }),
    headers: texts.exactOptional(),
    body: z.string().exactOptional(),
  })
  .meta({ id: "Fault", description: "A fault that is set." });

/** A fault that is set: plain data, so that it can be part of a snapshot. */
export type Fault = z.output<typeof faultSchema>;
