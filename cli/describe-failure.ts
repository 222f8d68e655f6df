import { causesOf, codeOf, firstError, isError, messageOf } from "../protocol/coded-error.ts";
import { isLostConnection } from "../sandbox/lib/errors/is-lost-connection.ts";
import { describeFileError } from "../server/lib/describe-file-error.ts";
import { inFlags } from "./flag-names.ts";

/**
 * Says why a command has failed, and what to do.
 *
 * @example terminal.stderr.write(`${describeFailure(error)}\n`)
 */
export function describeFailure(thrown: unknown): string {
  const error = firstError(thrown);
  // A lost connection has a cause, which other errors of the same name do not have.
  if (isLostConnection(error) && isError(error.cause))
    return "The sandbox ended, or closed the connection, before its response was complete. See routing-sandbox status, and run the command again if it has not taken effect.";
  if (Reflect.get(Object(error), "syscall") === "uv_cwd")
    return "The current folder was removed. Change to another folder, and run the command again.";
  const limit = causesOf(error).find((cause) => ["EMFILE", "ENFILE"].includes(codeOf(cause) ?? ""));
  if (limit !== undefined)
    return `The command cannot continue: ${describeFileError(limit)}. Allow more of them (ulimit -n), and run the command again.`;
  return inFlags(messageOf(error));
}
