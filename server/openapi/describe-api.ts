import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { type ErrorCode, errorCatalogue, errorCodes } from "../errors/catalogue.ts";
import { codesOfOperation } from "../errors/codes-of-operation.ts";
import { bodyRequired, type Operation } from "../http/operation.ts";
import { type EventType, eventTypeNames, eventTypes } from "../outbox/event-types.ts";
import { eventSchemas } from "../schemas/event.ts";
import { problemSchema } from "../schemas/problem.ts";
import { exampleOf } from "./example-of.ts";
import { idempotencyKeyHeader, problemHeaders, successHeaders, webhookHeaders } from "./headers.ts";
import { pathParameters } from "./path-parameters.ts";

/** The version of the routing API. */
export const apiVersion = "1.4.0";

const tags = {
  Service: "What the service is.",
  Access: "Credentials: seven days, scopes, one per account.",
  Programs: "A program, its relayed transactions and its gas budget.",
  Merchants: "Merchants and their enrollment.",
  Purchases: "Purchases from commitment to refund.",
  Notifications: "The outbox, its signed deliveries and their receipts.",
  Wallet: "What a wallet has to sign or send; needs no credential.",
} as const;

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
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation) };
  const used = errorCodes.filter((code) =>
    operations.some((operation) => codesOfOperation(operation).includes(code)),
  );
  const description = {
    openapi: "3.1.0",
    info: {
      title: "Routing sandbox API",
      version: apiVersion,
      summary: "Test-stablecoin commerce on a local chain.",
      description:
        "Merchants enroll, purchases are committed to, paid, claimed, decided on and refunded, with a test stablecoin on a local chain. " +
        `No real value moves. The guide is at ${urls.docs}/portal/docs.md; every error code has a page under ${urls.docs}/errors.`,
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "Routing sandbox documentation", url: `${urls.docs}/portal/docs.md` },
    },
    servers: [{ url: urls.api, description: "This sandbox." }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(eventTypeNames.map((type) => [type, { post: describeEvent(type) }])),
    components: {
      examples: Object.fromEntries(
        used.map((code) => [
          code,
          { summary: errorCatalogue[code].title, value: exampleProblem(code, urls) },
        ]),
      ),
      securitySchemes: {
        credential: {
          type: "http",
          scheme: "bearer",
          description:
            "A credential that operation 2 issued; the requirement names the scope that it must hold.",
        },
        account_key: {
          type: "http",
          scheme: "bearer",
          description: "An account's key; it only issues credentials.",
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
  } as const satisfies ZodOpenApiObject;
  return createDocument(description, { allowEmptySchema: { custom: true } });
}

function describeOperation(operation: Operation): ZodOpenApiOperationObject {
  const path = pathParameters(operation.path);
  const header = requestHeaders(operation);
  const body = operation.body ?? operation.rawBody;
  const query = operation.query instanceof z.ZodObject ? operation.query : undefined;
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: describe(operation),
    tags: [tagOf(operation.path)],
    security: securityOf(operation),
    ...(operation.events.length > 0 ? { "x-events": [...operation.events] } : {}),
    requestParams: { ...(path && { path }), ...(query && { query }), ...(header && { header }) },
    ...(body && {
      requestBody: {
        required: bodyRequired(operation),
        content: { "application/json": { schema: body, example: exampleOf(body, "input") } },
      },
    }),
    responses: { ...successes(operation), ...refusals(operation) },
  };
}

function describe(operation: Operation): string {
  const events = operation.events.map((type) => `\`${type}\``).join(", ");
  return [
    operation.number === null ? "" : `Operation ${operation.number} of the specification. `,
    operation.description,
    events === "" ? "" : ` Causes ${events}.`,
  ].join("");
}

function requestHeaders(operation: Operation): z.ZodObject | undefined {
  if (operation.authorization.kind === "signed_event") return webhookHeaders;
  return operation.idempotent ? z.object({ "Idempotency-Key": idempotencyKeyHeader }) : undefined;
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

function successes(operation: Operation) {
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, { description, schema }]) => [
      status,
      {
        description,
        headers: successHeaders(operation, Number(status)),
        content: { "application/json": { schema, example: exampleOf(schema, "output") } },
      },
    ]),
  );
}

/** One response for each status, which names every code that it can have. */
function refusals(operation: Operation) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOfOperation(operation)) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join(" "),
        headers: problemHeaders(status),
        content: {
          "application/problem+json": {
            schema: z.intersection(
              problemSchema,
              z.looseObject({ status: z.literal(status), code: z.enum(codes) }),
            ),
            examples: Object.fromEntries(
              codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]),
  );
}

function exampleProblem(code: ErrorCode, urls: { docs: string }) {
  const { title, status, what, retryable } = errorCatalogue[code];
  return {
    type: `${urls.docs}/errors/${code}`,
    title,
    status,
    code,
    detail: what,
    instance: "/v1/routing/programs/prg_demo/purchases",
    request_id: "req_abcdefghij234567abcd",
    retryable,
  };
}

function describeEvent(type: EventType): ZodOpenApiOperationObject {
  const { description } = eventTypes[type];
  const schema = eventSchemas[type];
  return {
    operationId: `on.${type}`,
    summary: description,
    description: `${description} Delivered by operation 14 to the pinned receiver, signed by Standard Webhooks.`,
    tags: ["Notifications"],
    security: [{ signed_event: [] }],
    requestParams: { header: webhookHeaders },
    requestBody: {
      required: true,
      content: { "application/json": { schema, example: exampleOf(schema, "output") } },
    },
    responses: {
      "2XX": { description: "Accepted; the notification is delivered." },
      "410": { description: "The receiver is gone; no further attempt is made." },
      default: { description: "Not accepted, redirects included; up to five attempts are made." },
    },
  };
}
