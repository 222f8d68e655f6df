import { z } from "zod";
import { apiVersion } from "../versions.ts";
import { timestampSchema } from "./primitives.ts";
import { chainSchema, contractsSchema, limitsSchema, publicKeySchema } from "./program.ts";

/** Answer of operation 1. */
export const capabilitiesSchema = z
  .object({
    service: z.literal("routing-sandbox"),
    version: z.literal(apiVersion),
    now: timestampSchema.meta({ description: "The sandbox's time, which the chain shares." }),
    routes: z.array(
      z.object({
        id: z.enum(["registrar_offer", "merchant_direct"]),
        relayed: z.boolean(),
        enabled: z.boolean(),
      }),
    ),
    chain: chainSchema,
    contracts: contractsSchema,
    limits: limitsSchema,
    scopes: z.array(z.string()),
    operations: z.array(
      z.object({
        number: z.int().nullable(),
        id: z.string(),
        method: z.string(),
        path: z.string(),
        authorization: z.string(),
        idempotent: z.boolean(),
      }),
    ),
    events: z.array(z.object({ type: z.string(), description: z.string() })),
    keys: z.object({ notifications: publicKeySchema, receipts: publicKeySchema }),
  })
  .meta({ id: "Capabilities" });
