import { limits } from "../api/limits.ts";
import { maximumDepth } from "../http/request/parse-json.ts";

/** The limits of the service as prose names them, by the names that pages use. */
export function limitValues() {
  return {
    body_size: `${limits.body_bytes / 1_024} KiB`,
    body_bytes: `${limits.body_bytes.toLocaleString("en-US")} bytes`,
    body_levels: `${maximumDepth} levels`,
    page_size_max: String(limits.page_size_max),
    idempotency_key_length: `${limits.idempotency_key_min} to ${limits.idempotency_key_max}`,
    credential_lifetime: `${limits.credential_seconds / 86_400} days`,
    delivery_attempts: `${limits.delivery_attempts} attempts`,
    event_tolerance: `${limits.event_tolerance_seconds} seconds`,
  };
}
