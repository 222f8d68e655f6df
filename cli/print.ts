import { causesOf, codeOf, firstError, isError, messageOf } from "../protocol/coded-error.ts";
import { isLostConnection } from "../sandbox/lib/errors/is-lost-connection.ts";
import { describeFileError } from "../server/lib/describe-file-error.ts";
import { forTerminal } from "../server/lib/escape-controls.ts";
import { inFlags } from "./flag-names.ts";

/** Prints the answer of a command: as one line of JSON with --json, otherwise as text. */
export function print(flags: { readonly json?: boolean | undefined }, answer: unknown, text: string): void {
  process.stdout.write(forTerminal(`${flags.json ? JSON.stringify(answer) : text}\n`));
}

/** Prints on standard error why a command has failed, and what to do. */
export function printFailure(error: unknown): void {
  process.stderr.write(forTerminal(`${describeFailure(firstError(error))}\n`));
}

function describeFailure(error: unknown): string {
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
