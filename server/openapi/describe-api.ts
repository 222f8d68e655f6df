import { STATUS_CODES } from "node:http";
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiRequestBodyObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { type ErrorCode, errorCatalogue } from "../errors/catalogue.ts";
import { codesOfOperation, edgeCodes } from "../http/codes-of-operation.ts";
import { bodyRequired, type Operation } from "../http/operation.ts";
import { capitalize } from "../lib/wording.ts";
import { limitTexts } from "../limits.ts";
import { type EventType, eventTypeNames, eventTypes } from "../schemas/event-types.ts";
import { eventSchemas } from "../schemas/notifications.ts";
import { pageQuerySchema } from "../schemas/pagination.ts";
import { idSchema, programIdSchema } from "../schemas/primitives.ts";
import { problemSchema } from "../schemas/problem.ts";
import { apiVersion } from "../schemas/versions.ts";
import { describeRefusals, type RefusalTable } from "./describe-refusals.ts";
import { answerName, type ExampleAnswers, exampleAnswers } from "./examples/example-answers.ts";
import { requestExamples } from "./examples/request-examples.generated.ts";
import {
  answerHeaders,
  idempotencyKeySchema,
  problemHeaders,
  successHeaders,
  webhookHeaders,
} from "./headers.ts";
import { openAnswers, tidyReferences } from "./open-answers.ts";

/**
 * Describes the API as an OpenAPI 3.1 document, from the table that runs it.
 *
 * @param urls - where the API and its documentation are reached.
 * @example describeApi(operations, { api: "http://127.0.0.1:4020", docs: "http://127.0.0.1:4021" })
 */
export function describeApi(
  operations: readonly Operation[],
  urls: { api: string; docs: string },
): ReturnType<typeof createDocument> {
  const refusals = describeRefusals({ ...refusalDescription, operations });
  const answers = exampleAnswers(operations);
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describeOperation(operation, answers, refusals.of(operation)),
    };
  const description = {
    openapi: "3.1.0",
    info: {
      title: "Routing sandbox API",
      version: apiVersion,
      summary: "Commerce with a test stablecoin.",
      description: introduction(urls),
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "Routing sandbox documentation", url: `${urls.docs}/portal/docs.md` },
    },
    servers: [{ url: urls.api, description: "This sandbox." }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(eventTypeNames.map((type) => [type, { post: describeEvent(type) }])),
    components: {
      headers: answerHeaders,
      parameters: { ...sharedParameters, ...deliveryParameters },
      responses: { ...refusals.components, ...deliveryResponses },
      examples: answers,
      securitySchemes: {
        // In the order in which a person fills them in.
        account_key: {
          type: "http",
          scheme: "bearer",
          description: "An account's key, which only issues credentials.",
        },
        credential: {
          type: "http",
          scheme: "bearer",
          description:
            "A credential that `POST …/access` has issued. The security requirement names its scope.",
        },
        signed_event: {
          type: "apiKey",
          in: "header",
          name: "webhook-signature",
          description:
            "Standard Webhooks over `id.timestamp.body`; the receiver verifies the Ed25519 signature (`v1a`).",
        },
      },
    },
  } satisfies ZodOpenApiObject;
  return tidyReferences(
    createDocument(description, { allowEmptySchema: { custom: true }, override: openAnswers }),
  );
}

function introduction(urls: { docs: string }): string {
  const edge = edgeCodes.map((code) => `\`${code}\``).join(", ");
  return [
    "Merchants enroll. Purchases are signed, paid, claimed, decided and refunded with a test stablecoin on a chain. " +
      `Read [the guide](${urls.docs}/portal/docs.md); every error code has [a page](${urls.docs}/errors).`,
    "A later version may add fields, codes and events to responses. Ignore unknown fields, and handle unknown codes by their status.",
    `Before an operation runs, every path can respond with: ${edge}.`,
    "The request examples succeed on a fresh `deterministic` sandbox with the default seed, in this order, together with the wallets' " +
      `transactions: ${Object.keys(requestExamples).join(", ")}.`,
  ].join("\n\n");
}

/** A receiver's responses to a delivery, by the names that webhooks refer to. */
const deliveryResponses = {
  DeliveryAccepted: { description: "Accepted; the notification is delivered." },
  DeliveryGone: { description: "The receiver is gone; no further attempt is made." },
  DeliveryRefused: {
    description: `Not accepted (a redirect is not accepted either); up to ${limitTexts.delivery_attempts} are made.`,
  },
} satisfies { [name: string]: ZodOpenApiResponseObject };

/** Describes an event as the webhook that delivers it. */
function describeEvent(type: EventType): ZodOpenApiOperationObject {
  const { description } = eventTypes[type];
  const response = (name: keyof typeof deliveryResponses) => ({ $ref: `#/components/responses/${name}` });
  return {
    operationId: `on.${type}`,
    summary: description,
    description: "Delivered by `POST …/notifications`, signed with Standard Webhooks.",
    tags: ["Notifications"],
    security: [{ signed_event: [] }],
    parameters: Object.keys(webhookHeaders).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { "application/json": { schema: eventSchemas[type] } },
    },
    responses: {
      "2XX": response("DeliveryAccepted"),
      "410": response("DeliveryGone"),
      default: response("DeliveryRefused"),
    },
  };
}

/** The tags that group operations. */
const tags = {
  Service: "The service's metadata.",
  Access: `Credentials: ${limitTexts.credential_lifetime}, scopes, one per account.`,
  Programs: "A program, its relayed transactions and its gas budget.",
  Merchants: "Merchants and their enrollment.",
  Purchases: "Purchases from commitment to refund.",
  Notifications: "The outbox, its signed deliveries and their delivery receipts.",
  Wallet: "The messages and transactions that a wallet signs or sends. No credential is required.",
} as const;

const refusalDescription: Omit<RefusalTable<Operation, ErrorCode>, "operations"> = {
  codesOf: codesOfOperation,
  describeCode: (code) => errorCatalogue[code],
  problem: problemSchema,
  nameOf: nameOfRefusal,
  headersOf: problemHeaders,
};

/** A refusal with one code is named after it, another one after its status and the first operation that answers it. */
function nameOfRefusal(status: number, codes: readonly ErrorCode[], operation: Operation): string {
  const [first, ...more] = codes;
  if (first !== undefined && more.length === 0) return pascalCase(first.split("_"));
  return `${pascalCase((STATUS_CODES[status] ?? "").split(" "))}.${operation.id}`;
}

function pascalCase(words: readonly string[]): string {
  return words.map(capitalize).join("");
}

/** Describes one operation. */
function describeOperation(
  operation: Operation,
  answers: ExampleAnswers,
  refusals: { [status: string]: { $ref: string } },
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
    responses: { ...successes(operation, answers), ...refusals },
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

/** The group of an operation, which is also in its address in the reference. */
export function tagOf(path: string): keyof typeof tags {
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
const sharedParameters = {
  program: programIdSchema.meta({ param: { in: "path", name: "program", example: "prg_demo" } }),
  cursor: cursor.meta({ param: { in: "query", name: "cursor" } }),
  limit: limit.meta({ param: { in: "query", name: "limit", example: "20" } }),
};

/** The headers of a delivery, by the names that webhooks and the receiver refer to them by. */
const deliveryParameters = Object.fromEntries(
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
