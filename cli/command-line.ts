import { CommanderError } from "commander";
import { isError } from "../protocol/coded-error.ts";
import { printFailure } from "./print.ts";
import { createProgram } from "./program.ts";

/** Runs the command of this process. A failure is reported on stderr and by the exit code. */
export async function runCommandLine(): Promise<void> {
  process.stdout.on("error", noteUnwritten);
  // An error of stderr cannot be reported anywhere.
  process.stderr.on("error", () => {});
  try {
    await createProgram().exitOverride().parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      printFailure(error);
      process.exitCode = isError(error) && "exitCode" in error ? Number(error.exitCode) : 1;
    }
  }
}

/** Ignores that the reader of stdout has gone, as with `| head`. Any other error, such as a full disk, is a failure. */
function noteUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exitCode = 1;
}
