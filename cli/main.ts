#!/usr/bin/env node
import { keepCompiled } from "../sandbox/lib/processes/keep-compiled.ts";
import { explainOldNode } from "../sandbox/lib/processes/node-version.ts";

// An older Node cannot even load the commands.
const refusal = explainOldNode();
if (refusal === null) {
  // Before anything large is loaded: stripped and compiled sources are kept, which halves the time of the next start.
  keepCompiled();
  const { runCommandLine } = await import("./command-line.ts");
  await runCommandLine();
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
