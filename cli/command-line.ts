import { CommanderError } from "commander";
import { isError } from "../protocol/coded-error.ts";
import { describeFailure } from "./describe-failure.ts";
import { createProgram } from "./program.ts";
import { escaping, type Terminal } from "./terminal.ts";

/** Runs the command of this process. */
export async function runCommandLine(): Promise<void> {
  process.stdout.on("error", noteUnwritten);
  // An error of stderr cannot be reported anywhere.
  process.stderr.on("error", () => {});
  await runCommand(process, process.argv.slice(2));
}

/** Runs a command. A failure is reported on stderr and by the exit code. */
export async function runCommand(unescaped: Terminal, words: readonly string[]): Promise<void> {
  const terminal = escaping(unescaped);
  try {
    await createProgram(terminal).parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) terminal.exitCode = error.exitCode;
    else {
      terminal.stderr.write(`${describeFailure(error)}\n`);
      terminal.exitCode = isError(error) && "exitCode" in error ? Number(error.exitCode) : 1;
    }
  }
}

/** Ignores that the reader of stdout has gone, as with `| head`. Any other error, such as a full disk, is a failure. */
function noteUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exitCode = 1;
}
