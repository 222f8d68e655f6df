import { existsSync, statSync } from "node:fs";
import { type FileHandle, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { openFile } from "../../lib/file-kind.ts";
import { renameFile, syncDirectory } from "../../lib/replace-file.ts";
import type { JournalLine } from "../journaled/pending-entries.ts";
import { StoreUnavailableError } from "../store.ts";
import { damaged, parseLine, readCheckedLines, toLine } from "./checked-lines.ts";
import { asideOf, nextOf } from "./store-files.ts";

/**
 * The committed batches since the snapshot, one a line, each synced to disk.
 *
 * While a snapshot is written, what it will hold is in `….compacting` and what comes meanwhile in the file itself.
 */
export class JournalFile {
  readonly #file: string;
  readonly #aside: string;
  #handle: FileHandle;
  /** The length of the durable part of the file, in bytes. */
  #bytes: number;
  #broken = false;

  private constructor(file: string, handle: FileHandle, bytes: number) {
    this.#file = file;
    this.#aside = asideOf(file);
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** Opens the journal for appending, after all of {@link readJournal}: a torn end is cut off. */
  static async open(file: string, end: JournalEnd): Promise<JournalFile> {
    const isNew = !existsSync(file);
    const next = nextOf(file);
    // The next file is there if a process was killed while it put the journal aside, or just before.
    if (isNew && existsSync(next)) await rename(next, file);
    else await rm(next, { force: true });
    const handle = await openFile(file, "a", 0o600);
    await handle.truncate(end.bytes);
    if (!end.ended) await handle.appendFile("\n");
    // Lines that a killed process had written but not synced count from now on.
    await handle.datasync();
    if (isNew) await syncDirectory(dirname(file));
    return new JournalFile(file, handle, end.bytes + (end.ended ? 0 : 1));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Whether nothing may be appended: after a failed sync the content of the disk is unknown, and a second one may say that all is well; and what
   * is written to a file that another process has removed, replaced or truncated is lost.
   */
  get broken(): boolean {
    return this.#broken || lengthOf(this.#file) !== this.#bytes;
  }

  /** Whether another process has written to the file. */
  get hasGrown(): boolean {
    return (lengthOf(this.#file) ?? 0) > this.#bytes;
  }

  /**
   * Makes lines durable, all or none.
   *
   * @param confirm - called once they are: they are refused if it rejects.
   */
  async append(added: readonly JournalLine[], confirm: () => Promise<void>): Promise<void> {
    const lines = Buffer.from(added.map(toLine).join(""));
    try {
      await this.#handle.appendFile(lines);
    } catch (error) {
      await this.#undoAppend();
      throw error;
    }
    try {
      await this.#handle.datasync();
    } catch (error) {
      this.#broken = true;
      // This is not synced; but a reader of the file, once this process was killed, finds nothing of what is refused.
      await this.#handle.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
    this.#bytes += lines.length;
    try {
      await confirm();
      if (this.broken)
        throw new StoreUnavailableError(
          `${this.#file} was changed by another process. Stop a sandbox before you change its data directory.`,
        );
    } catch (error) {
      // The lines are there, and refused.
      this.#broken = true;
      throw error;
    }
  }

  /** Puts what is there aside, to be removed once a snapshot holds it; what is aside already stays there. */
  async putAside(): Promise<void> {
    if (existsSync(this.#aside)) return;
    const next = nextOf(this.#file);
    const fresh = await openFile(next, "a", 0o600);
    const old = this.#handle;
    try {
      // Without an empty journal next to it, one that is put aside looks like one whose end was removed.
      await syncDirectory(dirname(this.#file));
      await rename(this.#file, this.#aside);
      // The file that was moved aside is removed later: unless the next step is done, nothing more may be written.
      this.#broken = true;
      await rename(next, this.#file);
      this.#broken = false;
    } catch (error) {
      await fresh.close();
      throw error;
    }
    this.#handle = fresh;
    this.#bytes = 0;
    await syncDirectory(dirname(this.#file));
    await old.close();
  }

  /** Forgets what was put aside: a snapshot holds it. */
  async removeAside(): Promise<void> {
    await rm(this.#aside, { force: true });
  }

  /** Starts again in another file: a snapshot holds everything. */
  async restart(): Promise<void> {
    const next = nextOf(this.#file);
    await rm(next, { force: true });
    const fresh = await openFile(next, "a", 0o600);
    await renameFile(next, this.#file);
    const old = this.#handle;
    this.#handle = fresh;
    this.#bytes = 0;
    this.#broken = false;
    await this.removeAside();
    await old.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** A part of a refused write is taken off again, so that it is neither found later nor written behind. */
  async #undoAppend(): Promise<void> {
    try {
      await this.#handle.truncate(this.#bytes);
      await this.#handle.datasync();
    } catch {
      this.#broken = true;
    }
  }
}

/** Returns the length of a file, in bytes; undefined when it is missing. */
export function lengthOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

/** The position of a snapshot: its last batch and its last record of the chain. */
export interface JournalPosition {
  batches: number;
  chain: number;
}

/** The end of the part of a journal that was read. */
export interface JournalEnd {
  bytes: number;
  /** False when the last newline is missing. */
  ended: boolean;
}

/**
 * Reads what comes after a position, what was put aside first.
 *
 * @param end - called with how far the journal itself goes.
 * @throws StoreDamagedError, with file, line and offset.
 */
export async function* readJournal(
  file: string,
  after: JournalPosition,
  end: JournalEnd,
): AsyncGenerator<JournalLine> {
  const last = { ...after };
  for (const source of [asideOf(file), file].filter(existsSync))
    for await (const line of readCheckedLines(source, source === file ? "drop" : "refuse")) {
      const entry = parseLine<JournalLine>(source, line);
      if (source === file) Object.assign(end, { bytes: line.end, ended: line.ended });
      const [kind, name, number] =
        "chain" in entry
          ? (["chain", "chain record", entry.chain] as const)
          : (["batches", "entry", entry.number] as const);
      if (number <= last[kind]) continue;
      if (number !== last[kind] + 1)
        throw damaged(source, line, `${name} ${number} follows ${name} ${last[kind]}`);
      last[kind] = number;
      yield entry;
    }
}
