import { webhookTolerance } from "../protocol/signatures/webhook.ts";
import { amountDigits } from "../protocol/values/amount.ts";

/** A day in seconds. */
export const day = 86_400;

/** The seconds from now until each deadline of a purchase, and until the end of a merchant's funding, when the body names none. */
export const defaultPeriods = {
  offer_deadline: day,
  pay_deadline: 7 * day,
  claim_deadline: 30 * day,
  funding_valid_until: 365 * day,
} as const;

/** The limits of the service, as the specification gives them. */
export const limits = {
  /** POST bodies, in bytes. */
  body_bytes: 32 * 1024,
  idempotency_key_min: 8,
  idempotency_key_max: 100,
  credential_seconds: 7 * day,
  /** The greatest number of attempts to deliver a notification. */
  delivery_attempts: 5,
  /** The largest difference between a signed event's timestamp and now. */
  event_tolerance_seconds: webhookTolerance,
  page_size_max: 100,
} as const;

/** The most bytes of the request line and the headers of a request together. */
export const headerBytes = 16 * 1_024;

/** The most characters of a text in a body, by its field. */
export const textLengths = { name: 100, reference: 100, reason: 2_000, reviewer_key_id: 100 } as const;

/** The limits as prose names them, by the names that pages use. */
export const limitTexts = {
  amount_digits: `${amountDigits} digits`,
  body_size: `${limits.body_bytes / 1_024} KiB`,
  body_bytes: `${limits.body_bytes.toLocaleString("en-US")} bytes`,
  page_size_max: String(limits.page_size_max),
  idempotency_key_length: `${limits.idempotency_key_min} to ${limits.idempotency_key_max}`,
  credential_lifetime: days(limits.credential_seconds),
  delivery_attempts: `${limits.delivery_attempts} attempts`,
  event_tolerance: `${limits.event_tolerance_seconds} seconds`,
  headers_size: `${headerBytes / 1_024} KiB`,
  offer_deadline: days(defaultPeriods.offer_deadline),
  pay_deadline: days(defaultPeriods.pay_deadline),
  claim_deadline: days(defaultPeriods.claim_deadline),
  funding_validity: days(defaultPeriods.funding_valid_until),
};

/** The number of items in a list when the caller gives none. */
export const defaultPageSize = 20;

function days(seconds: number): string {
  const count = seconds / day;
  return `${count} ${count === 1 ? "day" : "days"}`;
}
