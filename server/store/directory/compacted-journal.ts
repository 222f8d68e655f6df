import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Durability } from "../journaled/journaled-store.ts";
import type { JournalLine } from "../journaled/pending-entries.ts";
import { StoreUnavailableError } from "../store.ts";
import type { StoreContents } from "../tables/store-contents.ts";
import { type JournalEnd, JournalFile } from "./journal-file.ts";
import { filesOf } from "./store-files.ts";
import { writeStoreSnapshot } from "./store-snapshot.ts";

/** The smallest length at which the journal is compacted into the snapshot, in bytes. */
export const smallestCompaction = 16 * 2 ** 20;

/** Makes sure that no other process may write to a directory. @throws StoreUnavailableError */
export type Confirm = () => Promise<void>;

/** The journal of a directory, which is compacted into a snapshot when it has grown too long. */
export class CompactedJournal implements Durability {
  readonly #snapshot: string;
  readonly #journal: JournalFile;
  readonly #compactAbove: number;
  readonly #confirm: Confirm;
  /** The snapshot as this process has read or written it. */
  #written: { size: number; mtimeMs: number };
  /** The length of the journal above which a failed compaction is tried again. */
  #compactAgainAbove = 0;

  private constructor(snapshot: string, journal: JournalFile, compactAbove: number, confirm: Confirm) {
    this.#snapshot = snapshot;
    this.#journal = journal;
    this.#compactAbove = compactAbove;
    this.#confirm = confirm;
    this.#written = this.#there();
  }

  /** Opens a directory to continue behind the end that was read of its journal. */
  static async open(
    directory: string,
    end: JournalEnd,
    compactAbove: number,
    confirm: Confirm,
  ): Promise<CompactedJournal> {
    const { snapshot, journal } = filesOf(directory);
    return new CompactedJournal(snapshot, await JournalFile.open(journal, end), compactAbove, confirm);
  }

  broken(): boolean {
    return this.#journal.broken || this.#there().size !== this.#written.size;
  }

  untouched(): boolean {
    const { size, mtimeMs } = this.#there();
    const isSame = size === this.#written.size && mtimeMs === this.#written.mtimeMs;
    return isSame && !this.#journal.hasGrown;
  }

  /** Never before the journal is twice as long as the snapshot, so that a write costs what it changes however much there is. */
  needsCompaction(): boolean {
    return (
      this.#journal.bytes > Math.max(this.#compactAbove, 2 * this.#written.size, this.#compactAgainAbove)
    );
  }

  async append(lines: readonly JournalLine[]): Promise<void> {
    await this.#confirm();
    // Another process that takes the directory from now on reads what was appended; one that has taken it before may not have.
    await this.#journal.append(lines, this.#confirm);
  }

  async prepareCompaction(): Promise<void> {
    await this.#confirm();
    await this.#journal.putAside();
  }

  async compact(contents: StoreContents): Promise<void> {
    try {
      await this.#write(contents);
      await this.#journal.removeAside();
      this.#compactAgainAbove = 0;
    } catch (error) {
      this.#compactAgainAbove = this.#journal.bytes + this.#compactAbove;
      throw error;
    }
  }

  async replace(contents: StoreContents): Promise<void> {
    await this.#write(contents);
    await this.#journal.restart();
  }

  async close(contents: StoreContents): Promise<void> {
    try {
      await this.#confirm();
      // Records that a full disk keeps out of the snapshot are in the journal.
      if (this.#journal.bytes > 0 || this.broken()) await this.replace(contents).catch(() => undefined);
    } finally {
      await this.#journal.close();
    }
    const directory = dirname(this.#snapshot);
    if (!existsSync(directory))
      throw new StoreUnavailableError(
        `${directory} was removed while it was in use, so nothing is stored in it. Remove a data directory only after its sandbox has stopped.`,
      );
  }

  async #write(contents: StoreContents): Promise<void> {
    await writeStoreSnapshot(this.#snapshot, contents, this.#confirm);
    this.#written = this.#there();
  }

  /** A snapshot that is missing has the size 0. */
  #there(): { size: number; mtimeMs: number } {
    return statSync(this.#snapshot, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
  }
}
