import { z } from "zod";
import { scopes } from "../scopes.ts";
import { idSchema, programIdSchema, timestampSchema } from "./primitives.ts";

/** Body of operation 2, which may be left out: all scopes of the account's program by default. */
export const issueAccessBody = z
  .strictObject({
    program: programIdSchema.optional(),
    scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).optional(),
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
