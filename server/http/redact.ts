import { hash } from "node:crypto";

/** Credentials and account keys, wherever they are written. */
const secrets = /rs[ck]_[\w-]{20,}/g;

/**
 * Replaces the credentials and account keys in a text by the beginning of their SHA-256, so that equal ones can be recognized.
 *
 * @example redact("Bearer rsc_4vT…") // "Bearer rsc_redacted_9f86d081"
 */
export function redact(text: string): string {
  return text.replaceAll(
    secrets,
    (secret) => `${secret.slice(0, 4)}redacted_${hash("sha256", secret).slice(0, 8)}`,
  );
}

/**
 * Replaces the credentials and account keys in the path of a request as {@link redact} does, percent-encoded ones too.
 *
 * @example redactPath("/wallet/rsc%5f4vT…") // "/wallet/rsc_redacted_9f86d081"
 */
export function redactPath(path: string): string {
  try {
    const decoded = decodeURIComponent(path);
    const redacted = redact(decoded);
    return redacted === decoded ? path : redacted;
  } catch {
    return redact(path);
  }
}
