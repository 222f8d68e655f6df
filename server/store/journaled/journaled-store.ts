import type { Json } from "../../../protocol/values/json.ts";
import { ChainUnavailableError } from "../../chain/chain-reader.ts";
import { type ChainChange, ChainLog, type ChainSource } from "../chain-changes.ts";
import type { CollectionName, Collections, Ordered, OrderingName } from "../records.ts";
import {
  type Change,
  type Filter,
  type OrderedPage,
  type Store,
  type Stored,
  type StoreImage,
  StoreUnavailableError,
} from "../store.ts";
import type { RelayerJournalStore } from "../stored-relayer-journal.ts";
import { MemoryTables } from "../tables/memory-tables.ts";
import { contentsOf, type StoreContents, type TableContents } from "../tables/store-contents.ts";
import { type JournalEntry, type JournalLine, PendingEntries } from "./pending-entries.ts";

interface Pending {
  /** Null for one who only waits until what happened on the chain is durable. */
  entry: JournalEntry | null;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * A store in memory whose batches are appended to a journal before a commit resolves.
 *
 * Readers see what is durable and nothing else. Commits that come while the disk is busy are compared with what is on its way there, and
 * written as one group.
 */
export class JournaledStore implements Store, RelayerJournalStore {
  /** The durable records. */
  readonly #tables: MemoryTables;
  readonly #pending: PendingEntries;
  /** The durable part of the chain's log. */
  #chain: ChainLog;
  #begin: Json;
  #source: ChainSource | null = null;
  #durability: Durability;
  /** The number of the last durable entry. */
  #upTo: number;
  /** The number of the last entry. */
  #number: number;
  #queue: Pending[] = [];
  #flushing: Promise<void> | null = null;
  #compacting: Promise<void> | null = null;
  /** The number of times that entries were refused. */
  #refusals = 0;
  /** The highest numbers that {@link JournaledStore.next} gave. */
  readonly #taken = new Map<string, number>();
  /** The length of the write at the end of the journal that was cut off and dropped, in bytes; 0 if there was none. */
  readonly cutOffBytes: number;

  constructor(opened: LoadedStore & { durability: Durability }) {
    this.#durability = opened.durability;
    this.#chain = opened.chain;
    this.#begin = opened.begin;
    this.#tables = opened.tables;
    this.#pending = new PendingEntries(opened.tables);
    this.#upTo = opened.upTo;
    this.#number = opened.upTo;
    this.cutOffBytes = opened.cutOffBytes ?? 0;
  }

  /** The state that a snapshot and the lines after it lead to. */
  static async load(snapshot: StoreContents, lines: AsyncIterable<JournalLine>): Promise<LoadedStore> {
    const tables = new MemoryTables();
    tables.load(snapshot);
    const chain = new ChainLog(snapshot.chain, snapshot.chainUpTo);
    let { upTo } = snapshot;
    for await (const line of lines) {
      if ("chain" in line) {
        chain.add(line.record);
        continue;
      }
      tables.apply(line.changes);
      tables.setCounters(line.counters);
      upTo = line.number;
    }
    return { tables, upTo, chain, begin: snapshot.begin };
  }

  /** The value that the directory was created with. */
  get begin(): Json {
    return this.#begin;
  }

  /** The durable changes of the chain. */
  get chain(): readonly ChainChange[] {
    return this.#chain.records;
  }

  /** The number of all records of the chain so far; only durable ones count. */
  get chainCount(): number {
    return this.#chain.count;
  }

  /** The number of commits of the database by the durable records here, when the records are in one. */
  get databaseCommits(): number {
    return this.#chain.databaseCommits;
  }

  /** The newest time that a durable record names as past, in Unix seconds; it may be one that was changed or deleted since. */
  get newestTime(): number {
    return this.#tables.newestTime;
  }

  /** Whether what is durable has to be written again: a sync has failed, or another process has changed it. A write in progress changes it, too. */
  get isBroken(): boolean {
    return this.#flushing === null && this.#compacting === null && this.#durability.broken();
  }

