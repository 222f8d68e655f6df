import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Durability } from "../journaled/durability.ts";
import type { JournalLine } from "../journaled/pending-entries.ts";
import { StoreUnavailableError } from "../store.ts";
import type { StoreContents } from "../tables/store-contents.ts";
import { type JournalEnd, JournalFile } from "./journal-file.ts";
import { filesOf } from "./store-files.ts";
import { writeStoreSnapshot } from "./store-snapshot.ts";

/** The smallest length at which the journal is compacted into the snapshot, in bytes. */
export const smallestCompaction = 16 * 2 ** 20;

/** The journal of a directory, which is compacted into a snapshot when it has grown too long. */
export class CompactedJournal implements Durability {
  readonly #snapshot: string;
  readonly #journal: JournalFile;
  readonly #compactAbove: number;
  #snapshotBytes = 0;
  /** The length of the journal above which a failed compaction is tried again. */
  #compactAgainAbove = 0;

  private constructor(snapshot: string, journal: JournalFile, compactAbove: number, snapshotBytes: number) {
    this.#snapshot = snapshot;
    this.#journal = journal;
    this.#compactAbove = compactAbove;
    this.#snapshotBytes = snapshotBytes;
  }

  /** Opens a directory to continue behind the end that was read of its journal. */
  static async open(directory: string, end: JournalEnd, compactAbove: number): Promise<CompactedJournal> {
    const { snapshot, journal } = filesOf(directory);
    const bytes = existsSync(snapshot) ? (await stat(snapshot)).size : 0;
    return new CompactedJournal(snapshot, await JournalFile.open(journal, end), compactAbove, bytes);
  }

  broken(): boolean {
    return this.#journal.broken;
  }

  /** Never before the journal is twice as long as the snapshot, so that a write costs what it changes however much there is. */
  needsCompaction(): boolean {
    return (
      this.#journal.bytes > Math.max(this.#compactAbove, 2 * this.#snapshotBytes, this.#compactAgainAbove)
    );
  }

  async append(lines: readonly JournalLine[]): Promise<void> {
    await this.#journal.append(lines);
  }

  async prepareCompaction(): Promise<void> {
    await this.#journal.putAside();
  }

  async compact(contents: StoreContents): Promise<void> {
    try {
      this.#snapshotBytes = await writeStoreSnapshot(this.#snapshot, contents);
      await this.#journal.removeAside();
      this.#compactAgainAbove = 0;
    } catch (error) {
      this.#compactAgainAbove = this.#journal.bytes + this.#compactAbove;
      throw error;
    }
  }

  async replace(contents: StoreContents): Promise<void> {
    this.#snapshotBytes = await writeStoreSnapshot(this.#snapshot, contents);
    await this.#journal.restart();
  }

  async close(contents: StoreContents): Promise<void> {
    // Records that a full disk keeps out of the snapshot are in the journal.
    if (this.#journal.bytes > 0 || this.#journal.broken) await this.replace(contents).catch(() => undefined);
    await this.#journal.close();
    const directory = dirname(this.#snapshot);
    if (!existsSync(directory))
      throw new StoreUnavailableError(
        `${directory} was removed while it was in use, so nothing is stored in it. Remove a data directory only after its sandbox has stopped.`,
      );
  }
}
