import { z } from "zod";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { errorCodes } from "../errors/catalogue.ts";
import {
  amountSchema,
  checksumAddressSchema,
  hashSchema,
  jsonObjectSchema,
  jsonSchema,
  openEnum,
  weiSchema,
} from "./primitives.ts";
import { relayOperationSchema } from "./transactions.ts";

/** The outcome of a binding check, every check with both sides. */
const bindingReportSchema = z
  .object({
    accepted: z.boolean(),
    checks: z.array(
      z.object({ name: openEnum(checkNames), ok: z.boolean(), expected: jsonSchema, actual: jsonSchema }),
    ),
  })
  .meta({ id: "BindingReport" });

/** The members that single codes add; docs/api.md and the page of a code list them. */
const problemMembers = {
  current_state: z.string().optional().meta({ description: "The current state of the object." }),
  allowed: z.array(z.string()).optional().meta({
    description:
      "The operations that the object's state, deadlines and records on the chain allow. The state of the program, the merchant's funding and the gas budget do not matter.",
  }),
  reconciled: amountSchema.optional(),
  purchase: z
    .string()
    .optional()
    .meta({ description: "The purchase with this state, if it is not the one in the path." }),
  reverted: z.array(jsonObjectSchema).optional().meta({ description: "Payments that a reorg removed." }),
  transaction_hash: hashSchema.optional(),
  confirmations: z.int().optional(),
  operation: relayOperationSchema.optional(),
  revert: jsonObjectSchema.nullable().optional(),
  bounds: jsonObjectSchema.optional(),
  funding: jsonObjectSchema.optional(),
  required_wei: weiSchema.optional(),
  available_wei: weiSchema.optional(),
  required_scope: z.string().optional(),
  held_scopes: z.array(z.string()).optional(),
  expected_signer: checksumAddressSchema.optional(),
  actual_signer: checksumAddressSchema.nullable().optional(),
  signed_statement: jsonObjectSchema.optional(),
  event_id: z.string().optional(),
  attempts: z.int().optional(),
};

/** An error answer (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.url().meta({ description: "The page of this error code." }),
    title: z.string(),
    status: z.int(),
    code: openEnum(errorCodes),
    detail: z.string(),
    instance: z.string(),
    request_id: z.string(),
    retryable: z.boolean(),
    errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
    binding: bindingReportSchema.optional(),
    explain: z.url().optional().meta({
      description: "For a refused transaction: the URL of the control API that explains it field by field.",
    }),
  })
  .extend(problemMembers)
  .loose()
  .meta({ id: "Problem" });
