/** Controls of both sets, characters without a form (directions of writing, joiners, soft hyphens), separators of lines, halves of pairs, and what XML cannot have. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\ufffe\uffff]/gu;

/** ESC. */
const esc = String.fromCharCode(27);

/**
 * The controls that the sandbox itself writes to a terminal between its words: line feeds, tabs, the colors and weights of `styleText`, and, at the
 * beginning, those that replace the line of a progress.
 */
const ownControls = new RegExp(`(^\\r${esc}\\[K|\\n|\\t|${esc}\\[(?:1|2|7|22|27|3[1-6]|39)m)`);

/**
 * Returns text of others (a contract, a client, a file) on one line and without characters that a terminal would execute or not show: each is
 * replaced by its escape, as in `\u001b`.
 *
 * @example escapeControls("\u001b[2Jpaid") // "\\u001b[2Jpaid"
 */
export function escapeControls(text: string): string {
  return text.replaceAll(invisible, (found) =>
    Array.from(found.split(""), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** Returns text of others as {@link escapeControls} does, but keeps its lines. */
export function escapeLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}

/**
 * Returns the output of a command, in which text of others may be, as a terminal can show it: as {@link escapeControls} does, but with lines, tabs
 * and colors. JSON keeps its value.
 */
export function forTerminal(output: string): string {
  return output
    .split(ownControls)
    .map((part, index) => (index % 2 === 1 ? part : escapeControls(part)))
    .join("");
}

/** Returns a text as it is written in HTML and XML, between tags or in a quoted attribute. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
