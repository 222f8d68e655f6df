import { webhookTolerance } from "../../protocol/signatures/webhook.ts";
import { maxDeliveryAttempts } from "../outbox/delivery-attempts.ts";

/** The limits of the service, as the specification gives them. */
export const limits = {
  /** POST bodies, in bytes. */
  body_bytes: 32 * 1024,
  idempotency_key_min: 8,
  idempotency_key_max: 100,
  /** Seven days. */
  credential_seconds: 7 * 86_400,
  delivery_attempts: maxDeliveryAttempts,
  /** The largest difference between a signed event's timestamp and now. */
  event_tolerance_seconds: webhookTolerance,
  page_size_max: 100,
} as const;

/** The limits as prose names them, by the names that pages use. */
export const limitTexts = {
  body_size: `${limits.body_bytes / 1_024} KiB`,
  body_bytes: `${limits.body_bytes.toLocaleString("en-US")} bytes`,
  page_size_max: String(limits.page_size_max),
  idempotency_key_length: `${limits.idempotency_key_min} to ${limits.idempotency_key_max}`,
  credential_lifetime: `${limits.credential_seconds / 86_400} days`,
  delivery_attempts: `${limits.delivery_attempts} attempts`,
  event_tolerance: `${limits.event_tolerance_seconds} seconds`,
};

/** The number of items in a list when the caller gives none. */
export const defaultPageSize = 20;
