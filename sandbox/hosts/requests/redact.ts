/** Credentials and account keys, wherever they are written. */
const secrets = /\brs[ck]_[\w-]{20,}/g;

/**
 * Replaces the credentials and account keys in a text.
 *
 * @example redact("Bearer rsc_4vT…") // "Bearer rsc_redacted"
 */
export function redact(text: string): string {
  return text.replaceAll(secrets, (secret) => `${secret.slice(0, 4)}redacted`);
}
