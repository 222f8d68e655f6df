/** Returns a text, cut to what fits into a terminal line. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
