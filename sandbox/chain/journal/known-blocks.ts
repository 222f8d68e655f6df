import { z } from "zod";
import type { Node } from "../../../relayer/node/node.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import type { ChainChange } from "../../../server/store/chain-changes.ts";
import { describeBlock, type ReadBlock, readBlock } from "./read-block.ts";
import { UnpaidSenders } from "./unpaid-senders.ts";

/** The number of blocks that are read at once. */
const portion = 64;

/** The transactions of a reorg, each with the block that it is for, the first being 0. */
const replacedSchema = z.array(z.tuple([z.unknown(), z.int()]));

/** A block by its number and hash. */
export interface KnownBlock {
  number: number;
  hash: string;
}

const knownSchema = z.object({ number: z.string().transform(Number), hash: z.string() });

/** The index of the param with the block of a read, or the last block of its range. */
const placeOfBlock: { readonly [method: string]: number } = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getLogs: 0,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};

/** A block by its number or, as EIP-1898 has it, by its hash; or the last one of a filter. */
const placeSchema = z.union([
  hexSchema,
  z.object({ blockHash: hexSchema }).transform(({ blockHash }) => blockHash),
  z.object({ toBlock: hexSchema }).transform(({ toBlock }) => toBlock),
]);

/** One read of the chain, and what the node has answered. */
interface AnsweredRead {
  method: string;
  params: unknown;
  answer: unknown;
}

/** The blocks of a chain that are recorded, up to its head as far as it is known. */
export class KnownBlocks {
  readonly #node: Node;
  readonly #record: (change: ChainChange) => void;
  readonly #hashes = new Map<number, string>();
  readonly #unpaid: UnpaidSenders;
  #head: KnownBlock;

  /**
   * @param known - the blocks that are recorded already; the first is the one that the chain came from.
   * @param record - called with each block that is new, and with each rewind.
   */
  constructor(
    node: Node,
    known: readonly [KnownBlock, ...KnownBlock[]],
    record: (change: ChainChange) => void,
  ) {
    this.#node = node;
    this.#record = record;
    this.#unpaid = new UnpaidSenders(node);
    for (const { number, hash } of known) this.#hashes.set(number, hash);
    this.#head = known.at(-1) ?? known[0];
  }

  get head(): KnownBlock {
    return this.#head;
  }

  /**
   * Returns whether an answer is about known blocks only. A caller that reads at the number of a block compares its
   * hash afterwards, so that a reorg shows then.
   */
  cover({ method, params, answer }: AnsweredRead): boolean {
    if (method === "eth_getBlockByNumber") {
      const { data } = knownSchema.safeParse(answer);
      return data !== undefined && this.#hashes.get(data.number) === data.hash;
    }
    if (method === "eth_chainId") return true;
    const place = placeOfBlock[method];
    if (!Array.isArray(params) || place === undefined) return false;
    const { data } = placeSchema.safeParse(params[place]);
    return data !== undefined && (data === this.#head.hash || Number(data) <= this.#head.number);
  }

  /** Reads what the node has made since, and what a reorg has taken. */
  async catchUp(): Promise<void> {
    while (!(await this.#readNew())) {
      // A reorg came in between.
    }
  }

  /** To be called before a call that takes blocks off the chain: it leaves their transactions in the pool. */
  async beforeReorg(): Promise<void> {
    await this.#unpaid.noteWaiting();
  }

  /** To be called after a call that takes blocks off the chain, with its params. */
  async afterReorg(params: readonly unknown[]): Promise<void> {
    await this.#unpaid.noteWaiting();
    // Some of the blocks that it makes may equal those that it took away, so that hashes do not show how far it went back.
    const number = this.#head.number - Number(params[0] ?? 1);
    const hash = this.#hashes.get(number);
    if (hash !== undefined) this.rewind({ number, hash });
    for (const [transaction] of replacedSchema.safeParse(params[1]).data ?? [])
      await this.#unpaid.note(transaction);
  }

  /** Forgets the blocks above one. */
  rewind(to: KnownBlock): void {
    const { number, hash } = to;
    this.#unpaid.rewind(number);
    for (let above = this.#head.number; above > number; above -= 1) this.#hashes.delete(above);
    this.#head = { number, hash };
    this.#record({ kind: "rewind", number, hash });
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
      this.rewind(common);
    }
    for (let first = common.number + 1; first < latest.number; first += portion) {
      const numbers = Array.from({ length: Math.min(portion, latest.number - first) }, (_, n) => first + n);
      const blocks = await Promise.all(numbers.map(async (number) => await readBlock(this.#node, number)));
      for (const block of blocks) if (block === null || !(await this.#add(block))) return false;
    }
    return await this.#add(latest);
  }

  /** The newest block that is known and still on the chain; null when the chain is no longer that long. */
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
    this.#record(touched.length === 0 ? described : { ...described, touched });
    this.#hashes.set(number, hash);
    this.#head = { number, hash };
    return true;
  }
}
