import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { toJson } from "../../protocol/values/json.ts";
import { openFile } from "../../server/lib/file-kind.ts";
import { replaceFile } from "../../server/lib/replace-file.ts";
import { restoreAdvice, StoreDamagedError } from "../../server/store/directory/checked-lines.ts";
import { smallestCompaction } from "../../server/store/directory/compacted-journal.ts";
import { newDirectoryStore, openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import { lengthOf } from "../../server/store/directory/journal-file.ts";
import { readable } from "../../server/store/directory/store-files.ts";
import type { JournaledStore } from "../../server/store/journaled/journaled-store.ts";
import { dumpChain } from "../chain/client/dump-chain.ts";
import type { ChainJournal } from "../chain/journal/chain-journal.ts";
import type { ChainHistory, ChainNode } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import {
  type Beginning,
  beginning,
  journalIn,
  type KeptSettings,
  parseBeginning,
  readBeginning,
  removeFirstVersion,
  stateIn,
} from "./beginning.ts";
import { digestOf, findCheckpoint, removeOthers, writeState } from "./checkpoint-files.ts";
import type { DirectoryLock } from "./lock.ts";

/** The journal of a data directory, in which chain and records are kept. */
export interface SandboxJournal {
  store: JournaledStore;
  /** Whether it has records of an earlier start. */
  resumed: boolean;
  /** Tells these records from earlier ones about the chain of the same node; empty on its own chain. */
  recordsId: string;
  /** The chain to continue with; null for a new sandbox, and for one whose chain is a node's. */
  kept: Omit<ChainHistory, "made"> | null;
  /** Stores a new sandbox from now on and replaces the old content atomically. */
  begin(chain: ChainNode): Promise<void>;
  /** Removes the content that was replaced; called when the start has succeeded. */
  keep(): Promise<void>;
  /** Puts the content back that was replaced; called with the store closed, when the start fails. */
  undo(): Promise<void>;
  /** Finds what the chain can be made again from now. @throws StoreDamagedError */
  latest(): Promise<Pick<ChainHistory, "stateFile" | "changes" | "checkpoint">>;
  /**
   * Writes the chain's state, so that the next start makes only the blocks behind it again. One that cannot be written changes nothing.
   *
   * @throws StoreUnavailableError, and what the disk or Anvil says.
   */
  checkpoint(chain: Pick<ChainNode, "client">, source: ChainJournal): Promise<void>;
  /**
   * Writes the files again that another process has changed or removed.
   *
   * @returns whether there were any.
   * @throws StoreUnavailableError
   */
  repair(): Promise<boolean>;
}

/** The longest state that is kept in memory so that it can be written again, in bytes: that of a new chain has a sixth of it. */
export const mostKeptBytes = 8 * 2 ** 20;

/**
 * Opens the journal of a data directory, or a new one, which takes its place once it is begun.
 *
 * @throws StoreDamagedError, StoreUnavailableError.
 */
export async function openJournal(
  directory: string,
  settings: KeptSettings,
  fresh: boolean,
  lock: DirectoryLock,
): Promise<SandboxJournal> {
  const begun = fresh ? null : await readBeginning(directory);
  if (begun === null) return await newJournal(directory, settings, lock);
  const state = begun.state === null ? null : await readShort(await requireState(directory, begun));
  const confirm = async () => await lock.confirm();
  const store = await openDirectoryStore(journalIn(directory), smallestCompaction, confirm);
  lock.follow({ directory: journalIn(directory), isUntouched: () => store.isUntouched });
  const parts = { ...checkpointing(directory, store, lock), ...repairing(directory, store, () => state) };
  const kept = begun.chain === null ? null : { ...begun.chain, ...(await parts.latest()) };
  const recordsId = begun.settings.records_id ?? "";
  return {
    store,
    recordsId,
    kept,
    resumed: true,
    async begin() {},
    async keep() {},
    async undo() {},
    ...parts,
  };
}

/**
 * Makes sure that a journal has the state that its chain came from.
 *
 * @returns where that is.
 * @throws StoreDamagedError
 */
export async function requireState(directory: string, begun: Beginning): Promise<string> {
  if (begun.state === null)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} has the records of a chain that a node serves, and no chain. Start it with the option network.`,
    );
  const file = stateIn(readable(journalIn(directory)));
  const digest = await digestOf(file);
  if (digest === begun.state) return file;
  const what = digest === null ? "is missing" : "does not match its checksum";
  throw new StoreDamagedError(`${file} ${what}: it is the state that the chain came from. ${restoreAdvice}`);
}

function checkpointing(
  directory: string,
  store: JournaledStore,
  lock: DirectoryLock,
): Pick<SandboxJournal, "latest" | "checkpoint"> {
  return {
    async latest() {
      const begun = parseBeginning(directory, store.begin);
      const stateFile = await requireState(directory, begun);
      const changes = store.chain;
      return { stateFile, changes, checkpoint: await findCheckpoint(journalIn(directory), changes) };
    },
    async checkpoint({ client }, source) {
      const written = await source.checkpoint(async () => {
        const state = await dumpChain(client, false);
        await lock.confirm();
        return await writeState(journalIn(directory), state);
      });
      if (written === null) return;
      await store.recordChain();
      await removeOthers(journalIn(directory), written.state);
    },
  };
}

/** @param state - returns the state that the chain came from; null if it is too long to be kept. */
function repairing(
  directory: string,
  store: JournaledStore,
  state: () => Uint8Array | null,
): Pick<SandboxJournal, "repair"> {
  const file = stateIn(journalIn(directory));
  return {
    async repair() {
      const kept = state();
      const isChanged = kept !== null && lengthOf(file) !== kept.length;
      if (isChanged) await replaceFile(file, kept);
      const { isBroken } = store;
      if (isBroken) await store.recordChain();
      return isChanged || isBroken;
    },
  };
}

async function readShort(file: string): Promise<Uint8Array | null> {
  return (lengthOf(file) ?? 0) > mostKeptBytes ? null : await readFile(file);
}

async function newJournal(
  directory: string,
  settings: KeptSettings,
  lock: DirectoryLock,
): Promise<SandboxJournal> {
  const journal = journalIn(directory);
  const confirm = async () => await lock.confirm();
  const { store, begin, keep, undo } = await newDirectoryStore(journal, smallestCompaction, confirm);
  let kept: Uint8Array | null = null;
  return {
    store,
    async undo() {
      lock.follow(null);
      await undo();
    },
    async keep() {
      await keep();
      // The new sandbox is there, whatever becomes of the old files.
      await removeFirstVersion(directory).catch(() => undefined);
    },
    ...checkpointing(directory, store, lock),
    ...repairing(directory, store, () => kept),
    recordsId: settings.records_id ?? "",
    kept: null,
    resumed: false,
    async begin(chain) {
      const state = chain.isOwn ? await readFile(chain.stateFile) : null;
      const { deployment, accounts } = chain;
      const content =
        state === null
          ? { settings, chain: null, state: null }
          : { settings, chain: { deployment, accounts }, state: hash("sha256", state) };
      await begin(toJson(z.encode(beginning, content)), async (folder) => {
        if (state === null) return;
        // The folder gets its name only once everything in it is on disk, so this file need not replace another one.
        await using file = await openFile(stateIn(folder), "w", 0o600);
        await file.writeFile(state);
        await file.sync();
      });
      kept = state === null || state.length > mostKeptBytes ? null : state;
      lock.follow({ directory: journal, isUntouched: () => store.isUntouched });
    },
  };
}
