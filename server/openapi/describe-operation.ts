import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiRequestBodyObject } from "zod-openapi";
import { limitTexts } from "../http/limits.ts";
import { bodyRequired, type Operation } from "../http/operation.ts";
import { pageQuerySchema } from "../http/schemas/pagination.ts";
import { idSchema, programIdSchema } from "../http/schemas/primitives.ts";
import type { RefusalResponses } from "./describe-refusals.ts";
import { answerName, type ExampleAnswers } from "./examples/example-answers.ts";
import { requestExamples } from "./examples/request-examples.generated.ts";
import { idempotencyKeySchema, successHeaders, webhookHeaders } from "./headers.ts";

/** The tags that group operations. */
export const tags = {
  Service: "The service's metadata.",
  Access: `Credentials: ${limitTexts.credential_lifetime}, scopes, one per account.`,
  Programs: "A program, its relayed transactions and its gas budget.",
  Merchants: "Merchants and their enrollment.",
  Purchases: "Purchases from commitment to refund.",
  Notifications: "The outbox, its signed deliveries and their delivery receipts.",
  Wallet: "The messages and transactions that a wallet signs or sends. No credential is required.",
} as const;

/** The parts that operations share. */
export interface OperationParts {
  refusals: RefusalResponses;
  answers: ExampleAnswers;
}

/** Describes one operation. */
export function describeOperation(
  operation: Operation,
  { refusals, answers }: OperationParts,
): ZodOpenApiOperationObject {
  const parameters = parametersOf(operation);
  const requestBody = describeBody(operation);
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: describe(operation),
    tags: [tagOf(operation.path)],
    security: securityOf(operation),
    ...(operation.events.length > 0 ? { "x-events": [...operation.events] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody && { requestBody }),
    responses: { ...successes(operation, answers), ...refusals.of(operation) },
  };
}

function describe(operation: Operation): string {
  const events = operation.events.map((type) => `\`${type}\``).join(", ");
  return [operation.description, events === "" ? "" : ` Causes ${events}.`].join("");
}

function describeBody(operation: Operation): ZodOpenApiRequestBodyObject | undefined {
  const schema = operation.body ?? operation.rawBody;
  if (schema === undefined) return undefined;
  const examples = requestExamples[operation.id]?.bodies;
  return {
    required: bodyRequired(operation),
    content: { "application/json": { schema, ...(examples && { examples }) } },
  };
}

function securityOf({ authorization }: Operation): { [scheme: string]: string[] }[] {
  switch (authorization.kind) {
    case "account":
      return [{ account_key: [] }];
    case "scope":
      return [{ credential: [authorization.scope] }];
    case "signed_event":
      return [{ signed_event: [] }];
    default:
      return [];
  }
}

function tagOf(path: string): keyof typeof tags {
  if (path.startsWith("/wallet")) return "Wallet";
  if (path.includes("/notification")) return "Notifications";
  if (path.includes("/purchases")) return "Purchases";
  if (path.includes("/merchants")) return "Merchants";
  if (path.includes("/programs")) return "Programs";
  return path.endsWith("/access") ? "Access" : "Service";
}

function successes(operation: Operation, answers: ExampleAnswers) {
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, { description, schema }]) => {
      const name = answerName(schema);
      const examples = { [name]: { $ref: `#/components/examples/${name}` } };
      const json = { schema, ...(name in answers && { examples }) };
      return [
        status,
        {
          description,
          headers: successHeaders(operation, Number(status)),
          content: operation.page
            ? { "application/json": json, "text/html": { schema: z.string() } }
            : { "application/json": json },
        },
      ];
    }),
  );
}

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
function parametersOf(operation: Operation): Parameters {
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
