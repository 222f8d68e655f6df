import { open, readFile, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { renameFile } from "../../../server/replace-file.ts";
import { findProcess, signalProcess } from "../../lib/processes.ts";
import { AnvilError } from "./anvil-error.ts";
import { readGuardRecord } from "./guard-record.ts";

const SETTLE_DEADLINE_MS = 30_000;
const POLL_MS = 20;

/** Where the guard names the processes that keep the chain in `stateFile`. */
export function recordFileOf(stateFile: string): string {
  return `${stateFile}.pid`;
}

/** Present from the moment in which a run's chain may be written to: before that, an end without a dump loses nothing. */
export function usedFileOf(stateFile: string): string {
  return `${stateFile}.used`;
}

/** Where Anvil dumps its state on exit, to become `stateFile` once it is known to be whole. */
export function dumpFileOf(stateFile: string): string {
  return `${stateFile}.next`;
}

/**
 * Brings a state file to rest after whatever happened to the last run: waits for (or ends) an Anvil that its parent left
 * behind, and takes over the state that it wrote. Returns whether there is a saved chain.
 *
 * @param signal - ends the wait early.
 * @throws AnvilError `state_in_use` while a living sandbox keeps its chain there, `stop_failed` when a left-over Anvil does not
 * end within 30 s, `state_lost` when the last run ended without writing its chain whole.
 * @example
 * const saved = await settleStateFile("/data/chain/state.json");
 */
export async function settleStateFile(stateFile: string, signal?: AbortSignal): Promise<boolean> {
  const record = await readGuardRecord(recordFileOf(stateFile));
  if (record !== undefined) {
    const guard = await findOurs(record.guardPid, stateFile);
    if (guard?.parentPid === record.ownerPid) {
      throw new AnvilError(
        "state_in_use",
        `Process ${record.ownerPid} is running on the chain in ${stateFile}; stop it, or use another data directory.`,
      );
    }
    // The guard ends Anvil by itself; Anvil alone has lost its guard and must be asked.
    if (guard === undefined && (await findOurs(record.anvilPid, stateFile)) !== undefined) {
      signalProcess(record.anvilPid, "SIGTERM");
      // A stopped process handles no other signal.
      signalProcess(record.anvilPid, "SIGCONT");
    }
    await untilGone([record.guardPid, record.anvilPid], stateFile, signal);
  }
  const adopted = await adoptDump(stateFile);
  const ended = (await readGuardRecord(recordFileOf(stateFile))) === undefined;
  if (!adopted && !ended && (await exists(usedFileOf(stateFile)))) {
    throw new AnvilError(
      "state_lost",
      `Anvil was killed before it could save the chain in ${stateFile}; start with --fresh to begin anew.`,
    );
  }
  return await exists(stateFile);
}

/**
 * Makes the state that Anvil dumped on exit the saved one, if there is such a dump and it is whole. Returns whether it did.
 *
 * @throws AnvilError `state_lost` when the dump is torn.
 */
export async function adoptDump(stateFile: string): Promise<boolean> {
  const dump = dumpFileOf(stateFile);
  if (!(await exists(dump))) return false;
  try {
    JSON.parse(await readFile(dump, "utf8"));
  } catch (cause) {
    // Anvil exits with 0 even when the disk was full, so only the content tells.
    throw new AnvilError(
      "state_lost",
      `Anvil could not write the chain whole to ${dump} (is the disk full?); free some space and start with --fresh to begin anew.`,
      { cause },
    );
  }
  await using file = await open(dump, "r+");
  await file.sync();
  await renameFile(dump, stateFile);
  return true;
}

async function findOurs(pid: number, stateFile: string) {
  const found = await findProcess(pid);
  // A process id is reused sooner or later; the command line names the dump file of exactly this chain.
  return found?.command.includes(dumpFileOf(stateFile)) === true ? found : undefined;
}

async function untilGone(
  pids: readonly number[],
  stateFile: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = performance.now() + SETTLE_DEADLINE_MS;
  for (const pid of pids) {
    while ((await findOurs(pid, stateFile)) !== undefined) {
      if (performance.now() > deadline) {
        throw new AnvilError(
          "stop_failed",
          `Process ${pid}, left by an earlier run on ${stateFile}, does not end; end it and start again.`,
        );
      }
      await pause(POLL_MS, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}
