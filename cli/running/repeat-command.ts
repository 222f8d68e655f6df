import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Terminal } from "../terminal.ts";
import { describeDifference, type RecordedRun, recordRun } from "./compare-runs.ts";
import { GuardedCommand } from "./guarded-command.ts";

/** The options of a command that runs several times. */
export interface RepeatFlags {
  readonly repeat?: number;
  readonly expectEqual?: boolean;
}

/** The exit code when the runs of a command differ. */
const differ = 1;

/**
 * Runs a command several times, each time from the state that the sandbox has now, until a run fails or differs.
 *
 * @param run - runs the command once, and returns its exit code.
 * @returns the exit code of the run that failed, 1 if a run differs from the first one, and otherwise 0.
 */
export async function repeatCommand(
  { stderr }: Terminal,
  sandbox: Sandbox,
  { repeat = 1, expectEqual = false }: RepeatFlags,
  run: (command: GuardedCommand) => Promise<number>,
): Promise<number> {
  const start = await sandbox.snapshot();
  let first: RecordedRun | undefined;
  for (let number = 1; number <= repeat; number += 1) {
    if (number > 1) await start.restore();
    const exitCode = await runOnce(run);
    if (exitCode !== 0) return exitCode;
    if (!expectEqual) continue;
    const recorded = await recordRun(sandbox.description.urls.control);
    first ??= recorded;
    const difference = describeDifference(first, recorded, number);
    if (difference === null) continue;
    stderr.write(`${difference}\n`);
    return differ;
  }
  if (first !== undefined) stderr.write(`${repeat} runs have the fingerprint ${first.digest}.\n`);
  return 0;
}

/** Runs the command, and ends the processes that it leaves in the background. */
async function runOnce(run: (command: GuardedCommand) => Promise<number>): Promise<number> {
  await using command = new GuardedCommand(null);
  return await run(command);
}
