import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { AbortController } from "../../protocol/globals.ts";
import type { Log } from "../../server/http/services.ts";
import { unwritable } from "../../server/store/directory/directory-store.ts";
import type { ClosingStack } from "../lib/closing-stack.ts";
import { wait } from "../lib/time/timers.ts";
import type { SandboxDescription } from "../options/description.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { StartDeadline } from "../options/start-deadline.ts";
import { type KeptSettings, keptRegistrar, requireSettings } from "./beginning.ts";
import { type DirectoryLock, lockDataDirectory, removeUnused } from "./lock.ts";
import { openJournal, type SandboxJournal } from "./open-journal.ts";
import { removeLoading } from "./place-state.ts";
import { publish, removePublished, unpublish } from "./sandbox-file.ts";

/** The data directory of a start, in its order; a sandbox in memory has one that does nothing. */
export interface DataDirectory {
  /**
   * Makes sure that the sandbox in it has the same settings, and opens its journal, or a new one; null in memory.
   *
   * @throws SandboxError data_directory_mismatch; StoreDamagedError, StoreUnavailableError.
   */
  openJournal(): Promise<SandboxJournal | null>;
  /** Writes `sandbox.json` and `.env`, and has them removed when the sandbox closes. */
  publish(description: SandboxDescription): Promise<void>;
  /** Has the start succeed: the directory no longer contains the sandbox that was there before. */
  keep(): Promise<void>;
  /** Writes `sandbox.json` and `.env` again. */
  republish(description: SandboxDescription): Promise<void>;
  /** Names the Anvil of the sandbox in the lock, so that the next start ends it if this process and Anvil's guard are killed. */
  nameAnvil(pid: number): Promise<void>;
  /** Resolves with the reason when this process no longer has the directory, and the sandbox cannot continue. */
  readonly lost: Promise<Error>;
}

/** The time between two looks at whether a running sandbox still has its data directory, in milliseconds. */
const lookMs = 1_000;

/**
 * Locks the data directory for this process. A directory that the start made is removed when the start fails.
 *
 * @throws SandboxError data_directory_in_use, start_timeout.
 */
export async function openDataDirectory(
  settings: SandboxSettings,
  opened: ClosingStack,
  deadline: StartDeadline,
): Promise<DataDirectory> {
  const { dataDirectory: directory } = settings;
  if (directory === undefined) return inMemory(deadline);
  const isNew = !existsSync(directory);
  let isStarted = false;
  let isHeld = false;
  let opening: SandboxJournal | null = null;
  opened.defer(async () => {
    if (isNew && !isStarted && isHeld) await rm(directory, { recursive: true, force: true });
  });
  const locking = lockDataDirectory(directory);
  const lock = await deadline.within("the lock of the data directory", locking, async (late) => {
    if ((await late.release()) && isNew) await removeUnused(directory);
  });
  opened.defer(async () => {
    isHeld = await lock.release();
  });
  await unpublish(directory);
  await removeLoading(directory);
  return {
    async openJournal() {
      const made = settingsToKeep(settings);
      if (!settings.fresh) await requireSettings(directory, made);
      const journal = await openLoggedJournal(directory, made, settings, lock);
      opening = journal;
      opened.defer(async () => {
        if (!isStarted && (await lock.isHeld())) await journal.undo();
      });
      opened.defer(async () => await journal.store.close());
      return journal;
    },
    async nameAnvil(pid) {
      await lock.nameAnvil(pid).catch((cause: unknown) => {
        throw unwritable(`The data directory ${directory}`, cause);
      });
    },
    async publish(description) {
      opened.defer(async () => {
        if (await lock.isHeld()) await removePublished(directory);
      });
      await publish(directory, description);
      deadline.signal.throwIfAborted();
    },
    async keep() {
      isStarted = true;
      if (opening === null) return;
      await opening.keep();
      opened.defer(look(opening, lock, settings.log));
    },
    async republish(description) {
      await lock.confirm();
      await publish(directory, description);
    },
    lost: lock.lost,
  };
}

function inMemory(deadline: StartDeadline): DataDirectory {
  return {
    async openJournal() {
      return null;
    },
    async publish() {
      deadline.signal.throwIfAborted();
    },
    async keep() {},
    async republish() {},
    async nameAnvil() {},
    lost: new Promise(() => {}),
  };
}

/** Looks again and again whether the sandbox still has its directory, and whether its files are as it has written them. Returns a function that ends that. */
function look(journal: SandboxJournal, lock: DirectoryLock, log: Log): () => Promise<void> {
  const stop = new AbortController();
  const looking = async () => {
    for (;;) {
      await wait(lookMs, stop.signal);
      if (stop.signal.aborted) return;
      try {
        await lock.confirm();
        if (await journal.repair())
          log.error({}, "files of the store were changed by another process, and are written again");
      } catch {
        // A disk that refuses this refuses the next write, too, which reports it.
      }
    }
  };
  void lock.lost.then((loss) => log.error({ causes: loss.message }, "the data directory is lost"));
  const ended = looking();
  return async () => {
    stop.abort();
    await ended;
  };
}

function settingsToKeep({ seed, mode, programs, contracts, store, network }: SandboxSettings): KeptSettings {
  return {
    version: 1,
    seed,
    mode,
    programs: [...programs],
    ...keptRegistrar(contracts),
    in_database: store !== undefined,
    ...(network === null ? {} : { epoch: network.deployment.epoch, records_id: randomUUID() }),
  };
}

/** Opens the journal, and logs if a write at its end was cut off, as by a power cut. */
async function openLoggedJournal(
  directory: string,
  made: KeptSettings,
  { fresh, log }: SandboxSettings,
  lock: DirectoryLock,
): Promise<SandboxJournal> {
  const journal = await openJournal(directory, made, fresh, lock);
  const { cutOffBytes: bytes } = journal.store;
  if (bytes > 0)
    log.error(
      { directory, bytes },
      "store.journal ended in a write that was cut off: it was never acknowledged, and is dropped",
    );
  return journal;
}
