import { Mutex } from "async-mutex";
import { isHex } from "viem";
import { z } from "zod";
import { causesOf } from "../../../protocol/coded-error.ts";
import { ask, type Node } from "../../../relayer/node/node.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import {
  type CallChange,
  type ChainChange,
  type ChainSource,
  type CheckpointChange,
  isLasting,
} from "../../../server/store/chain-log.ts";
import { StoreUnavailableError } from "../../../server/store/store.ts";
import { withoutMining } from "../client/reorg.ts";
import type { KeptOffset } from "../clock/clock.ts";
import type { MiningPace } from "../clock/mining.ts";
import { isDropping, isRewinding } from "./changing-methods.ts";
import { isOfKnownBlocks, type KnownBlock } from "./known-blocks.ts";
import { ChainUnreadError, NotDurableError } from "./not-durable-error.ts";
import { describeBlock, type ReadBlock, readBlock } from "./read-block.ts";
import { readPool, UnpaidSenders } from "./unpaid-senders.ts";

/** How many blocks are read at once. */
const portion = 64;

const nextSchema = z.object({ baseFeePerGas: hexSchema, gasLimit: hexSchema });

/** The transactions of a reorg, each with the block that it is for, the first being 0. */
const replacedSchema = z.array(z.tuple([z.unknown(), z.int()]));

/** When blocks are made, by what was recorded of it. */
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
  readonly #hashes = new Map<number, string>();
  #head: KnownBlock;
  /** The number of the block of the newest checkpoint, or of the one that the chain came from. */
  #checkpoint: number;
  #happened: ChainChange[] = [];
  /** Whether the node has answered something that only a block may have that is not known yet. */
  #isBehind = true;
  #paused = false;
  readonly #unpaid: UnpaidSenders;
  #mining: MiningPace;
  #keep: () => Promise<number> = async () => 0;
  /** How many commits the database with the records has, and how many are recorded. */
  #commits: number;
  #recordedCommits: number;
  #isEnding = false;

  /** Where the chain's clock keeps its offset. */
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
    this.#unpaid = new UnpaidSenders(node);
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
    for (const { number, hash } of known) this.#hashes.set(number, hash);
    this.#head = known.at(-1) ?? known[0];
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

  /** Resolves when what has happened is durable, with the number of records. @throws StoreUnavailableError */
  async keep(): Promise<number> {
    return await this.#keep();
  }

  /** Records that the node has a new head; resolves when its block is durable, with the number of records. @throws NotDurableError */
  async announce(): Promise<number> {
    this.#isBehind = true;
    return await this.#keepEffect();
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
    if (!isOfKnownBlocks({ method, params, answer }, this.#head, this.#hashes)) this.#isBehind = true;
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
      if (isRewinding(call.method)) await this.#unpaid.noteWaiting();
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

  /** How many blocks would be made again behind the newest checkpoint. */
  get behind(): number {
    return this.#head.number - this.#checkpoint;
  }

  /** How many blocks the chain has, as far as they are known. */
  get height(): number {
    return this.#head.number;
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
          const { number, hash } = this.#head;
          const next = await ask(this.#node, "eth_getBlockByNumber", ["pending", false], nextSchema);
          const state = await write();
          await this.#catchUp();
          if (this.#head.hash !== hash) return null;
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
    this.#happened = this.#happened.filter(isLasting);
    // Blocks that were made while the state of this one was kept.
    this.#rewind(head);
  }

  async #keepEffect(): Promise<number> {
    try {
      return await this.#keep();
    } catch (cause) {
      const isDisk =
        cause instanceof StoreUnavailableError &&
        !causesOf(cause).some((one) => one instanceof ChainUnreadError);
      throw isDisk ? new NotDurableError({ cause }) : cause;
    }
  }

  async #record(call: Omit<CallChange, "kind">): Promise<void> {
    const { method, params } = call;
    if (isDropping(method)) {
      const waiting = (await readPool(this.#node)).map(({ hash }) => hash);
      // What was mined meanwhile does not wait, and is not lost either.
      if (!this.#paused) await this.#catchUp();
      this.#happened.push({ kind: "drop", waiting });
      return;
    }
    if (!isRewinding(method)) {
      this.#happened.push({ kind: "call", ...call });
      return;
    }
    this.#isBehind = true;
    await this.#unpaid.noteWaiting();
    // Some of the blocks that it makes may equal those that it took away, so that hashes do not show how far it went back.
    const number = this.#head.number - Number(params[0] ?? 1);
    const hash = this.#hashes.get(number);
    if (hash !== undefined) this.#rewind({ number, hash });
    for (const [transaction] of replacedSchema.safeParse(params[1]).data ?? [])
      await this.#unpaid.note(transaction);
  }

  /** Reads what the node has made since. */
  async #catchUp(): Promise<void> {
    this.#isBehind = false;
    try {
      while (!(await this.#readNew())) {
        // A reorg came in between.
      }
    } catch (cause) {
      this.#isBehind = true;
      throw new ChainUnreadError({ cause });
    }
  }

  /** Reads new blocks. @returns false when the chain changed meanwhile. */
  async #readNew(): Promise<boolean> {
    const latest = await readBlock(this.#node, "latest");
    if (latest === null) return false;
    if (latest.hash === this.#head.hash) return true;
    const isNext = latest.parentHash === this.#head.hash;
    const common = isNext ? this.#head : await this.#findCommon(latest);
    if (common === null) return false;
    if (common.number < this.#head.number) {
      await this.#unpaid.noteWaiting();
      this.#rewind(common);
    }
    for (let first = common.number + 1; first < latest.number; first += portion) {
      const numbers = Array.from({ length: Math.min(portion, latest.number - first) }, (_, n) => first + n);
      const blocks = await Promise.all(numbers.map(async (number) => await readBlock(this.#node, number)));
      for (const block of blocks) if (block === null || !(await this.#add(block))) return false;
    }
    return await this.#add(latest);
  }

  /** The newest block that is known and still on the chain; null when the chain is not that long any more. */
  async #findCommon(latest: ReadBlock): Promise<KnownBlock | null> {
    for (let number = Math.min(this.#head.number, latest.number); ; number -= 1) {
      const known = this.#hashes.get(number);
      if (known === undefined) throw new Error(`Block ${number}, from which the chain came, is gone.`);
      const block = number === latest.number ? latest : await readBlock(this.#node, number);
      if (block === null) return null;
      if (block.hash === known) return { number, hash: known };
    }
  }

  async #add(block: ReadBlock): Promise<boolean> {
    if (block.parentHash !== this.#head.hash) return false;
    const { number, hash } = block;
    const described = await describeBlock(this.#node, block);
    const touched = await this.#unpaid.findTouched(number);
    this.#happened.push(touched.length === 0 ? described : { ...described, touched });
    this.#hashes.set(number, hash);
    this.#head = { number, hash };
    return true;
  }

  #rewind(to: KnownBlock): void {
    this.#unpaid.rewind(to.number);
    for (let number = this.#head.number; number > to.number; number -= 1) this.#hashes.delete(number);
    this.#happened.push({ kind: "rewind", number: to.number, hash: to.hash });
    this.#head = { number: to.number, hash: to.hash };
    // The blocks before a checkpoint that was taken away are to be made again, until there is another one.
    if (this.#checkpoint > to.number) this.#checkpoint = 0;
  }
}
