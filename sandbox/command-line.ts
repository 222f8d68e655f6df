import { CommanderError } from "commander";
import { createProgram } from "./program.ts";

/** Runs the command that this process was started with; a failure is told in one sentence and by the exit code. */
export async function runCommandLine(): Promise<void> {
  try {
    await createProgram().exitOverride().parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    }
  }
}
