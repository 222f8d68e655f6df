import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { WebhookHeaders } from "../../protocol/signatures/webhook.ts";
import { redact } from "../../server/http/redact.ts";

/** The schema of a delivery as it arrived at a receiver. */
export const arrivalSchema = z
  .object({
    number: z.int().meta({ description: "Counts arrivals from 1." }),
    headers: z.record(z.string(), z.string()).meta({
      description: 'Lower-case names; a header that was sent more than once is joined with ", ".',
    }),
    body: z
      .string()
      .meta({ description: "The body as it arrived, as text. Verify this text, never the parsed body." }),
    verified: z.boolean().meta({
      description:
        "Whether its signature verifies against the current keys; false if they could not be read. Its time is not checked.",
    }),
    status: z.int().nullable().meta({
      description: "The status of the receiver's response; null if the connection was already closed.",
    }),
  })
  .meta({ id: "Arrival", description: "A delivery as it arrived at a receiver." });

/** One delivery as it arrived at a receiver. */
export type Arrival = z.output<typeof arrivalSchema>;

/** The headers of a request, each as one text, without the credentials that a client may send here. */
export function headersOf({ headers }: IncomingMessage): Arrival["headers"] {
  const entries = Object.entries(headers).map(([name, value = ""]) => [
    name,
    redact(Array.isArray(value) ? value.join(", ") : value),
  ]);
  return Object.fromEntries(entries);
}

/** The three headers that sign a delivery; empty where one is missing. */
export function webhookHeadersOf(headers: Arrival["headers"]): WebhookHeaders {
  return {
    "webhook-id": headers["webhook-id"] ?? "",
    "webhook-timestamp": headers["webhook-timestamp"] ?? "",
    "webhook-signature": headers["webhook-signature"] ?? "",
  };
}
