import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { damaged } from "./checked-lines.ts";
import { type JournalEnd, JournalFile, readJournal } from "./journal-file.ts";
import { type Durability, JournaledStore } from "./journaled-store.ts";
import type { JournalEntry } from "./pending-entries.ts";
import { emptyContents, readSnapshot, type StoreContents, writeSnapshot } from "./snapshot-file.ts";
import { type StoreImage, StoreUnavailableError } from "./store.ts";

/** How long the journal may become at least before it is compacted into the snapshot, in bytes. */
export const smallestCompaction = 16 * 2 ** 20;

/**
 * Opens the JSON store of a data directory: `store.json`, the snapshot that lowdb keeps, and `store.journal`, one committed batch a
 * line.
 *
 * A torn last line of the journal is dropped; any other damage, and any other format, stops with a sentence that names file and
 * line, and nothing is changed.
 *
 * @param compactAbove - how many bytes of journal are compacted into the snapshot in the background; never fewer than twice the
 * snapshot's, so that a write costs what it changes however much there is.
 *
 * @throws StoreDamagedError; StoreUnavailableError when the disk refuses.
 * @example const store = await openDirectoryStore(".sandbox/store")
 */
export async function openDirectoryStore(
  directory: string,
  compactAbove = smallestCompaction,
): Promise<JournaledStore> {
  try {
    return await openIn(directory, compactAbove);
  } catch (cause) {
    if (!(cause instanceof Error && "syscall" in cause)) throw cause;
    throw new StoreUnavailableError(
      `The store in ${directory} cannot be opened: ${cause.message}. Make it writable, with room on its disk, or choose another directory with --data-dir.`,
      { cause },
    );
  }
}

async function openIn(directory: string, compactAbove: number): Promise<JournaledStore> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const files = filesOf(directory);
  const { isNew, tables, upTo, end } = await load(directory);
  const journal = await JournalFile.open(files.journal, end);
  const durability = new DirectoryDurability(files.snapshot, journal, compactAbove);
  if (isNew) await durability.replace(emptyContents);
  else await durability.measure();
  return new JournaledStore({ durability, tables, upTo });
}

/**
 * Reads what a data directory holds, and changes nothing in it.
 *
 * @throws StoreDamagedError
 * @example (await readDirectory(".sandbox/store")).collections.purchases
 */
export async function readDirectory(directory: string): Promise<StoreImage> {
  return (await load(directory)).tables.image();
}

async function load(directory: string) {
  const files = filesOf(directory);
  const snapshot = await readSnapshot(files.snapshot);
  const end: JournalEnd = { bytes: 0, ended: true };
  const entries = readJournal(files.journal, snapshot?.upTo ?? 0, end);
  const { tables, upTo } = await JournaledStore.load(snapshot ?? emptyContents, entries);
  // A directory has a snapshot from its first start on.
  if (snapshot === null && upTo > 0)
    throw damaged(files.snapshot, 1, "the file is missing, and the journal beside it holds records");
  return { isNew: snapshot === null, tables, upTo, end };
}

function filesOf(directory: string) {
  return { snapshot: join(directory, "store.json"), journal: join(directory, "store.journal") };
}

class DirectoryDurability implements Durability {
  readonly #snapshot: string;
  readonly #journal: JournalFile;
  readonly #compactAbove: number;
  #snapshotBytes = 0;
  /** How long the journal has to become before a compaction that failed is tried again. */
  #compactAgainAbove = 0;

  constructor(snapshot: string, journal: JournalFile, compactAbove: number) {
    this.#snapshot = snapshot;
    this.#journal = journal;
    this.#compactAbove = compactAbove;
  }

  async measure(): Promise<void> {
    this.#snapshotBytes = (await stat(this.#snapshot)).size;
  }

  broken(): boolean {
    return this.#journal.broken;
  }

  needsCompaction(): boolean {
    return (
      this.#journal.bytes > Math.max(this.#compactAbove, 2 * this.#snapshotBytes, this.#compactAgainAbove)
    );
  }

  async append(entries: readonly JournalEntry[]): Promise<void> {
    await this.#journal.append(entries);
  }

  async prepareCompaction(): Promise<void> {
    await this.#journal.putAside();
  }

  async compact(contents: StoreContents): Promise<void> {
    try {
      this.#snapshotBytes = await writeSnapshot(this.#snapshot, contents);
      await this.#journal.removeAside();
      this.#compactAgainAbove = 0;
    } catch (error) {
      this.#compactAgainAbove = this.#journal.bytes + this.#compactAbove;
      throw error;
    }
  }

  async replace(contents: StoreContents): Promise<void> {
    this.#snapshotBytes = await writeSnapshot(this.#snapshot, contents);
    await this.#journal.restart();
  }

  async close(contents: StoreContents): Promise<void> {
    // What a full disk keeps from the snapshot is in the journal.
    if (this.#journal.bytes > 0) await this.replace(contents).catch(() => undefined);
    await this.#journal.close();
  }
}
