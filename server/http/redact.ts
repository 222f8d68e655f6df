import { hash } from "node:crypto";

/** A text of the characters that secrets have, which may be percent-encoded. */
const words = /(?:[\w-]|%[2-7][0-9a-f])+/gi;
/** A text without this has no secret; a trace of many megabytes is then searched once. */
const hint = /rs[ck]_|%/i;
/** Credentials and account keys. */
const secrets = /rs[ck]_[\w-]{20,}/g;

/**
 * Replaces the credentials and account keys in a text, percent-encoded ones too, by the beginning of their SHA-256, so that equal ones can be
 * recognized.
 *
 * @example redact("Bearer rsc_4vT…") // "Bearer rsc_redacted_9f86d081"
 */
export function redact(text: string): string {
  if (!hint.test(text)) return text;
  return text.replaceAll(words, (word) => {
    const plain = word.replaceAll(/%(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
    const shown = plain.replaceAll(
      secrets,
      (secret) => `${secret.slice(0, 4)}redacted_${hash("sha256", secret).slice(0, 8)}`,
    );
    return shown === plain ? word : shown;
  });
}
