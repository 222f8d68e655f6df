/** A text encoding of bytes, such as base64 of @scure/base. */
interface Encoding {
  encode(bytes: Uint8Array): string;
  decode(text: string): Uint8Array;
}

/**
 * Decodes a text that is the one encoding of its bytes.
 *
 * A lenient decoder accepts several texts for one signature, so that a used one could come back in disguise.
 *
 * @returns null for anything else: other alphabet, white space, missing padding, stray bits in the last character.
 * @example decodeExact(base64urlnopad, "AQ") // Uint8Array [1]; "AR" is null
 */
export function decodeExact(encoding: Encoding, text: string): Uint8Array | null {
  try {
    const bytes = encoding.decode(text);
    return encoding.encode(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}
