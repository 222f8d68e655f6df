import type { Stored } from "../store.ts";
import { type Columns, inQueue, nowhere } from "./columns.ts";
import { newestTime } from "./newest-time.ts";
import { type Block, decodeBlock, encodeBlock, type FrozenTable, pack, unpack } from "./packed-block.ts";

/** How many records are kept as objects, and how many are in one block. */
export interface StorageSizes {
  /** The number of newest records that are never packed. */
  queue: number;
  block: number;
}

/** The sizes that are used. More records in a block compress hardly better, and take longer to read one of. */
export const storageSizes: StorageSizes = { queue: 1_024, block: 64 };

/** The number of blocks that are packed at one commit at most, a millisecond each. */
const packedAtOnce = 2;
/** The number of unpacked blocks that are kept. */
const keptUnpacked = 16;
/** Locations name the place in a block by this many of their values. */
const span = 64;

/** The part of a table that storage changes. */
export interface RecordOwner {
  /** The number of the collection. */
  readonly number: number;
  readonly columns: Columns;
}

/** A record that is kept as an object. */
export interface QueuedRecord {
  owner: RecordOwner;
  slot: number;
  stored: Stored<unknown>;
}

interface Unpacked {
  lines: string[];
  records: (Stored<unknown> | undefined)[];
}

/**
 * Keeps the records of all tables: the newest ones as objects, in the order of their last change, and older ones in compressed blocks.
 *
 * Only the order of changes decides which records are packed, so that equal stores have equal blocks.
 */
export class RecordStorage {
  readonly #sizes: StorageSizes;
  readonly #owners: readonly RecordOwner[];
  readonly #queue = new Set<QueuedRecord>();
  /** The queued record of each slot of each table. */
  readonly #queued: readonly Map<number, QueuedRecord>[];
  /** Blocks by their number; one with no record left is gone. */
  readonly #blocks: (Block | undefined)[] = [];
  readonly #unpacked = new Map<number, Unpacked>();

  constructor(owners: readonly RecordOwner[], sizes: StorageSizes) {
    this.#owners = owners;
    this.#sizes = sizes;
    this.#queued = owners.map(() => new Map());
  }

  /** The records that are kept as objects. */
  get queued(): Iterable<QueuedRecord> {
    return this.#queue;
  }

  /** Reads the record of a slot. */
  read({ number, columns }: RecordOwner, slot: number): Stored<unknown> | undefined {
    const location = columns.locations[slot] ?? nowhere;
    if (location === nowhere) return undefined;
    if (location === inQueue) return this.#queued[number]?.get(slot)?.stored;
    const { lines, records } = this.#open(Math.floor(location / span));
    const at = location % span;
    records[at] ??= toStored(lines[at] ?? "", columns.revisions[slot] ?? 0);
    return records[at];
  }

  /** Keeps a record in place of the one that its slot has. */
  put(owner: RecordOwner, slot: number, stored: Stored<unknown>): void {
    const before = owner.columns.locations[slot] ?? nowhere;
    this.#dequeue(owner, slot);
    this.#enqueue(owner, slot, stored);
    this.#release(before);
  }

  /** Forgets the record of a slot. */
  delete(owner: RecordOwner, slot: number): void {
    const before = owner.columns.locations[slot] ?? nowhere;
    this.#dequeue(owner, slot);
    owner.columns.locations[slot] = nowhere;
    this.#release(before);
  }

