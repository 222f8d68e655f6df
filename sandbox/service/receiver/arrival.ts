import type { IncomingMessage } from "node:http";
import type { WebhookHeaders } from "../../../protocol/signatures/webhook.ts";

/** One delivery as it arrived at a receiver. */
export interface Arrival {
  /** Counts arrivals from 1. */
  number: number;
  /** Lower-case names; a header that was sent more than once is joined with ", ". */
  headers: { [name: string]: string };
  /** The body as it came, as text; verify this, never what it parses to. */
  body: string;
  /** Whether its signature verifies against the current keys; the time is not judged here. */
  verified: boolean;
  /** The status that the receiver answered; null when the connection was gone before. */
  status: number | null;
}

/** The headers of a request, each as one text. */
export function headersOf({ headers }: IncomingMessage): Arrival["headers"] {
  const entries = Object.entries(headers).map(([name, value = ""]) => [
    name,
    Array.isArray(value) ? value.join(", ") : value,
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
