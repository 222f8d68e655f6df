import { MemoryTables } from "./memory-tables.ts";
import type { OrderedPage } from "./ordered-index.ts";
import type { CollectionName, Collections, Ordered, OrderingName } from "./records.ts";
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
  /** Whether the journal has grown so long that it is better folded into a snapshot. */
  outgrown(): boolean;
  /** Replaces snapshot and journal by an image. */
  replace(image: StoreImage, upTo: number): Promise<void>;
  close(image: StoreImage, upTo: number): Promise<void>;
}

interface Pending {
  entry: JournalEntry;
  undo: () => void;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * A store in memory whose batches are appended to a journal before a commit resolves.
 *
 * Commits that come while the disk is busy are written as one group.
 *
 * @example const store = new JournaledStore(await openDirectory(path))
 */
export class JournaledStore implements Store {
  readonly #tables = new MemoryTables();
  readonly #durability: Durability;
  #number: number;
  #queue: Pending[] = [];
  #flushing: Promise<void> | null = null;
  readonly #taken = new Map<string, number>();

  constructor(opened: {
    durability: Durability;
    image: StoreImage;
    entries: readonly JournalEntry[];
    upTo: number;
  }) {
    this.#durability = opened.durability;
    this.#tables.load(opened.image);
    this.#number = opened.upTo;
    for (const entry of opened.entries) {
      this.#tables.apply(entry.changes);
      for (const [counter, value] of Object.entries(entry.counters)) this.#tables.setCounter(counter, value);
      this.#number = entry.number;
    }
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
    this.#tables.apply(changes);
    for (const [counter, value] of Object.entries(moved)) this.#tables.setCounter(counter, value);
    this.#number += 1;
    const entry = { number: this.#number, counters: moved, changes };
    const undo = () => {
      this.#number -= 1;
      this.#tables.restore(changes, before, countersBefore);
    };
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, undo, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async export(): Promise<StoreImage> {
    await this.#flushing;
    return structuredClone(this.#tables.image());
  }

  async import(image: StoreImage): Promise<void> {
    await this.#flushing;
    await this.#durability.replace(image, this.#number);
    this.#tables.load(image);
    this.#taken.clear();
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.#durability.close(this.#tables.image(), this.#number);
  }

  /** Writes what has queued up, group by group; a group that the disk refuses is undone with all that came after. */
  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#queue;
      this.#queue = [];
      try {
        await this.#durability.append(group.map(({ entry }) => entry));
        for (const { resolve } of group) resolve();
        await this.#foldWhenOutgrown();
      } catch (cause) {
        const refused = [...group, ...this.#queue];
        this.#queue = [];
        for (const { undo } of refused.toReversed()) undo();
        for (const { reject } of refused)
          reject(new StoreUnavailableError("The data directory does not take writes.", { cause }));
      }
    }
    this.#flushing = null;
  }

  /** Commits wait meanwhile; a fold that fails leaves the journal as whole as it was, and the next one tries again. */
  async #foldWhenOutgrown(): Promise<void> {
    // What is queued is in the tables, but not on disk yet.
    if (this.#queue.length > 0 || !this.#durability.outgrown()) return;
    await this.#durability.replace(this.#tables.image(), this.#number).catch(() => undefined);
  }
}

/** A store that keeps nothing after the process. */
export function openEphemeralStore(): Store {
  const nothing = async () => {};
  return new JournaledStore({
    durability: { append: nothing, replace: nothing, close: nothing, outgrown: () => false },
    image: { version: 1, counters: {}, collections: {} },
    entries: [],
    upTo: 0,
  });
}
