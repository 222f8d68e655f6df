import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { edgeCodes } from "../errors/codes-of-operation.ts";
import { limitTexts } from "../http/limits.ts";
import type { Operation } from "../http/operation.ts";
import { apiVersion } from "../http/versions.ts";
import { type EventType, eventTypeNames, eventTypes } from "../notifications/outbox/event-types.ts";
import { eventSchemas } from "../notifications/schemas.ts";
import {
  deliveryParameters,
  describeOperation,
  type OperationParts,
  sharedParameters,
  tags,
} from "./describe-operation.ts";
import { RefusalResponses } from "./describe-refusals.ts";
import { exampleAnswers } from "./examples/example-answers.ts";
import { requestExamples } from "./examples/request-examples.generated.ts";
import { answerHeaders, webhookHeaders } from "./headers.ts";
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
  const refusals = new RefusalResponses(operations);
  const answers = exampleAnswers(operations);
  const parts: OperationParts = { refusals, answers };
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describeOperation(operation, parts),
    };
  const description = {
    openapi: "3.1.0",
    info: {
      title: "Routing sandbox API",
      version: apiVersion,
      summary: "Test-stablecoin commerce on a local chain.",
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
        credential: {
          type: "http",
          scheme: "bearer",
          description:
            "A credential that `POST …/access` has issued. The security requirement names its scope.",
        },
        account_key: {
          type: "http",
          scheme: "bearer",
          description: "An account's key, which only issues credentials.",
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
    "Merchants enroll. Purchases are signed, paid, claimed, decided and refunded with a test stablecoin on a local chain. " +
      `The guide is at ${urls.docs}/portal/docs.md; every error code has a page under ${urls.docs}/errors.`,
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
