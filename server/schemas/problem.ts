import { z } from "zod";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { errorCodes } from "../errors/catalogue.ts";
import { jsonSchema, openEnum } from "./primitives.ts";

/** The outcome of a binding check, every check with both sides. */
const bindingReportSchema = z
  .object({
    accepted: z.boolean(),
    checks: z.array(
      z.object({ name: openEnum(checkNames), ok: z.boolean(), expected: jsonSchema, actual: jsonSchema }),
    ),
  })
  .meta({ id: "BindingReport" });

/** An error answer (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.url().meta({ description: "A page that explains this code." }),
    title: z.string(),
    status: z.int(),
    code: openEnum(errorCodes),
    detail: z.string(),
    instance: z.string(),
    request_id: z.string(),
    retryable: z.boolean(),
    errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
    binding: bindingReportSchema.optional(),
    explain: z
      .url()
      .optional()
      .meta({ description: "Of a refused transaction: where the control API explains it, field by field." }),
  })
  .loose()
  .meta({ id: "Problem" });
