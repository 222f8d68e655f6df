import type { CreateDocumentOptions } from "zod-openapi";
import { openEnumMark } from "../schemas/primitives.ts";

type Override = Extract<CreateDocumentOptions["override"], (context: never) => void>;

/**
 * Leaves answers open, so that a client that validates them takes the next version's too: objects may have more fields, codes may be
 * new. Requests stay closed. Examples of single fields are left out, because whole requests and answers show them in context.
 */
export const openAnswers: Override = ({ jsonSchema, io }) => {
  const open = openEnumMark in jsonSchema;
  for (const word of [openEnumMark, "example", "param"]) Reflect.deleteProperty(jsonSchema, word);
  // A value says its type.
  if (jsonSchema.const !== undefined) delete jsonSchema.type;
  if (io !== "output") return;
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // A bound that every JavaScript number keeps is not a bound of the service.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (!open) return;
  const { enum: codes = [] } = jsonSchema;
  delete jsonSchema.type;
  delete jsonSchema.enum;
  jsonSchema.anyOf = [{ type: "string", enum: codes }, { type: "string" }];
};

/**
 * Removes what zod leaves next to references, which `openAnswers` does not see: examples, and what parameters were made of. A parameter and a
 * header say what they are once, and not in their schema again.
 */
export function tidyReferences<T>(document: T): T {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if (
      "schema" in value &&
      isDescribed(value) &&
      isDescribed(value.schema) &&
      value.schema.description === value.description
    )
      Reflect.deleteProperty(value.schema, "description");
    if (!("$ref" in value)) return value;
    const { example: _example, param: _param, ...reference } = { example: null, param: null, ...value };
    return reference;
  });
}

function isDescribed(value: unknown): value is { description: unknown } {
  return typeof value === "object" && value !== null && "description" in value;
}
