import { escapeControls } from "../../../server/lib/escape-controls.ts";

/**
 * Returns an argument of a call, an error or an event in at most 44 characters, none of them a control character.
 *
 * @example shortenArgument("25000000") // "25000000"
 */
export function shortenArgument(value: unknown): string {
  const text = escapeControls(typeof value === "string" ? value : String(JSON.stringify(value)));
  return text.length <= 44 ? text : `${text.slice(0, 20)}…${text.slice(-8)}`;
}
