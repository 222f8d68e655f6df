import { existsSync } from "node:fs";
import { rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, isError } from "../../../protocol/coded-error.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { describeFileError } from "../../lib/describe-file-error.ts";
import { makeDirectory } from "../../lib/make-directory.ts";
import { renameFile, syncDirectory } from "../../lib/replace-file.ts";
import { JournaledStore, type LoadedStore, openEphemeralStore } from "../journaled/journaled-store.ts";
import { type StoreImage, StoreUnavailableError } from "../store.ts";
import { emptyContents, type StoreContents } from "../tables/store-contents.ts";
import { CompactedJournal, type Confirm, smallestCompaction } from "./compacted-journal.ts";
import { type JournalEnd, readJournal } from "./journal-file.ts";
import {
  filesOf,
  holdsStore,
  isBeingReplaced,
  nextOf,
  oldOf,
  readable,
  requireJournal,
  requireReplaceable,
} from "./store-files.ts";
import { readBegin, readStoreSnapshot, writeStoreSnapshot } from "./store-snapshot.ts";

/**
 * Opens the JSON store of a data directory: `store.json`, the snapshot that lowdb keeps, and `store.journal`, one committed batch a
 * line.
 *
 * A torn last line of the journal is dropped, and `cutOffBytes` of the store has its length; any other damage, and any other format, stops
 * with a sentence that names file and line, and nothing is changed.
 *
 * @param compactAbove - how many bytes of journal are compacted into the snapshot in the background; never fewer than twice the
 * snapshot's, so that a write costs what it changes however much there is.
 * @param confirm - called before and after each write: the write is refused if it rejects.
 *
 * @throws StoreDamagedError; StoreUnavailableError when the disk refuses.
 */
export async function openDirectoryStore(
  directory: string,
  compactAbove = smallestCompaction,
  confirm: Confirm = async () => {},
): Promise<JournaledStore> {
  try {
    return await openIn(directory, compactAbove, confirm);
  } catch (cause) {
    throw unwritable(`The store in ${directory}`, cause);
  }
}

async function openIn(directory: string, compactAbove: number, confirm: Confirm): Promise<JournaledStore> {
  const isNew = !(await holdsStore(directory));
  await finishReplacement(directory);
  // The store is whole without them.
  await removeReplaced(directory).catch(() => undefined);
  await makeDirectory(directory);
  const { end, isOlder, ...loaded } = await load(directory, isNew);
  const durability = await CompactedJournal.open(directory, end, compactAbove, confirm);
  if (isNew) await durability.replace(emptyContents);
  const store = new JournaledStore({ durability, ...loaded });
  if (isOlder) await store.rewrite();
  return store;
}

/** A store that keeps nothing before {@link NewDirectoryStore.begin}. */
export interface NewDirectoryStore {
  store: JournaledStore;
  /**
   * Replaces the directory with the contents of the store atomically: a process that is killed before it leaves what was
   * there, one that is killed after it the new store.
   *
   * @param begin - what the directory is begun with.
   * @param write - writes more files into it, each of which it has to sync.
   * @throws StoreUnavailableError when the disk refuses; `undo` then leaves what was there.
   */
  begin(begin: Json, write: (directory: string) => Promise<void>): Promise<void>;
  /** Removes what was replaced: from now on it cannot be put back. */
  keep(): Promise<void>;
  /** Puts back what was replaced. Called with the store closed, when the start that replaced it fails. */
  undo(): Promise<void>;
}

/**
 * Makes a store that takes the place of the one that a directory holds, once it is begun.
 *
 * @throws StoreDamagedError when the directory holds something else; StoreUnavailableError when this user may not replace it.
 */
export async function newDirectoryStore(
  directory: string,
  compactAbove = smallestCompaction,
  confirm: Confirm = async () => {},
): Promise<NewDirectoryStore> {
  try {
    for (const place of [directory, nextOf(directory), oldOf(directory)]) await requireReplaceable(place);
    await finishReplacement(directory);
    await removeReplaced(directory);
  } catch (cause) {
    throw unwritable(`The store in ${directory}`, cause);
  }
  const store = openEphemeralStore();
  const hadOne = existsSync(directory);
  return {
    store,
    async begin(begin, write) {
      try {
        await store.beginIn(begin, async (contents) => {
          await replaceDirectory(directory, contents, write, confirm);
          return await CompactedJournal.open(directory, { bytes: 0, ended: true }, compactAbove, confirm);
        });
      } catch (cause) {
        throw unwritable(`The store in ${directory}`, cause);
      }
    },
    // The new one is there, whatever becomes of the old one.
    keep: async () => await removeReplaced(directory).catch(() => undefined),
    undo: async () => await undoReplacement(directory, hadOne),
  };
}

