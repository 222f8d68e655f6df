import { once } from "node:events";
import { isRunning, recordProcess, signalProcess } from "../../sandbox/lib/processes/processes.ts";
import { findAnvils } from "../sandbox/chain/anvil/find-anvil.ts";
import type { StartedSandbox } from "./started-sandbox.ts";

/** Which processes of a sandbox to kill. */
export type Victims = "Anvil" | "Anvil's guard" | "the program" | "all at once";

/** Kills processes of a running sandbox with SIGKILL and returns when its Anvil is gone, and the sandbox if it was to be. */
export async function kill(sandbox: StartedSandbox, victims: Victims): Promise<void> {
  const { pid } = sandbox.description;
  const [{ guard, anvil } = {}] = await findAnvils(pid);
  if (guard === undefined || anvil === undefined) throw new Error("The sandbox has no Anvil.");
  const left = recordProcess(anvil);
  const pids = {
    Anvil: [anvil],
    "Anvil's guard": [guard],
    "the program": [pid],
    "all at once": [pid, -guard],
  }[victims];
  // Stopped first, so that none sees another one's end.
  for (const signal of ["SIGSTOP", "SIGKILL"] as const)
    for (const victim of pids) signalProcess(victim, signal);
  if (pids.includes(pid)) await sandbox.end("SIGCONT");
  while (isRunning(left)) await once(AbortSignal.timeout(10), "abort");
}
