import { webhookTolerance } from "../../protocol/signatures/webhook.ts";

/** The limits of the service, as the specification gives them. */
export const limits = {
  /** POST bodies, in bytes. */
  body_bytes: 32 * 1024,
  idempotency_key_min: 8,
  idempotency_key_max: 100,
  /** Seven days. */
  credential_seconds: 7 * 86_400,
  delivery_attempts: 5,
  /** How far a signed event's timestamp may be from now. */
  event_tolerance_seconds: webhookTolerance,
  page_size_max: 100,
} as const;