  /** Whether no other process has written to where this store writes. */
  get isUntouched(): boolean {
    return this.#compacting !== null || this.#durability.untouched();
  }

  /** Has everything that happens on a chain kept: what a commit relies on is written before it. */
  follow(source: ChainSource): void {
    this.#source = source;
  }

  /**
   * Resolves when everything that has happened on the chain by now is durable.
   *
   * @throws StoreUnavailableError; ChainUnavailableError when the chain does not answer.
   */
  async recordChain(): Promise<void> {
    if (this.#source === null) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push({ entry: null, resolve, reject });
    this.#flushing ??= this.#flush();
    await promise;
  }

  /** Stores the existing and all further entries durably, starting atomically. */
  async beginIn(begin: Json, create: (contents: StoreContents) => Promise<Durability>): Promise<void> {
    await this.recordChain();
    await this.#whileNotWriting(async () => {
      this.#begin = begin;
      this.#durability = await create(this.#durable());
    });
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
    const number = Math.max(this.#pending.peek(counter), (this.#taken.get(counter) ?? 0) + 1);
    this.#taken.set(counter, number);
    return number;
  }

  async commit(
    counters: readonly string[],
    build: (numbers: readonly number[]) => readonly Change[],
  ): Promise<void> {
    const numbers = counters.map((counter) => this.#pending.peek(counter));
    const changes = build(numbers);
    const conflict = this.#pending.conflict(changes);
    if (conflict !== null) {
      // A commit that starts over must read what it has lost to.
      await conflict.settled.catch(() => undefined);
      throw conflict.error;
    }
    const moved = this.#moved();
    counters.forEach((counter, index) => {
      moved[counter] = numbers[index] ?? 0;
    });
    this.#number += 1;
    const entry = { number: this.#number, counters: moved, changes };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pending.add(entry, promise);
    this.#queue.push({ entry, resolve, reject });
    this.#flushing ??= this.#flush();
    await promise;
  }

  ahead(): ReturnType<RelayerJournalStore["ahead"]> {
    const refusals = this.#refusals;
    return {
      get: async (collection, key) => this.#pending.get(collection, key),
      ordered: async (ordering, within, page = {}) => this.#pending.ordered(ordering, within, page),
      commit: async (counters, build) => {
        if (this.#refusals !== refusals)
          throw new StoreUnavailableError(
            "The data directory refused an earlier write that this write builds on.",
          );
        await this.commit(counters, build);
      },
    };
  }

  async export(): Promise<StoreImage> {
    await this.recordChain();
    await this.#flushing;
    const image = this.#tables.image();
    // Numbers that were lost stay lost, so that a store that continues from here counts as this one does.
    const copy = { ...image, counters: { ...image.counters, ...this.#moved() } };
    return this.#source === null ? copy : { ...copy, chain: this.chain };
  }

  async import(image: StoreImage): Promise<void> {
    await this.#whileNotWriting(async () => {
      const records = contentsOf(image);
      const chain = image.chain === undefined ? this.#chain : this.#chain.restored(image.chain);
      try {
        await this.#durability.replace({ ...this.#position(chain), ...records });
      } catch (cause) {
        throw unavailable(cause);
      }
      this.#tables.load(records);
      this.#chain = chain;
      this.#pending.clear();
      this.#taken.clear();
    });
  }

  /** Writes everything again, in the current format. @throws StoreUnavailableError when the disk refuses; what was there then stays. */
  async rewrite(): Promise<void> {
    await this.#durability.replace(this.#durable());
  }

  async close(): Promise<void> {
    await this.#awaitWrites();
    await this.#durability.close(this.#durable());
  }

  async #awaitWrites(): Promise<void> {
    await this.#flushing;
    await this.#compacting;
  }

  /** Runs a step while nothing is written; what is committed meanwhile is written after it. */
  async #whileNotWriting(step: () => Promise<void>): Promise<void> {
    while (this.#flushing !== null || this.#compacting !== null) await this.#awaitWrites();
    const running = step();
    this.#flushing = running
      .catch(() => undefined)
      .then(() => {
        this.#flushing = this.#queue.length > 0 ? this.#flush() : null;
      });
    await running;
  }

  /** The numbers that were given and that no entry on its way to the disk has with it. */
  #moved(): JournalEntry["counters"] {
    const ahead = [...this.#taken].filter(([counter, number]) => number >= this.#pending.peek(counter));
    return Object.fromEntries(ahead);
  }

  /** Writes what has queued up, group by group; a group that the disk refuses is refused with all that came after it. */
  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#queue;
      this.#queue = [];
      try {
        await this.#write(group);
      } catch (cause) {
        this.#refuse([...group, ...this.#queue], cause);
        continue;
      }
      await this.#compactWhenNeeded();
    }
    this.#flushing = null;
  }

