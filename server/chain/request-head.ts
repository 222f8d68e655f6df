import type { Hex } from "viem";
import { type BlockPoint, ChainMovedError } from "./chain-reader.ts";
import { type HeadReader, type Heads, isStateGone, settled } from "./head-reader.ts";

/**
 * Reads at the block that was the newest at the first read, for one request: all its reads are of one block, and one check at the end tells
 * whether that block is still on the chain.
 */
export class RequestHead implements Heads {
  readonly #reader: HeadReader;
  readonly #confirm: () => Promise<void>;
  #reading: Promise<BlockPoint> | null = null;
  #point: BlockPoint | null = null;

  /** @param confirm - resolves with the first read, or rejects: nothing is read then. */
  constructor(reader: HeadReader, confirm: () => Promise<void>) {
    this.#reader = reader;
    this.#confirm = confirm;
  }

  async head(): Promise<BlockPoint> {
    return await this.atOneHead(async (head) => head);
  }

  async alone<T>(read: (at: { blockHash?: Hex }) => Promise<T>): Promise<T> {
    return await this.atOneHead(async ({ hash }) => await read({ blockHash: hash }));
  }

  /** @throws ChainMovedError also when the node has dropped the state of the block. */
  async atOneHead<T>(read: (head: BlockPoint) => Promise<T>, point = this.#point): Promise<T> {
    try {
      return await (point === null ? this.#atNewest(read) : read(point));
    } catch (error) {
      throw isStateGone(error) ? new ChainMovedError() : error;
    }
  }

  async inTwoSteps<A, T>(
    first: (head: BlockPoint) => Promise<A>,
    second: (found: A, head: BlockPoint) => Promise<T>,
  ): Promise<T> {
    const found = await this.atOneHead(first);
    return await this.atOneHead(async (head) => await second(found, head));
  }

  /** The other reads of the request are of the block that is too old: the request has to start over. */
  async later(): Promise<never> {
    throw new ChainMovedError();
  }

  /** Reads at the newest block from now on. */
  renew(): void {
    this.#reading = null;
    this.#point = null;
  }

  /** @throws ChainMovedError when the block of the reads has left the chain. */
  async settle(): Promise<void> {
    const point = await this.#reading;
    if (point !== null && !(await this.#reader.isOnChain(point))) throw new ChainMovedError();
  }

  async #atNewest<T>(read: (head: BlockPoint) => Promise<T>): Promise<T> {
    const early = this.#reader.expected;
    const reads = early === undefined ? undefined : settled(async () => await read(early));
    const head = await this.#findPoint();
    const found = head.hash === early?.hash ? await reads : undefined;
    // A block that was expected may have come only after the read at it had failed.
    return found !== undefined && "value" in found ? found.value : await read(head);
  }

  async #findPoint(): Promise<BlockPoint> {
    const reading = this.#reading ?? this.#reader.head();
    this.#reading = reading;
    const [point] = await Promise.all([reading, this.#confirm()]);
    if (this.#reading === reading) this.#point = point;
    return point;
  }
}
