import { CommanderError } from "commander";
import { messageOf } from "../protocol/coded-error.ts";
import { createProgram } from "./program.ts";

/** Runs the command that this process was started with; a failure is reported in one sentence and by the exit code. */
export async function runCommandLine(): Promise<void> {
  process.stdout.on("error", noteUnwritten);
  // There is nowhere left to say it.
  process.stderr.on("error", () => {});
  // Node stops listening to signals before it writes its compile cache, unless the exit is asked for: a limit on the size of files would
  // end the process instead of being ignored.
  process.once("beforeExit", () => process.exit());
  try {
    await createProgram().exitOverride().parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      process.stderr.write(`${messageOf(error)}\n`);
      process.exitCode = 1;
    }
  }
}

/** The reader has gone, as behind `| head`: what was asked for is done anyway. Anything else, as a full disk, is a failure. */
function noteUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") return;
  process.stderr.write(`What this prints cannot be written: ${error.message}\n`);
  process.exitCode = 1;
}