  /** Makes a group durable, behind everything that has happened on the chain, and has readers see it. */
  async #write(group: readonly Pending[]): Promise<void> {
    const happened = (await this.#source?.take()) ?? [];
    const entries = group.flatMap(({ entry }) => (entry === null ? [] : [entry]));
    try {
      await this.#repair();
      const chain = happened.map((record, index) => ({ chain: this.#chain.count + index + 1, record }));
      if (chain.length + entries.length > 0) await this.#durability.append([...chain, ...entries]);
    } catch (error) {
      this.#source?.giveBack(happened);
      throw error;
    }
    for (const record of happened) this.#chain.add(record);
    this.#keep(entries);
    for (const { resolve } of group) resolve();
  }

  #keep(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      this.#tables.apply(entry.changes);
      this.#tables.setCounters(entry.counters);
      this.#upTo = entry.number;
      this.#pending.remove(entry);
    }
  }

  #refuse(refused: readonly Pending[], cause: unknown): void {
    this.#queue = [];
    this.#number = this.#upTo;
    this.#refusals += 1;
    this.#pending.clear();
    for (const { reject } of refused) reject(unavailable(cause));
  }

  /** After a failed sync, or a change by another process, everything that is known to be durable is written again before anything else is. */
  async #repair(): Promise<void> {
    if (!this.#durability.broken()) return;
    await this.#compacting;
    // A compaction that has just renamed its snapshot has changed it, too.
    if (this.#durability.broken()) await this.#durability.replace(this.#durable());
  }

  /** Commits continue while the snapshot is written; a compaction that fails leaves the journal as whole as it was. */
  async #compactWhenNeeded(): Promise<void> {
    if (this.#compacting !== null || !this.#durability.needsCompaction()) return;
    const began = await this.#durability.prepareCompaction().then(
      () => true,
      () => false,
    );
    if (!began) return;
    this.#compacting = this.#durability
      .compact(this.#durable())
      .catch(() => undefined)
      .finally(() => {
        this.#compacting = null;
      });
  }

  #durable(): StoreContents {
    return { ...this.#position(this.#chain), ...this.#tables.contents() };
  }

  #position({ count, records }: ChainLog): Omit<StoreContents, keyof TableContents> {
    return { upTo: this.#upTo, chainUpTo: count, begin: this.#begin, chain: records };
  }
}

/** The content of a directory. */
export interface LoadedStore {
  tables: MemoryTables;
  /** The number of the last batch. */
  upTo: number;
  chain: ChainLog;
  begin: Json;
  /** The length of the write that was cut off at the end of the journal and is dropped, in bytes; none if it is missing. */
  cutOffBytes?: number;
}

function unavailable(cause: unknown): StoreUnavailableError | ChainUnavailableError {
  if (cause instanceof ChainUnavailableError) return cause;
  const message =
    cause instanceof StoreUnavailableError ? cause.message : "The data directory refuses writes.";
  return new StoreUnavailableError(message, { cause });
}

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

/** A store that keeps nothing after the process. */
export function openEphemeralStore(): JournaledStore {
  const nothing = async () => {};
  return new JournaledStore({
    durability: {
      append: nothing,
      broken: () => false,
      untouched: () => true,
      needsCompaction: () => false,
      prepareCompaction: nothing,
      compact: nothing,
      replace: nothing,
      close: nothing,
    },
    tables: new MemoryTables(),
    upTo: 0,
    chain: new ChainLog(),
    begin: null,
  });
}
