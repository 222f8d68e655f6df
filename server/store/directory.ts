import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import { JSONFile } from "lowdb/node";
import { type Durability, type JournalEntry, JournaledStore } from "./journaled-store.ts";
import type { Store, StoreImage } from "./store.ts";

/** A data directory holds something that this version cannot have written; nothing was changed. */
class StoreDamagedError extends Error {
  override name = "StoreDamagedError";
}

interface Snapshot {
  /** The journal entries up to this number are in the image. */
  up_to: number;
  image: StoreImage;
}

/** How long the journal may become at least before it is folded into the snapshot, in bytes. */
const smallestFold = 16 * 2 ** 20;

/**
 * Opens the JSON store of a data directory: `store.json` (lowdb) and `store.journal`, one committed batch a line.
 *
 * A torn last line is dropped; any other damage stops with a sentence that names file and line.
 *
 * @param foldAbove - how many bytes of journal are folded into the snapshot at the next quiet moment; never fewer than twice the
 * snapshot's, so that a write costs what it changes however much there is.
 *
 * @throws StoreDamagedError
 * @example const store = await openDirectoryStore(".sandbox/store")
 */
export async function openDirectoryStore(directory: string, foldAbove = smallestFold): Promise<Store> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const snapshotFile = join(directory, "store.json");
  const journalFile = join(directory, "store.journal");
  const snapshot = await readSnapshot(snapshotFile);
  const { entries, validBytes } = await readJournal(journalFile, snapshot.up_to);
  const journal = await open(journalFile, "a", 0o600);
  await journal.truncate(validBytes);
  const durability = new DirectoryDurability(directory, journal, {
    journalBytes: validBytes,
    snapshotBytes: await sizeOf(snapshotFile),
    foldAbove,
  });
  return new JournaledStore({ durability, image: snapshot.image, entries, upTo: snapshot.up_to });
}

class DirectoryDurability implements Durability {
  readonly #directory: string;
  readonly #journal: FileHandle;
  readonly #foldAbove: number;
  #bytes: number;
  #snapshotBytes: number;

  constructor(
    directory: string,
    journal: FileHandle,
    sizes: { journalBytes: number; snapshotBytes: number; foldAbove: number },
  ) {
    this.#directory = directory;
    this.#journal = journal;
    this.#bytes = sizes.journalBytes;
    this.#snapshotBytes = sizes.snapshotBytes;
    this.#foldAbove = sizes.foldAbove;
  }

  outgrown(): boolean {
    return this.#bytes > Math.max(this.#foldAbove, 2 * this.#snapshotBytes);
  }

  async append(entries: readonly JournalEntry[]): Promise<void> {
    const lines = Buffer.from(entries.map(toLine).join(""));
    try {
      await this.#journal.appendFile(lines);
      await this.#journal.datasync();
      this.#bytes += lines.length;
    } catch (error) {
      await this.#journal.truncate(this.#bytes);
      throw error;
    }
  }

  async replace(image: StoreImage, upTo: number): Promise<void> {
    await this.#fold(image, upTo);
  }

  async close(image: StoreImage, upTo: number): Promise<void> {
    await this.#fold(image, upTo);
    await this.#journal.close();
  }

  /** Writes the image as the snapshot, durably, and only then empties the journal. */
  async #fold(image: StoreImage, upTo: number): Promise<void> {
    const path = join(this.#directory, "store.json");
    const next = `${path}.next`;
    const snapshot = new Low<Snapshot>(new JSONFile(next), { up_to: upTo, image });
    await snapshot.write();
    await syncPath(next);
    await rename(next, path);
    this.#snapshotBytes = await sizeOf(path);
    await syncPath(this.#directory);
    await this.#journal.truncate(0);
    await this.#journal.sync();
    this.#bytes = 0;
  }
}

async function sizeOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return 0;
      throw error;
    },
  );
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync();
  await handle.close();
}

async function readSnapshot(file: string): Promise<Snapshot> {
  const empty: Snapshot = { up_to: 0, image: { version: 1, counters: {}, collections: {} } };
  const snapshot = new Low<Snapshot>(new JSONFile(file), empty);
  try {
    await snapshot.read();
  } catch (cause) {
    throw new StoreDamagedError(`${file} is not JSON. Restore it from a backup or start with --fresh.`, {
      cause,
    });
  }
  const { version } = snapshot.data.image;
  if (version !== 1)
    throw new StoreDamagedError(
      `${file} has format ${version}; this version reads format 1. Start with --fresh.`,
    );
  return snapshot.data;
}

async function readJournal(
  file: string,
  upTo: number,
): Promise<{ entries: JournalEntry[]; validBytes: number }> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const lines = text.split("\n");
  const torn = lines.pop() ?? "";
  const entries: JournalEntry[] = [];
  lines.forEach((line, index) => {
    const entry = fromLine(line);
    const damaged = (what: string) =>
      new StoreDamagedError(
        `${file}, line ${index + 1}: ${what} Restore it from a backup or start with --fresh.`,
      );
    if (entry === null) throw damaged("the line does not match its checksum.");
    if (entry.number <= upTo) return;
    if (entry.number !== upTo + entries.length + 1)
      throw damaged(`entry ${entry.number} follows entry ${upTo + entries.length}.`);
    entries.push(entry);
  });
  return { entries, validBytes: Buffer.byteLength(text) - Buffer.byteLength(torn) };
}

function toLine(entry: JournalEntry): string {
  const text = JSON.stringify(entry);
  return `${checksum(text)} ${text}\n`;
}

function fromLine(line: string): JournalEntry | null {
  const [sum = "", text = ""] = [line.slice(0, 16), line.slice(17)];
  if (checksum(text) !== sum) return null;
  return JSON.parse(text);
}

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
