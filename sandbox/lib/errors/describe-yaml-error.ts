import { messageOf } from "../../../protocol/coded-error.ts";

/**
 * Says what is wrong with a YAML text, and where, in words that its author can act on.
 *
 * The text must be parsed without `prettyErrors`: the library finds the place of each of thousands of errors from the beginning of the text.
 *
 * @param thrown - the error of the library yaml.
 * @param lines - finds the line of an offset: the `lineCounter` that the text was parsed with.
 * @example describeYamlError(document.errors[0], lineCounter) // "Nested mappings are not allowed in compact mappings at line 1, column 4"
 */
export function describeYamlError(
  thrown: unknown,
  lines: { linePos(offset: number): { line: number; col: number } },
): string {
  const message = messageOf(thrown);
  if (message.startsWith("Maximum call stack")) return "it has too many levels";
  const reason = describeReason(message);
  const [offset]: unknown[] = [Reflect.get(Object(thrown), "pos")].flat();
  if (typeof offset !== "number") return reason;
  const { line, col } = lines.linePos(offset);
  return `${reason} at line ${line}, column ${col}`;
}

function describeReason(message: string): string {
  if (message.startsWith("Excessive alias count"))
    return "its aliases (*name) stand for too many values; write the values out";
  if (message.startsWith("Source contains multiple documents"))
    return "it has several documents, where one is read; it begins again";
  return message;
}
