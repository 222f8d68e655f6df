import { Mutex } from "async-mutex";
import { isHex } from "viem";
import { z } from "zod";
import { askNode, type Node } from "../../../relayer/node/node.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import type {
  CallChange,
  ChainChange,
  ChainSource,
  CheckpointChange,
} from "../../../server/store/chain-changes.ts";
import { StoreUnavailableError } from "../../../server/store/store.ts";
import { withoutMining } from "../client/reorg.ts";
import type { KeptOffset } from "../clock/clock.ts";
import type { MiningPace } from "../clock/mining.ts";
import { isDropping, isRewinding } from "./changing-methods.ts";
import { type KnownBlock, KnownBlocks } from "./known-blocks.ts";
import { ChainUnreadError, NotDurableError } from "./not-durable-error.ts";
import { readPool } from "./unpaid-senders.ts";

const nextSchema = z.object({ baseFeePerGas: hexSchema, gasLimit: hexSchema });

/** Returns the mining pace by the last recorded change of it. */
export function lastPace(changes: readonly ChainChange[]): MiningPace {
  return changes.findLast((change) => change.kind === "mining")?.every ?? "transaction";
}

/**
 * Collects everything that changes a chain, in its order: blocks no matter who made them, blocks that a reorg removed, and calls that change the
 * chain between blocks.
 *
 * Blocks are read from the node when a caller relies on what it has answered. A call is recorded before any block that was not known
 * before it, so that a block may have been made without its effect; making the blocks again shows which.
 */
export class ChainJournal implements ChainSource {
  readonly #node: Node;
  readonly #mutex = new Mutex();
  readonly #blocks: KnownBlocks;
  /** The number of the block of the newest checkpoint, or of the one that the chain came from. */
  #checkpoint: number;
  #happened: ChainChange[] = [];
  /** Whether the node has answered something that only a block may have that is not known yet. */
  #isBehind = true;
  #paused = false;
  #mining: MiningPace;
  #keep: () => Promise<number> = async () => 0;
  /** The number of commits of the database with the records, and the number that is recorded. */
  #commits: number;
  #recordedCommits: number;
  readonly #making = new Mutex();
  #isEnding = false;

  /** The storage of the clock's offset. */
  readonly offset: KeptOffset;

  /**
   * @param known - the blocks that are recorded already; the first is the one that the chain came from.
   * @param changes - what was recorded in earlier runs.
   * @param checkpoint - the number of the block whose state was loaded.
   */
  constructor(
    node: Node,
    known: readonly [KnownBlock, ...KnownBlock[]],
    changes: readonly ChainChange[],
    checkpoint: number,
  ) {
    this.#node = node;
    this.#blocks = new KnownBlocks(node, known, (change) => this.#add(change));
    const last = changes.findLast((change) => change.kind === "clock");
    this.offset = {
      read: () => last?.offset ?? 0,
      keep: async (offset) => {
        const change: ChainChange = { kind: "clock", offset };
        this.#happened.push(change);
        try {
          await this.#keep();
        } catch (error) {
          // The clock has not moved: it must not with a later write.
          this.#happened = this.#happened.filter((other) => other !== change);
          throw error;
        }
      },
    };
    this.#checkpoint = checkpoint;
    this.#mining = lastPace(changes);
    this.#commits = changes.findLast((change) => change.kind === "database")?.commits ?? 0;
    this.#recordedCommits = this.#commits;
  }

  /** Sets what makes the records durable, and says how many there are then. */
  keptBy(keep: () => Promise<number>): void {
    this.#keep = keep;
  }

