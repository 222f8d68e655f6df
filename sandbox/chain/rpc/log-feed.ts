import type { WebSocket } from "ws";
import { z } from "zod";
import { openDirectSocket } from "../../lib/http/direct/open-direct-socket.ts";
import { ChainSilentError } from "./anvil-http.ts";

/** One or more values, of which any fits; every value fits an empty list, and one with null. */
const valuesSchema = z
  .union([z.string(), z.array(z.string().nullable())])
  .nullish()
  .transform((value) => {
    const values = [value ?? null].flat();
    return values.every((one) => one !== null) ? values.map(withPrefix) : [];
  });

/** A number of a block; a name such as `latest` is none. */
const heightSchema = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => (/^\d/.test(`${value}`) ? BigInt(`${value}`) : null));

/** The logs that a caller asks for, as Anvil takes them. */
const filterSchema = z.preprocess(
  (filter) => filter ?? {},
  z.object({
    address: valuesSchema,
    topics: z.array(valuesSchema).nullish(),
    fromBlock: heightSchema,
    toBlock: heightSchema,
    blockHash: valuesSchema,
  }),
);

type LogFilter = z.output<typeof filterSchema>;

const notificationSchema = z.object({
  params: z.object({
    result: z.object({
      address: z.string(),
      topics: z.array(z.string()),
      blockNumber: z.string(),
      blockHash: z.string(),
    }),
  }),
});

type Log = z.output<typeof notificationSchema>["params"]["result"];

/** Where the logs of a subscription go. */
interface Taker {
  /** The hash of the newest block before the subscription, whose logs may still be on their way. */
  after: string;
  /** Takes a notification, as JSON. */
  take: (notification: string) => void;
  /** Is called when no more will come, because Anvil has ended the connection. */
  end: () => void;
}

/**
 * The logs of new blocks for the subscriptions of all WebSockets, from one subscription to Anvil: Anvil makes the notifications of a block for all its
 * subscriptions at once, which takes memory for each log and subscription.
 */
export class LogFeed {
  readonly #urlNow: () => string;
  readonly #takers = new Map<unknown, Taker & { filter: LogFilter }>();
  #chain: WebSocket | null = null;
  #opening: Promise<void> | null = null;

  /** @param urlNow - returns the address of Anvil's WebSocket now. */
  constructor(urlNow: () => string) {
    this.#urlNow = urlNow;
  }

  /**
   * Hands over the logs of the blocks from now on that a filter takes.
   *
   * @param subscription - the identifier that the notifications get.
   * @param filter - that Anvil has accepted for a subscription.
   * @throws ChainSilentError
   */
  async add(subscription: unknown, filter: unknown, taker: Taker): Promise<void> {
    this.#takers.set(subscription, { filter: filterSchema.parse(filter), ...taker });
    this.#opening ??= this.#open();
    try {
      await this.#opening;
    } catch (error) {
      this.delete(subscription);
      throw error;
    }
  }

  /** Ends a subscription. */
  delete(subscription: unknown): void {
    this.#takers.delete(subscription);
    if (this.#takers.size === 0) this.close();
  }

  /** Ends the connection to Anvil. */
  close(): void {
    this.#chain?.close();
    this.#chain = null;
    this.#opening = null;
  }

  /** Resolves when the subscription to all logs is there. */
  #open(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const chain = openDirectSocket(this.#urlNow());
    this.#chain = chain;
    let own: string | null = null;
    chain.once("open", () =>
      chain.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs"]}'),
    );
    chain.on("message", (data) => {
      // One that is being closed still reads what was sent before.
      if (this.#chain !== chain) return;
      const text = data.toString();
      if (own === null) {
        own = z.object({ result: z.string() }).parse(JSON.parse(text)).result;
        resolve();
      } else this.#notify(text, own);
    });
    // A close follows.
    chain.on("error", () => {});
    chain.once("close", () => {
      reject(new ChainSilentError("The chain has closed the connection. Connect again."));
      if (this.#chain !== chain) return;
      for (const { end } of this.#takers.values()) end();
      this.close();
    });
    return promise;
  }

  #notify(text: string, own: string): void {
    const log = notificationSchema.parse(JSON.parse(text)).params.result;
    for (const [subscription, { filter, after, take }] of this.#takers)
      if (log.blockHash !== after && takes(filter, log))
        take(text.replace(`"subscription":"${own}"`, `"subscription":"${subscription}"`));
  }
}

/** Returns whether a filter takes a log (Ethereum JSON-RPC, eth_getLogs). */
function takes({ address, topics, fromBlock, toBlock, blockHash }: LogFilter, log: Log): boolean {
  const height = BigInt(log.blockNumber);
  return (
    isAmong(address, log.address) &&
    (topics ?? []).every((values, index) => isAmong(values, log.topics[index])) &&
    isAmong(blockHash, log.blockHash) &&
    height >= (fromBlock ?? height) &&
    height <= (toBlock ?? height)
  );
}

function isAmong(values: readonly string[], value: string | undefined): boolean {
  return values.length === 0 || (value !== undefined && values.includes(withPrefix(value)));
}

/** Anvil takes hex without its prefix, too. */
function withPrefix(hex: string): string {
  return `0x${hex.toLowerCase().replace(/^0x/, "")}`;
}