  /** Packs the oldest of the records that are more than the queue holds, a few blocks of them. */
  packSome(): void {
    const { queue, block } = this.#sizes;
    for (let packed = 0; packed < packedAtOnce && this.#queue.size >= queue + block; packed += 1)
      this.#packOldest(block);
  }

  /** The newest time that a record names as past, in Unix seconds; it may be one that was changed or deleted since. */
  newestTime(): number {
    let newest = 0;
    for (const { stored } of this.#queue) newest = Math.max(newest, newestTime(stored.value));
    for (const block of this.#blocks) newest = Math.max(newest, block?.newest ?? 0);
    return newest;
  }

  /** Adds a block of a file, with what it says of its records. */
  addBlock(bytes: Buffer): void {
    const columns = this.#owners.map((owner) => owner.columns);
    this.#blocks.push(decodeBlock(bytes, this.#blocks.length * span, columns));
  }

  /** The blocks as a file has them; lazily, of the state at this call. */
  encoded(tables: readonly FrozenTable[]): Iterable<Buffer> {
    const blocks = [...this.#blocks];
    return {
      *[Symbol.iterator]() {
        for (const [number, block] of blocks.entries())
          if (block !== undefined) yield encodeBlock(block, number * span, tables);
      },
    };
  }

  /** Calls back with a copy of each packed record. */
  visitPacked(visit: (owner: RecordOwner, slot: number, stored: Stored<unknown>) => void): void {
    for (const [number, block] of this.#blocks.entries()) {
      if (block === undefined) continue;
      const lines = unpack(block.body);
      for (const { owner, slot, at } of this.#liveIn(number, block))
        visit(owner, slot, toStored(lines[at] ?? "", owner.columns.revisions[slot] ?? 0));
    }
  }

  #dequeue(owner: RecordOwner, slot: number): void {
    const records = this.#queued[owner.number];
    const record = records?.get(slot);
    if (record === undefined) return;
    records?.delete(slot);
    this.#queue.delete(record);
  }

  #packOldest(count: number): void {
    const records: QueuedRecord[] = [];
    for (const record of this.#queue) {
      if (records.length === count) break;
      records.push(record);
    }
    const owners = new Uint32Array(2 * count);
    const first = this.#blocks.length * span;
    const body = pack(records.map(({ stored }) => stored));
    for (const [at, { owner, slot }] of records.entries()) {
      this.#dequeue(owner, slot);
      owner.columns.locations[slot] = first + at;
      owners.set([owner.number, slot], 2 * at);
    }
    const newest = Math.max(...records.map(({ stored }) => newestTime(stored.value)));
    this.#blocks.push({ body, owners, live: count, newest });
  }

  /** Forgets what is at a location. A block of which less than half is left is no longer worth its room: the rest is queued again. */
  #release(location: number): void {
    if (location === inQueue || location === nowhere) return;
    const number = Math.floor(location / span);
    const block = this.#blocks[number];
    if (block === undefined) return;
    block.live -= 1;
    if (block.live >= block.owners.length / 4) return;
    const left = [...this.#liveIn(number, block)].map(({ owner, slot }) => ({
      owner,
      slot,
      stored: this.read(owner, slot),
    }));
    this.#blocks[number] = undefined;
    this.#unpacked.delete(number);
    for (const { owner, slot, stored } of left) if (stored !== undefined) this.#enqueue(owner, slot, stored);
  }

  #enqueue(owner: RecordOwner, slot: number, stored: Stored<unknown>): void {
    const record = { owner, slot, stored };
    owner.columns.locations[slot] = inQueue;
    this.#queued[owner.number]?.set(slot, record);
    this.#queue.add(record);
  }

  *#liveIn(number: number, { owners }: Block): Generator<{ owner: RecordOwner; slot: number; at: number }> {
    for (let at = 0; at < owners.length / 2; at += 1) {
      const owner = this.#owners[owners[2 * at] ?? 0];
      const slot = owners[2 * at + 1] ?? 0;
      if (owner?.columns.locations[slot] === number * span + at) yield { owner, slot, at };
    }
  }

  /** The content of a block; those that were read last are kept. */
  #open(number: number): Unpacked {
    const kept = this.#unpacked.get(number);
    if (kept !== undefined) {
      this.#unpacked.delete(number);
      this.#unpacked.set(number, kept);
      return kept;
    }
    const block = this.#blocks[number];
    if (block === undefined) throw new Error(`There is no block ${number}.`);
    const unpacked: Unpacked = { lines: unpack(block.body), records: [] };
    this.#unpacked.set(number, unpacked);
    for (const oldest of this.#unpacked.keys()) {
      if (this.#unpacked.size <= keptUnpacked) break;
      this.#unpacked.delete(oldest);
    }
    return unpacked;
  }
}

function toStored(line: string, revision: number): Stored<unknown> {
  const [key, value]: [string, unknown] = JSON.parse(line);
  return { key, value, revision };
}
