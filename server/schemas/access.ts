import { z } from "zod";
import { idSchema, programIdSchema, timestampSchema } from "./primitives.ts";
import { chainSchema, contractsSchema, limitsSchema, publicKeySchema } from "./programs.ts";
import { scopes } from "./scopes.ts";
import { apiVersion } from "./versions.ts";

/** Body of `POST …/access`, which may be left out: all scopes of the account's program by default. */
export const issueAccessBody = z
  .strictObject({
    program: programIdSchema.optional().meta({ description: "By default the account's program." }),
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .optional()
      .meta({ description: "By default all scopes of the account." }),
  })
  .meta({ id: "IssueAccess" });

/** A credential as it is issued; its value is shown this once. */
export const accessSchema = z
  .object({
    credential: z.string().meta({ example: "rsc_YQanvxGt0KDP69c3VZs9smiMlM33mFf-YdDZdYqIqPI" }),
    credential_id: idSchema("crd"),
    token_type: z.literal("Bearer"),
    account: z.string().meta({ example: "acct_demo" }),
    program: programIdSchema,
    scopes: z.array(z.enum(scopes)),
    issued_at: timestampSchema,
    expires_at: timestampSchema,
    revoked_credential_id: idSchema("crd").nullable(),
  })
  .meta({ id: "Access" });

/** Answer of `GET …/capabilities`. */
export const capabilitiesSchema = z
  .object({
    service: z.literal("routing-sandbox"),
    version: z.literal(apiVersion),
    now: timestampSchema.meta({ description: "The sandbox's time, which is also the time of the chain." }),
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
