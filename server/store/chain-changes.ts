import { keccak256 } from "viem";

/** A block, with everything that is needed to make it again. */
export interface BlockChange {
  kind: "block";
  number: number;
  hash: string;
  /** Unix seconds. */
  timestamp: number;
  /** In wei, as a hexadecimal quantity. */
  base_fee: string;
  /** As a hexadecimal quantity. */
  gas_limit: string;
  coinbase: string;
  /** In their order: signed bytes, or what the node was asked to send for an account that it impersonated. */
  transactions: readonly (string | { readonly [field: string]: unknown })[];
  /** The accounts that are empty and in the state since this block, because a transaction of theirs could not be paid for. */
  touched?: readonly string[];
}

/** A call that changed the chain between blocks, such as `anvil_setBalance`. */
export interface CallChange {
  kind: "call";
  method: string;
  params: readonly unknown[];
}

/** The blocks after one left the chain, because of a reorg or a revert; so did the calls after the first of these. */
export interface RewindChange {
  kind: "rewind";
  /** Of the block that is the newest one now. */
  number: number;
  hash: string;
}

/** A live clock was moved. */
export interface ClockChange {
  kind: "clock";
  /** In seconds, ahead of the wall clock. */
  offset: number;
}

/** The chain's state, with everything before this record in it, was written to a file. */
export interface CheckpointChange {
  kind: "checkpoint";
  /** Of the newest block. */
  number: number;
  hash: string;
  /** Of the block after it, in wei, as a hexadecimal quantity. */
  base_fee: string;
  /** Of the block after it, as a hexadecimal quantity. */
  gas_limit: string;
  /** SHA-256 of the file, in hex. */
  state: string;
}

/** A change of the mining mode. */
export interface MiningChange {
  kind: "mining";
  /** At each transaction, at a fixed interval in seconds, or only on request. */
  every: "transaction" | "never" | number;
}

/** A transaction was sent, whose block comes later. */
export interface SentChange {
  kind: "sent";
  /** Signed bytes. */
  transaction: string;
}

/** Transactions were dropped from the pool. */
export interface DropChange {
  kind: "drop";
  /** The hashes of those that still wait for a block. */
  waiting: readonly string[];
}

/** The records are in a database, which had this number of commits by then. */
export interface DatabaseChange {
  kind: "database";
  commits: number;
}

/** Something that happened on the chain, or to the records that belong to it. */
export type ChainChange =
  | BlockChange
  | CallChange
  | RewindChange
  | ClockChange
  | CheckpointChange
  | MiningChange
  | SentChange
  | DropChange
  | DatabaseChange;

/** Returns whether a change is a call after which the node takes other accounts and signatures as its own. */
export function isImpersonation(change: ChainChange): change is CallChange {
  return change.kind === "call" && /impersonat/i.test(change.method);
}

/** Returns whether a change stays when a reorg removes blocks, although a restore undoes it, except a move of the clock. */
function outlastsReorg(change: ChainChange): boolean {
  return isImpersonation(change) || ["clock", "mining", "sent"].includes(change.kind);
}

/** Records what happens on the chain that a store's records belong to. */
export interface ChainSource {
  /** Returns the changes since the last call, in order; each record is returned once. */
  take(): Promise<readonly ChainChange[]>;
  /** Is handed back what could not be kept. */
  giveBack(records: readonly ChainChange[]): void;
}

/**
 * The changes that lead from a chain's first state to its current state: blocks and calls in order, without those that
 * were undone.
 */
export class ChainLog {
  #records: ChainChange[] = [];
  #count = 0;
  /** The number of records of transactions that wait for a block. */
  #waiting = 0;
  /** The last of its kind, which no rewind takes back. */
  #database: DatabaseChange | null = null;

  constructor(records: readonly ChainChange[] = [], count = records.length) {
    this.#replace(records);
    this.#count = count;
  }

  /** The number of records that were added, including those that were undone. */
  get count(): number {
    return this.#count;
  }

  /** The records that count now; adding others does not change this list. */
  get records(): readonly ChainChange[] {
    return this.#database === null ? [...this.#records] : [...this.#records, this.#database];
  }

  /** The number of commits of the database with the records at the last record. */
  get databaseCommits(): number {
    return this.#database?.commits ?? 0;
  }

  /** Adds what happened next. */
  add(record: ChainChange): void {
    this.#count += 1;
    if (record.kind === "rewind") this.#rewind(record);
    else if (record.kind === "drop") this.#drop(record);
    else if (record.kind === "database") this.#database = record;
    else this.#records.push(record);
    if (record.kind === "sent") this.#waiting += 1;
    if (record.kind === "block" && this.#waiting > 0) this.#forgetSent(record);
  }

  /** Returns this log with the chain gone back to earlier records of it, which is counted as one more. */
  restored(earlier: readonly ChainChange[]): ChainLog {
    const kept = new Set(earlier);
    // A restore drops what waits in the pool.
    const there = earlier.filter(({ kind }) => kind !== "sent");
    const moves = this.#records.filter((record) => record.kind === "clock" && !kept.has(record));
    const restored = new ChainLog([...there, ...moves], this.#count + 1);
    if (restored.databaseCommits < this.databaseCommits) restored.#database = this.#database;
    return restored;
  }

  #replace(records: readonly ChainChange[]): void {
    this.#records = records.filter(({ kind }) => kind !== "database");
    this.#waiting = records.filter(({ kind }) => kind === "sent").length;
    this.#database = records.findLast((record) => record.kind === "database") ?? this.#database;
  }

  /** A node's state of a block has the calls after it in it, up to the next block. */
  #rewind({ number }: RewindChange): void {
    const end = this.#records.findIndex((record) => record.kind === "block" && record.number > number);
    if (end === -1) return;
    const left = this.#records.splice(end);
    this.#records.push(...left.filter(outlastsReorg));
  }

  /**
   * Removes the transactions that are no longer in the pool, so that they are not sent again, including those replaced
   * by a dropped one.
   */
  #drop({ waiting }: DropChange): void {
    const hashes = new Set(waiting);
    this.#replace(
      this.#records.filter((record) => record.kind !== "sent" || hashes.has(hashOf(record.transaction))),
    );
  }

  /** Removes the transactions that are in a block, because they no longer wait for one. */
  #forgetSent({ transactions }: BlockChange): void {
    const mined = new Set<unknown>(transactions);
    this.#replace(this.#records.filter((record) => record.kind !== "sent" || !mined.has(record.transaction)));
  }
}

function hashOf(transaction: string): string {
  return keccak256(Buffer.from(transaction.slice(2), "hex"));
}
