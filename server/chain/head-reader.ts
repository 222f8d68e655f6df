import {
  BlockNotFoundError,
  type Hex,
  numberToHex,
  type PublicClient,
  RpcRequestError,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from "viem";
import { causesOf } from "../../protocol/coded-error.ts";
import { type BlockPoint, ChainUnavailableError, ContradictionError } from "./chain-reader.ts";

/** The number of times that a read starts over when the chain changed under it. */
const headRetries = 3;

/** The outcome of reads. */
export type Settled<T> = { value: T } | { error: unknown };

/** Decides at which block reads are made. */
export interface Heads {
  /** The block to read at. */
  head(): Promise<BlockPoint>;
  /** Runs a single read, which needs no check of its block: at the newest block if it gets no block. */
  alone<T>(read: (at: { blockHash?: Hex }) => Promise<T>): Promise<T>;
  /** Runs reads at one block, or at a given one. */
  atOneHead<T>(read: (head: BlockPoint) => Promise<T>, point?: BlockPoint): Promise<T>;
  /** Runs reads at one block, and then at the same block what follows from them. */
  inTwoSteps<A, T>(
    first: (head: BlockPoint) => Promise<A>,
    second: (found: A, head: BlockPoint) => Promise<T>,
  ): Promise<T>;
  /** Repeats a read that needs a newer block than its first try had. */
  later<T>(read: () => Promise<T>): Promise<T>;
}

/** Reads at the newest block, so that all parts of an answer are of one block. */
export class HeadReader implements Heads {
  readonly #client: PublicClient;
  #seen: BlockPoint | undefined;

  constructor(client: PublicClient) {
    this.#client = client;
  }

  /** Reads the newest block. */
  async head(): Promise<BlockPoint> {
    const block = await this.#client.getBlock({ blockTag: "latest" });
    this.#seen = { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) };
    return this.#seen;
  }

  /** Notes which block is probably the newest, so that the next reads are made at it before that is known. */
  expect(head: BlockPoint): void {
    this.#seen = head;
  }

  /** The block that is probably the newest. */
  get expected(): BlockPoint | undefined {
    return this.#seen;
  }

  async alone<T>(read: (at: { blockHash?: Hex }) => Promise<T>): Promise<T> {
    return await read({});
  }

  async later<T>(read: () => Promise<T>): Promise<T> {
    return await read();
  }

  /**
   * Reads at the newest block or at a given one, and again if that block is no longer on the chain afterwards, or if it was the newest and the
   * node has dropped its state meanwhile.
   *
   * @throws ChainUnavailableError when the chain changed under each try.
   */
  async atOneHead<T>(read: (head: BlockPoint) => Promise<T>, point?: BlockPoint): Promise<T> {
    return await this.#unlessGone(
      async () =>
        point === undefined
          ? await this.atNewest(read)
          : { head: point, outcome: await settled(async () => await read(point)) },
      read,
      point === undefined,
    );
  }

  /**
   * Reads at the newest block, and then at the same block what follows from it; both again if that block is no longer on the chain
   * afterwards, or if the node has dropped its state meanwhile.
   *
   * @throws ChainUnavailableError when the chain changed under each try.
   */
  async inTwoSteps<A, T>(
    first: (head: BlockPoint) => Promise<A>,
    second: (found: A, head: BlockPoint) => Promise<T>,
  ): Promise<T> {
    const both = async (head: BlockPoint) => await second(await first(head), head);
    return await this.#unlessGone(async () => {
      const { head, outcome } = await this.atNewest(first);
      if ("error" in outcome) return { head, outcome };
      return { head, outcome: await settled(async () => await second(outcome.value, head)) };
    }, both);
  }

  /**
   * @param again - repeats the read at the same block.
   * @param isFree - whether `read` reads at the newest block there is.
   */
  async #unlessGone<T>(
    read: () => Promise<{ head: BlockPoint; outcome: Settled<T> }>,
    again: (head: BlockPoint) => Promise<T>,
    isFree = true,
  ): Promise<T> {
    for (let tries = 0; tries < headRetries; tries += 1) {
      const first = await read();
      const { head } = first;
      let { outcome } = first;
      let place = await this.#placeOf(head);
      if (place === "older") {
        outcome = await settled(async () => await again(head));
        place = await this.#placeOf(head);
      }
      if (place === "gone") continue;
      if (!("error" in outcome)) return outcome.value;
      if (outcome.error instanceof ContradictionError && tries + 1 < headRetries) continue;
      if (!(isFree && place === "older" && isStateGone(outcome.error))) throw outcome.error;
    }
    throw new ChainUnavailableError("The chain changed each time that it was read; ask again.");
  }

  /** Returns whether a block is on the chain now. */
  async isOnChain({ number, hash }: BlockPoint): Promise<boolean> {
    return (await this.#hashOf(numberToHex(number))) === hash;
  }

  /**
   * Returns whether a block is the newest one now, an older one, or no longer on the chain. Reads at an older block must be repeated if it was
   * the newest when they were made: from the execution of a block until it is on the chain, Anvil reads at the block before it from the state
   * of the next one. For older blocks, it keeps their states, but see {@link isStateGone}.
   */
  async #placeOf(point: BlockPoint): Promise<"newest" | "older" | "gone"> {
    const [isOnChain, newest] = await Promise.all([this.isOnChain(point), this.#hashOf("latest")]);
    if (!isOnChain) return "gone";
    return newest === point.hash ? "newest" : "older";
  }

  /** Sends a request of its own: `getBlock` would share the answer to an equal one that was sent before. */
  async #hashOf(block: Hex | "latest"): Promise<Hex | undefined> {
    const found = await this.#client.request<{
      Method: "eth_getBlockByNumber";
      Parameters: [Hex | "latest", false];
      ReturnType: { hash: Hex } | null;
    }>({ method: "eth_getBlockByNumber", params: [block, false] });
    return found?.hash;
  }

  /** Runs reads at the newest block, without a check afterwards. Most reads meet the block that the last one met: they are asked at it in the message that asks for the newest, which decides. */
  async atNewest<T>(
    read: (head: BlockPoint) => Promise<T>,
  ): Promise<{ head: BlockPoint; outcome: Settled<T> }> {
    const seen = this.#seen;
    const [head, early] = await Promise.all([this.head(), seen && settled(async () => await read(seen))]);
    // A block that was expected may have come only after the read at it had failed.
    const isUsable = early !== undefined && "value" in early && head.hash === seen?.hash;
    const outcome = isUsable ? early : await settled(async () => await read(head));
    return { head, outcome };
  }
}

/** A node answers a read at a block that has gone with an error; whether it has is seen afterwards. */
export async function settled<T>(read: () => Promise<T>): Promise<Settled<T>> {
  return await read().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/**
 * Returns whether a read has failed because Anvil has dropped the state of its block; every invalid parameter has the same error code.
 *
 * Anvil drops the oldest of so many states, and counts a state again each time that its block is the newest before another is mined. So a
 * block that many restores have gone back to loses its state while it is still among the newest.
 */
export function isStateGone(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof RpcRequestError && /BlockOutOfRange/.test(cause.details),
  );
}

/** Answers undefined for what the node does not have; every other failure stays one. */
export function absent(error: unknown): undefined {
  const missing =
    error instanceof TransactionNotFoundError ||
    error instanceof TransactionReceiptNotFoundError ||
    error instanceof BlockNotFoundError;
  if (!missing) throw error;
}
