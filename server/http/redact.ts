import { hash } from "node:crypto";

/** A text of the characters that secrets have, which may be percent-encoded, or escapes of JSON, also of JSON in a text of JSON. */
const words = /(?:[\w-]|%[2-7][0-9a-f]|(?<!\\)\\{1,8}u00[2-7][0-9a-f])+/gi;
/** A character of such a text that is encoded. */
const encoded = /(?:%|\\+u00)(..)/gi;
/** A text without this has no secret; a trace of many megabytes is then searched once. */
const hint = /rs[ck]_|%|\\u00/i;
/** Credentials and account keys. */
const secrets = /rs[ck]_[\w-]{20,}/g;

/**
 * Replaces the credentials and account keys in a text, encoded ones too, by the beginning of their SHA-256, so that equal ones can be
 * recognized.
 *
 * @example redact("Bearer rsc_4vT…") // "Bearer rsc_redacted_9f86d081"
 */
export function redact(text: string): string {
  if (!hint.test(text)) return text;
  return text.replaceAll(words, (word) => {
    const plain = word.replaceAll(encoded, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
    const shown = plain.replaceAll(
      secrets,
      (secret) => `${secret.slice(0, 4)}redacted_${hash("sha256", secret).slice(0, 8)}`,
    );
    return shown === plain ? word : shown;
  });
}
