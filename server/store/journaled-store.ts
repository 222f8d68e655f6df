import { MemoryTables } from "./memory-tables.ts";
import type { OrderedPage } from "./ordered-index.ts";
import type { CollectionName, Collections, Ordered, OrderingName } from "./records.ts";
import { contentsOf, type StoreContents } from "./snapshot-file.ts";
import {
  type Change,
  type Filter,
  type Store,
  type Stored,
  type StoreImage,
  StoreUnavailableError,
} from "./store.ts";

/** One committed batch as the journal keeps it. */
export interface JournalEntry {
  /** 1, 2, 3, …, without gaps over the life of the store. */
  number: number;
  counters: { [counter: string]: number };
  changes: readonly Change[];
}

/** Where committed batches become durable; the embedded store writes files, an ephemeral one nothing. */
export interface Durability {
  /** Makes entries durable, all or none, in order. */
  append(entries: readonly JournalEntry[]): Promise<void>;
  /** Whether nothing can be appended any more until everything was replaced. */
  broken(): boolean;
  /** Whether the journal has grown so long that it is better folded into a snapshot. */
  outgrown(): boolean;
  /** Called between two appends, before the contents of a fold are taken. */
  prepareFold(): Promise<void>;
  /** Writes a snapshot that holds the journal up to a moment; entries are appended meanwhile. */
  fold(contents: StoreContents): Promise<void>;
  /** Replaces snapshot and journal; nothing is appended meanwhile. */
  replace(contents: StoreContents): Promise<void>;
  close(contents: StoreContents): Promise<void>;
}

interface Pending {
  entry: JournalEntry;
  undo: () => void;
  redo: () => void;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * A store in memory whose batches are appended to a journal before a commit resolves.
 *
 * Commits that come while the disk is busy are written as one group.
 *
 * @example new JournaledStore({ durability, ...(await JournaledStore.load(snapshot, entries)) })
 */
export class JournaledStore implements Store {
  readonly #tables: MemoryTables;
  readonly #durability: Durability;
  #number: number;
  #queue: Pending[] = [];
  /** The group that is being written. */
  #group: readonly Pending[] = [];
  #flushing: Promise<void> | null = null;
  #folding: Promise<void> | null = null;
  readonly #taken = new Map<string, number>();

  constructor(opened: { durability: Durability; tables: MemoryTables; upTo: number }) {
    this.#durability = opened.durability;
    this.#tables = opened.tables;
    this.#number = opened.upTo;
  }

  /** The state that a snapshot and the entries after it lead to. */
  static async load(
    snapshot: StoreContents,
    entries: AsyncIterable<JournalEntry>,
  ): Promise<{ tables: MemoryTables; upTo: number }> {
    const tables = new MemoryTables();
    tables.load(snapshot);
    let { upTo } = snapshot;
    for await (const entry of entries) {
      tables.apply(entry.changes);
      tables.setCounters(entry.counters);
      upTo = entry.number;
    }
    return { tables, upTo };
  }

  async get<C extends CollectionName>(
    collection: C,
    key: string,
  ): Promise<Stored<Collections[C]> | undefined> {
    return this.#tables.get(collection, key);
  }

  async list<C extends CollectionName>(
    collection: C,
    filter: Filter<C>,
    page: { after?: string | undefined; limit?: number; reverse?: boolean } = {},
  ): Promise<Stored<Collections[C]>[]> {
    return this.#tables.list(collection, filter, page);
  }

  async ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    page: OrderedPage = {},
  ): Promise<Stored<Ordered<O>>[]> {
    return this.#tables.ordered(ordering, within, page);
  }

  async next(counter: string): Promise<number> {
    const number = Math.max(this.#tables.peek(counter), (this.#taken.get(counter) ?? 0) + 1);
    this.#taken.set(counter, number);
    return number;
  }

  commit(
    counters: readonly string[],
    build: (numbers: readonly number[]) => readonly Change[],
  ): Promise<void> {
    const numbers = counters.map((counter) => this.#tables.peek(counter));
    const changes = build(numbers);
    this.#tables.assertFits(changes);
    const before = changes.map((change) => this.#tables.get(change.collection, change.key));
    const countersBefore = this.#tables.counters();
    const moved: JournalEntry["counters"] = Object.fromEntries(this.#taken);
    counters.forEach((counter, index) => {
      moved[counter] = numbers[index] ?? 0;
    });
    this.#taken.clear();
    const redo = () => {
      this.#tables.apply(changes);
      this.#tables.setCounters(moved);
      this.#number += 1;
    };
    const undo = () => {
      this.#number -= 1;
      this.#tables.restore(changes, before, countersBefore);
    };
    redo();
    const entry = { number: this.#number, counters: moved, changes };
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, undo, redo, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async export(): Promise<StoreImage> {
    await this.#flushing;
    const { counters, ...image } = this.#tables.image();
    // Numbers that were lost stay lost, so that whoever goes on from here counts as this store does.
    return structuredClone({ ...image, counters: { ...counters, ...Object.fromEntries(this.#taken) } });
  }

  async import(image: StoreImage): Promise<void> {
    await this.#settle();
    const contents = contentsOf(image, this.#number);
    await this.#durability.replace(contents);
    this.#tables.load(contents);
    this.#taken.clear();
  }

  async close(): Promise<void> {
    await this.#settle();
    await this.#durability.close(this.#durable());
  }

  async #settle(): Promise<void> {
    await this.#flushing;
    await this.#folding;
  }

  /** Writes what has queued up, group by group; a group that the disk refuses is undone with all that came after. */
  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      this.#group = this.#queue;
      this.#queue = [];
      try {
        await this.#mend();
        await this.#durability.append(this.#group.map(({ entry }) => entry));
        for (const { resolve } of this.#group) resolve();
        this.#group = [];
        await this.#foldWhenOutgrown();
      } catch (cause) {
        const refused = [...this.#group, ...this.#queue];
        this.#group = [];
        this.#queue = [];
        for (const { undo } of refused.toReversed()) undo();
        for (const { reject } of refused)
          reject(new StoreUnavailableError("The data directory does not take writes.", { cause }));
      }
    }
    this.#flushing = null;
  }

  /** After a failed sync everything that is known to be durable is written anew before anything else is. */
  async #mend(): Promise<void> {
    if (!this.#durability.broken()) return;
    await this.#folding;
    await this.#durability.replace(this.#durable());
  }

  /** Commits go on while the snapshot is written; a fold that fails leaves the journal as whole as it was. */
  async #foldWhenOutgrown(): Promise<void> {
    if (this.#folding !== null || !this.#durability.outgrown()) return;
    const began = await this.#durability.prepareFold().then(
      () => true,
      () => false,
    );
    if (!began) return;
    this.#folding = this.#durability
      .fold(this.#durable())
      .catch(() => undefined)
      .finally(() => {
        this.#folding = null;
      });
  }

  /** What is on disk now: what is only in memory yet is taken out for a moment. */
  #durable(): StoreContents {
    const pending = [...this.#group, ...this.#queue];
    for (const { undo } of pending.toReversed()) undo();
    const contents = this.#tables.contents(this.#number);
    for (const { redo } of pending) redo();
    return contents;
  }
}

/** A store that keeps nothing after the process. */
export function openEphemeralStore(): Store {
  const nothing = async () => {};
  return new JournaledStore({
    durability: {
      append: nothing,
      broken: () => false,
      outgrown: () => false,
      prepareFold: nothing,
      fold: nothing,
      replace: nothing,
      close: nothing,
    },
    tables: new MemoryTables(),
    upTo: 0,
  });
}