  async take(): Promise<readonly ChainChange[]> {
    return await this.#mutex.runExclusive(async () => {
      if (this.#isBehind && !this.#paused) await this.#catchUp();
      const isDue = this.#happened.length > 0 || this.#isEnding;
      if (isDue && this.#commits > this.#recordedCommits) {
        this.#happened.push({ kind: "database", commits: this.#commits });
        this.#recordedCommits = this.#commits;
      }
      return this.#happened.splice(0);
    });
  }

  giveBack(changes: readonly ChainChange[]): void {
    this.#happened = [...changes, ...this.#happened];
  }

  /** Resolves when what has happened is durable, with the number of records. @throws StoreUnavailableError, ChainUnreadError */
  async keep(): Promise<number> {
    return await this.#keep();
  }

  /** Records that the node has a new head; resolves when its block is durable, with the number of records. @throws NotDurableError */
  async announce(): Promise<number> {
    this.#isBehind = true;
    return await this.#keepEffect();
  }

  /**
   * Has blocks made, and resolves when they are durable. One caller after the other: while the journal reads the state of a block, Anvil must still have
   * it, and it keeps that of the newest ones only.
   *
   * @throws NotDurableError
   */
  async mine<T>(make: () => Promise<T>): Promise<T> {
    return await this.#making.runExclusive(async () => {
      const made = await make();
      await this.announce();
      return made;
    });
  }

  /** Records, with what happens next or at the end, how many commits the database with the records has. */
  committed(commits: number): void {
    this.#commits = Math.max(this.#commits, commits);
  }

  /** Has the last number of commits recorded although nothing else happens. */
  end(): void {
    this.#isEnding = true;
  }

  /** Returns what the node answers, and notes that its reader may rely on it. */
  async observe<T>(method: string, params: unknown, answering: Promise<T>): Promise<T> {
    const answer = await answering;
    if (!this.#blocks.cover({ method, params, answer })) this.#isBehind = true;
    return answer;
  }

  /**
   * Makes a call that changes the chain between blocks, or takes blocks off it.
   *
   * @param isDone - whether an answer says that the call was carried out.
   * @returns the answer, once what the call did is durable.
   * @throws NotDurableError
   */
  async call<T>(
    call: Omit<CallChange, "kind">,
    run: () => Promise<T>,
    isDone: (answer: T) => boolean = () => true,
  ): Promise<T> {
    const answer = await this.#mutex.runExclusive(async () => {
      if (!this.#paused) await this.#catchUp();
      if (isRewinding(call.method)) await this.#blocks.beforeReorg();
      const answered = await run();
      if (isDone(answered)) await this.#record(call);
      return answered;
    });
    await this.#keepEffect();
    return answer;
  }

  /** Records when blocks are made from now on; resolves when that is durable. */
  async mines(every: MiningPace): Promise<void> {
    this.#mining = every;
    this.#happened.push({ kind: "mining", every });
    await this.#keepEffect();
  }

  /** Called when blocks are made after a restore, which has put that into the journal. */
  restoredMining(every: MiningPace): void {
    this.#mining = every;
  }

  /**
   * Sends a transaction, and records it unless its block is made at once.
   *
   * @param transaction - its signed bytes.
   * @param isDone - whether an answer says that the node has taken it.
   * @returns the answer, once the record is durable.
   * @throws NotDurableError
   */
  async send<T>(
    transaction: unknown,
    run: () => Promise<T>,
    isDone: (answer: T) => boolean = () => true,
  ): Promise<T> {
    const step = async () => {
      const answered = await run();
      const isWaiting = this.#mining !== "transaction" && isDone(answered) && isHex(transaction);
      if (isWaiting) this.#happened.push({ kind: "sent", transaction });
      return { answered, isWaiting };
    };
    // Between a drop and the look at what it has left, nothing may come into the pool.
    const { answered, isWaiting } =
      this.#mining === "transaction" ? await step() : await this.#mutex.runExclusive(step);
    if (isWaiting) await this.#keepEffect();
    return answered;
  }

  /** The number of blocks behind the newest checkpoint, which a start would make again. */
  get behind(): number {
    return this.#blocks.head.number - this.#checkpoint;
  }

  /** The number of blocks of the chain, as far as they are known. */
  get height(): number {
    return this.#blocks.head.number;
  }

  /**
   * Records a checkpoint at the newest block, between two calls, while the node makes no block.
   *
   * @param write - keeps the state that the chain has, and returns its SHA-256 in hex.
   * @returns null when the chain has changed meanwhile, so that the state may be torn.
   */
  async checkpoint(write: () => Promise<string>): Promise<CheckpointChange | null> {
    return await this.#mutex.runExclusive(
      async () =>
        await withoutMining(this.#node, async () => {
          await this.#catchUp();
          const { number, hash } = this.#blocks.head;
          const next = await askNode(this.#node, "eth_getBlockByNumber", ["pending", false], nextSchema);
          const state = await write();
          await this.#catchUp();
          if (this.#blocks.head.hash !== hash) return null;
          const { baseFeePerGas, gasLimit } = next;
          const change: CheckpointChange = {
            kind: "checkpoint",
            number,
            hash,
            base_fee: baseFeePerGas,
            gas_limit: gasLimit,
            state,
          };
          this.#happened.push(change);
          this.#checkpoint = number;
          return change;
        }),
    );
  }

  /** Has nothing more read from the node, whose chain is about to go back. */
  async pause(): Promise<void> {
    await this.#mutex.runExclusive(() => {
      this.#paused = true;
    });
  }

  /** Ends a pause. @param head - the newest block, if the chain went back to it, and the journal with it. */
  resume(head?: KnownBlock): void {
    this.#paused = false;
    this.#isBehind = true;
    if (head === undefined) return;
    this.#happened = this.#happened.filter(({ kind }) => kind === "clock");
    // Blocks that were made while the state of this one was kept.
    this.#blocks.rewind(head);
  }

  #add(change: ChainChange): void {
    this.#happened.push(change);
    // The blocks before a checkpoint that was taken away are to be made again, until there is another one.
    if (change.kind === "rewind" && this.#checkpoint > change.number) this.#checkpoint = 0;
  }

  async #keepEffect(): Promise<number> {
    try {
      return await this.#keep();
    } catch (cause) {
      throw cause instanceof StoreUnavailableError ? new NotDurableError({ cause }) : cause;
    }
  }

  async #record(call: Omit<CallChange, "kind">): Promise<void> {
    const { method, params } = call;
    if (isDropping(method)) {
      const waiting = (await readPool(this.#node)).map(({ hash }) => hash);
      // A transaction that was mined meanwhile is neither pending nor dropped.
      if (!this.#paused) await this.#catchUp();
      this.#happened.push({ kind: "drop", waiting });
      return;
    }
    if (!isRewinding(method)) {
      this.#happened.push({ kind: "call", ...call });
      return;
    }
    this.#isBehind = true;
    await this.#blocks.afterReorg(params);
  }

  /** Reads what the node has made since. */
  async #catchUp(): Promise<void> {
    this.#isBehind = false;
    try {
      await this.#blocks.catchUp();
    } catch (cause) {
      this.#isBehind = true;
      throw new ChainUnreadError({ cause });
    }
  }
}
