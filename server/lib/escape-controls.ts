/**
 * Returns text of a contract without control characters, which a terminal would execute: each is replaced by its escape, as in `\u001b`.
 *
 * @example escapeControls("\u001b[2Jpaid") // "\\u001b[2Jpaid"
 */
export function escapeControls(text: string): string {
  return text.replaceAll(
    /\p{Cc}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
