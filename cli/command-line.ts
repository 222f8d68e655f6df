import { CommanderError } from "commander";
import { messageOf } from "../protocol/coded-error.ts";
import { inFlags } from "./flag-names.ts";
import { createProgram } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** Runs the command of this process. */
export async function runCommandLine(): Promise<void> {
  process.stdout.on("error", noteUnwritten);
  // An error of stderr cannot be reported anywhere.
  process.stderr.on("error", () => {});
  // Node stops listening to signals before it writes its compile cache, unless the exit is asked for: a limit on the size of files would
  // end the process instead of being ignored.
  process.once("beforeExit", () => process.exit());
  await runCommand(process, process.argv.slice(2));
}

/** Runs a command. A failure is reported on stderr and by the exit code. */
export async function runCommand(terminal: Terminal, words: readonly string[]): Promise<void> {
  try {
    await createProgram(terminal).parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) terminal.exitCode = error.exitCode;
    else {
      terminal.stderr.write(`${isLost(error) ? lost : inFlags(messageOf(error))}\n`);
      terminal.exitCode = error instanceof Error && "exitCode" in error ? Number(error.exitCode) : 1;
    }
  }
}

const lost =
  "The sandbox ended, or closed the connection, before its response was complete. See routing-sandbox status, and run the command again if it has not taken effect.";

/** Returns whether a connection was lost: fetch throws a TypeError, with its cause. */
function isLost(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof Error;
}

/** Ignores that the reader of stdout has gone, as with `| head`. Any other error, such as a full disk, is a failure. */
function noteUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exitCode = 1;
}
