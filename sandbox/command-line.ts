import { CommanderError } from "commander";
import { createProgram } from "./program.ts";

try {
  await createProgram().exitOverride().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
