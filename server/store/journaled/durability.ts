import type { StoreContents } from "../tables/store-contents.ts";
import type { JournalLine } from "./pending-entries.ts";

/** The storage that makes committed batches durable; the embedded store writes files, an ephemeral one nothing. */
export interface Durability {
  /** Makes lines durable, all or none, in order. */
  append(lines: readonly JournalLine[]): Promise<void>;
  /** Returns whether nothing can be appended until everything was replaced. */
  broken(): boolean;
  /** Returns whether no other process has written. */
  untouched(): boolean;
  /** Returns whether the journal has grown so long that it should be compacted into a snapshot. */
  needsCompaction(): boolean;
  /** Called between two appends, before the contents of a compaction are taken. */
  prepareCompaction(): Promise<void>;
  /** Writes a snapshot that holds the journal up to a position; entries are appended meanwhile. */
  compact(contents: StoreContents): Promise<void>;
  /** Replaces snapshot and journal; nothing is appended meanwhile. */
  replace(contents: StoreContents): Promise<void>;
  close(contents: StoreContents): Promise<void>;
}
