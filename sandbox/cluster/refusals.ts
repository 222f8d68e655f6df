import { z } from "zod";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { errorCodes } from "../../server/errors/catalogue.ts";
import type { Log, Refusal, Services } from "../../server/http/services.ts";
import { hashSchema, jsonSchema, unixTimeSchema } from "../../server/schemas/primitives.ts";
import { askControl } from "../service/ask-control.ts";

const path = "/refusals";

/** The schema of a refusal of another process. */
export const refusalSchema: z.ZodType<Refusal> = z
  .strictObject({
    at: unixTimeSchema,
    request_id: z.string(),
    operation: z.string(),
    program: z.string(),
    subject: z.string(),
    step: z.string(),
    code: z.enum(errorCodes),
    detail: z.string(),
    transaction_hash: hashSchema,
    is_used: z.boolean(),
    checks: z.array(
      z.strictObject({ name: z.enum(checkNames), ok: z.boolean(), expected: jsonSchema, actual: jsonSchema }),
    ),
  })
  .meta({ id: "AddRefusal" });

/**
 * Tells the first process of a shared sandbox, whose explorer shows it, what this one has refused. The answer to the request does not
 * depend on it.
 */
export function tellRefusals(controlUrl: string, log: Log): Services["refused"] {
  return async (refusal) => {
    try {
      const response = await askControl(controlUrl, "POST", path, refusal);
      if (!response.ok) throw new Error(`The first process responded with ${response.status}.`);
    } catch (error) {
      log.error({ request_id: refusal.request_id, causes: String(error) }, "telling a refusal");
    }
  };
}