/**
 * Reads what a data directory was begun with, and changes nothing in it.
 *
 * @returns undefined when there is none.
 * @throws StoreDamagedError, also for another format; StoreUnavailableError when it cannot be read.
 */
export async function readDirectoryBegin(directory: string): Promise<Json | undefined> {
  try {
    if (!(await holdsStore(directory))) return undefined;
    const begin = await readBegin(filesOf(readable(directory)).snapshot);
    requireJournal(directory);
    return begin;
  } catch (cause) {
    throw unreadable(directory, cause);
  }
}

/**
 * Reads what a data directory holds, and changes nothing in it.
 *
 * @throws StoreDamagedError; StoreUnavailableError when it cannot be read.
 */
export async function readDirectory(directory: string): Promise<StoreImage> {
  try {
    const isNew = !(await holdsStore(directory));
    const { tables, chain } = await load(readable(directory), isNew);
    return chain.count === 0 ? tables.image() : { ...tables.image(), chain: chain.records };
  } catch (cause) {
    throw unreadable(directory, cause);
  }
}

async function load(
  directory: string,
  isNew: boolean,
): Promise<LoadedStore & { end: JournalEnd; isOlder: boolean }> {
  const { snapshot: file, journal } = filesOf(directory);
  const { isOlder, ...snapshot } = isNew
    ? { ...emptyContents, isOlder: false }
    : await readStoreSnapshot(file);
  if (!isNew) requireJournal(directory);
  const end: JournalEnd = { bytes: 0, ended: true };
  const { upTo: batches, chainUpTo: chain } = snapshot;
  const loaded = await JournaledStore.load(snapshot, readJournal(journal, { batches, chain }, end));
  const cutOffBytes = existsSync(journal) ? (await stat(journal)).size - end.bytes : 0;
  return { end, isOlder, ...loaded, cutOffBytes };
}

/** Writes a directory next to another one and gives it its name. The directory with the name is always complete, or both exist to finish the step with. */
async function replaceDirectory(
  directory: string,
  contents: StoreContents,
  write: (directory: string) => Promise<void>,
  confirm: Confirm,
): Promise<void> {
  const [next, old] = [nextOf(directory), oldOf(directory)];
  const { snapshot, journal } = filesOf(next);
  await makeDirectory(next);
  await write(next);
  // The directory gets its name only once everything in it is on disk, so this file need not replace another one.
  await writeFile(journal, "", { mode: 0o600 });
  await writeStoreSnapshot(snapshot, contents, confirm);
  await syncDirectory(dirname(directory));
  if (existsSync(directory)) await renameFile(directory, old);
  await renameFile(next, directory);
}

/**
 * Puts back the directory that was replaced, however far the replacement came. A process that is killed meanwhile leaves either of the two,
 * complete.
 *
 * @param hadOne - whether there was a directory to replace.
 */
async function undoReplacement(directory: string, hadOne: boolean): Promise<void> {
  const [next, old] = [nextOf(directory), oldOf(directory)];
  const isReplaced = existsSync(directory) && (!hadOne || existsSync(old));
  if (isReplaced) await renameFile(directory, next);
  if (existsSync(old)) await renameFile(old, directory);
  await rm(next, { recursive: true, force: true });
}

/** Finishes what a killed process began once the old directory had given up its name. */
async function finishReplacement(directory: string): Promise<void> {
  if (isBeingReplaced(directory) && existsSync(nextOf(directory)))
    await renameFile(nextOf(directory), directory);
}

/** Removes the directory that was replaced, and one that was not finished. @throws StoreDamagedError when one of them is not a store. */
async function removeReplaced(directory: string): Promise<void> {
  for (const left of [nextOf(directory), oldOf(directory)]) {
    await requireReplaceable(left);
    await rm(left, { recursive: true, force: true });
  }
}

/**
 * Returns what to throw when a file operation has failed: with what to do if the operating system has refused it.
 *
 * @param what - begins the sentence.
 */
export function unwritable(what: string, cause: unknown): unknown {
  if (!(isError(cause) && "syscall" in cause)) return cause;
  const isNoDirectory = ["EEXIST", "ENOTDIR"].includes(codeOf(cause) ?? "");
  return new StoreUnavailableError(
    `${what} cannot be opened: ${describeFileError(cause)}. ${isNoDirectory ? "Choose" : "Make it writable, with room on its disk, or choose"} another one with the option dataDirectory.`,
    { cause },
  );
}

function unreadable(directory: string, cause: unknown): unknown {
  if (!(isError(cause) && "syscall" in cause)) return cause;
  return new StoreUnavailableError(
    `The store in ${directory} cannot be read: ${describeFileError(cause)}. Make it readable for this user, or choose another one with the option dataDirectory.`,
    { cause },
  );
}
