#!/usr/bin/env node
import { explainMissingViem } from "../sandbox/lib/processes/explain-missing-viem.ts";
import { keepCompiled } from "../sandbox/lib/processes/keep-compiled.ts";
import { explainOldNode } from "../sandbox/lib/processes/node-version.ts";

// An older Node cannot even load the commands.
const refusal = explainOldNode();
if (refusal === null) {
  // Before anything large is loaded: stripped and compiled sources are kept, which halves the time of the next start.
  keepCompiled();
  const loaded = await import("./command-line.ts").catch((error: unknown) => {
    const reason = explainMissingViem(error);
    if (reason === null) throw error;
    refuse(reason);
  });
  await loaded?.runCommandLine();
} else refuse(refusal);

function refuse(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}
