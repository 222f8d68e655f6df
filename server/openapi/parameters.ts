import { z } from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";
import type { Operation } from "../http/operation.ts";
import { pageQuerySchema } from "../http/schemas/pagination.ts";
import { idSchema, programIdSchema } from "../http/schemas/primitives.ts";
import { requestExamples } from "./examples/request-examples.generated.ts";
import { idempotencyKeySchema, webhookHeaders } from "./headers.ts";

type Parameters = NonNullable<ZodOpenApiOperationObject["parameters"]>;

const { cursor, limit } = pageQuerySchema.shape;

/** The parameters that many operations have, by the names that operations refer to them by. */
export const sharedParameters = {
  program: programIdSchema.meta({ param: { in: "path", name: "program", example: "prg_demo" } }),
  cursor: cursor.meta({ param: { in: "query", name: "cursor" } }),
  limit: limit.meta({ param: { in: "query", name: "limit", example: "20" } }),
};

/** The headers of a delivery, by the names that webhooks and the receiver refer to them by. */
export const deliveryParameters = Object.fromEntries(
  Object.entries(webhookHeaders).map(([name, schema]) => {
    const example = requestExamples["receiveNotification"]?.header?.[name];
    return [name, schema.meta({ param: { in: "header", name, ...(example && { example }) } })];
  }),
);

/** The parameters of an operation, with an example of each that a fresh sandbox takes. */
export function parametersOf(operation: Operation): Parameters {
  const { path = {}, query = {}, header = {} } = requestExamples[operation.id] ?? {};
  const parameters: Parameters = [];
  const add = (place: "path" | "query" | "header", name: string, schema: z.ZodType, more: object = {}) => {
    const shared = name in sharedParameters || name in deliveryParameters;
    const own = () => schema.meta({ param: { in: place, name, ...more } });
    parameters.push(shared ? { $ref: `#/components/parameters/${name}` } : own());
  };
  if (operation.path.includes("{program}")) add("path", "program", programIdSchema);
  if (operation.path.includes("{id}")) {
    const kind = /\/merchants?\/\{id\}/.test(operation.path) ? "mer" : "pur";
    add("path", "id", idSchema(kind), { example: path["id"] });
  }
  if (operation.query instanceof z.ZodObject)
    for (const [name, schema] of Object.entries<z.ZodType>(operation.query.shape))
      add("query", name, schema, name in query ? { example: query[name] } : {});
  if (operation.idempotent)
    // The schema says the rest, once for all operations.
    add("header", "Idempotency-Key", idempotencyKeySchema, {
      description: "Identifies this effect.",
      example: header["Idempotency-Key"],
    });
  if (operation.authorization.kind === "signed_event")
    for (const [name, schema] of Object.entries(webhookHeaders)) add("header", name, schema);
  return parameters;
}
