import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi";
import { limitTexts } from "../http/limits.ts";
import { type EventType, eventTypes } from "../notifications/outbox/event-types.ts";
import { eventSchemas } from "../notifications/schemas.ts";
import { webhookHeaders } from "./headers.ts";

/** A receiver's responses to a delivery, by the names that webhooks refer to. */
export const deliveryResponses = {
  DeliveryAccepted: { description: "Accepted; the notification is delivered." },
  DeliveryGone: { description: "The receiver is gone; no further attempt is made." },
  DeliveryRefused: {
    description: `Not accepted (a redirect is not accepted either); up to ${limitTexts.delivery_attempts} are made.`,
  },
} satisfies { [name: string]: ZodOpenApiResponseObject };

/** Describes an event as the webhook that delivers it. */
export function describeEvent(type: EventType): ZodOpenApiOperationObject {
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
