import { signalProcess } from "../../lib/processes/processes.ts";
import { endsWithin } from "../../lib/time/deadline.ts";
import { AnvilError } from "./anvil-error.ts";
import type { AnvilExit } from "./anvil-output.ts";

const stopDeadlineMs = 5_000;

/** Ends an Anvil that does not listen yet. */
export async function discardAnvil(
  guardNamed: Promise<RegExpExecArray>,
  exited: Promise<AnvilExit>,
): Promise<void> {
  // Named within milliseconds; without it there is no process.
  if (!(await endsWithin(guardNamed, stopDeadlineMs))) return;
  const [, guard = 0] = (await guardNamed).map(Number);
  signalProcess(guard, "SIGTERM");
  if (!(await endsWithin(exited, stopDeadlineMs))) signalProcess(-guard, "SIGKILL");
  await exited;
}

/**
 * Ends an Anvil and its guard.
 *
 * @throws AnvilError `stop_failed` when they do not end in time.
 */
export async function stopAnvil(anvil: {
  pid: number;
  guardPid: number;
  exited: Promise<AnvilExit>;
}): Promise<void> {
  const { pid, guardPid, exited } = anvil;
  runAnvil(guardPid);
  signalProcess(guardPid, "SIGTERM");
  const inTime = await endsWithin(exited, stopDeadlineMs);
  // Also when the guard was killed alone: Anvil is in its group.
  signalProcess(-guardPid, "SIGKILL");
  if (inTime) return;
  throw new AnvilError(
    "stop_failed",
    `Anvil (process ${pid}) did not end within ${stopDeadlineMs / 1_000} s and was killed.`,
  );
}

/** Lets an Anvil run on if something has stopped it (SIGSTOP). */
export function runAnvil(guardPid: number): void {
  signalProcess(-guardPid, "SIGCONT");
}
