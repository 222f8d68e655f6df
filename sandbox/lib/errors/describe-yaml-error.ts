import { messageOf } from "../../../protocol/coded-error.ts";

/**
 * Says what is wrong with a YAML text, in words that its author can act on.
 *
 * @param thrown - the error of the library yaml, whose further lines quote the text.
 * @example describeYamlError(document.errors[0]) // "Nested mappings are not allowed in compact mappings at line 1, column 4"
 */
export function describeYamlError(thrown: unknown): string {
  const [reason = ""] = messageOf(thrown).split(/:?\n/);
  if (reason.startsWith("Maximum call stack")) return "it has too many levels";
  if (reason.startsWith("Excessive alias count"))
    return "its aliases (*name) stand for too many values; write the values out";
  return reason;
}
