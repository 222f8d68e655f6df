import { type RawData, WebSocket } from "ws";
import { z } from "zod";
import { openDirectSocket } from "../../lib/http/direct/open-direct-socket.ts";
import { ChainSilentError } from "./anvil-http.ts";
import type { LogFeed } from "./log-feed.ts";

/** The largest backlog of a client that reads slowly, in bytes: above it a subscriber is disconnected, and nothing more is read of others. */
export const largestBacklog = 16 * 1024 * 1024;
/** The largest number of subscriptions of one WebSocket. */
export const mostSubscriptions = 100;

const messageSchema = z.object({
  id: z.int().optional().catch(undefined),
  params: z
    .object({ result: z.object({ logIndex: z.string() }) })
    .optional()
    .catch(undefined),
});
const headSchema = z.object({ result: z.object({ hash: z.string() }) });
const outcomeSchema = z.object({ result: z.union([z.string(), z.literal(true)]) });

/** One caller's subscriptions: a WebSocket of its own to Anvil, whose notifications are passed on as they are, and its part of all logs. */
export class Subscriptions {
  readonly #client: WebSocket;
  readonly #chain: WebSocket;
  readonly #feed: LogFeed;
  readonly #mostBacklog: () => number;
  readonly #ofLogs = new Set<unknown>();
  readonly #asked = new Map<number, (answer: string) => void>();
  #count = 0;
  #held: string[] = [];
  #heldBytes = 0;
  #holders = 0;
  #subscribed = 0;

  /** @param mostBacklog - returns the largest backlog of the client now, in bytes. */
  constructor(url: string, feed: LogFeed, client: WebSocket, mostBacklog: () => number) {
    this.#client = client;
    this.#feed = feed;
    this.#mostBacklog = mostBacklog;
    this.#chain = openDirectSocket(url);
    // Each call in progress listens for the end of the connection.
    this.#chain.setMaxListeners(0);
    this.#chain.on("message", (data) => this.#take(data));
    // A close follows.
    this.#chain.on("error", () => {});
    this.#chain.once("close", () => client.close());
    client.once("close", () => {
      this.#chain.close();
      for (const id of this.#ofLogs) feed.delete(id);
    });
  }

  /** Whether there may be one more. */
  get hasRoom(): boolean {
    return this.#subscribed < mostSubscriptions;
  }

  /** Resolves when calls can be sent. */
  async opened(): Promise<void> {
    if (this.#chain.readyState === WebSocket.CONNECTING)
      await new Promise<void>((resolve) => this.#chain.once("open", resolve).once("close", resolve));
  }

  /** Sends a call that subscribes or ends a subscription under an id of its own, and returns the answer, which has that id. @throws ChainSilentError */
  async ask(method: string, params: readonly unknown[]): Promise<{ id: number; answer: string }> {
    const [first, filter] = params;
    if (method === "eth_unsubscribe" && this.#ofLogs.delete(first)) {
      this.#feed.delete(first);
      this.#subscribed -= 1;
      this.#count += 1;
      return { id: this.#count, answer: JSON.stringify({ jsonrpc: "2.0", id: this.#count, result: true }) };
    }
    const isOfLogs = method === "eth_subscribe" && first === "logs";
    const head = isOfLogs ? await this.#askChain("eth_getBlockByNumber", ["latest", false]) : null;
    const asked = await this.#askChain(method, params);
    const { data } = outcomeSchema.safeParse(JSON.parse(asked.answer));
    if (data === undefined) return asked;
    this.#subscribed += method === "eth_subscribe" ? 1 : -1;
    if (head !== null) {
      // Anvil has judged the filter and chosen the identifier.
      await this.#askChain("eth_unsubscribe", [data.result]);
      await this.#feed.add(data.result, filter, {
        after: headSchema.parse(JSON.parse(head.answer)).result.hash,
        take: (text) => this.#pass(text),
        end: () => this.#client.close(),
      });
      if (this.#client.readyState === WebSocket.OPEN) this.#ofLogs.add(data.result);
      else this.#feed.delete(data.result);
    }
    return asked;
  }

  async #askChain(method: string, params: readonly unknown[]): Promise<{ id: number; answer: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#count += 1;
    const id = this.#count;
    this.#asked.set(id, resolve);
    const gone = () => reject(new ChainSilentError("The chain has closed the connection. Connect again."));
    this.#chain.once("close", gone);
    if (this.#chain.readyState === WebSocket.OPEN)
      this.#chain.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    else gone();
    try {
      return { id, answer: await promise };
    } finally {
      this.#chain.off("close", gone);
      this.#asked.delete(id);
    }
  }

  /** Holds notifications back while a subscription is being answered: before that, it is unknown whose they are. */
  async holding(answer: () => Promise<void>): Promise<void> {
    this.#holders += 1;
    try {
      await answer();
    } finally {
      this.#holders -= 1;
      if (this.#holders === 0) {
        this.#heldBytes = 0;
        for (const message of this.#held.splice(0)) this.#notify(message);
      }
    }
  }

  #take(data: RawData): void {
    const text = data.toString();
    const { id, params } = messageSchema.parse(JSON.parse(text));
    const resolve = id === undefined ? undefined : this.#asked.get(id);
    if (resolve !== undefined) resolve(text);
    // A log comes from the feed.
    else if (params === undefined) this.#pass(text);
  }

  #pass(notification: string): void {
    if (this.#holders > 0) this.#hold(notification);
    else this.#notify(notification);
  }

  #hold(message: string): void {
    this.#heldBytes += message.length;
    if (this.#heldBytes > this.#mostBacklog()) this.#client.terminate();
    else this.#held.push(message);
  }

  #notify(message: string): void {
    if (this.#client.bufferedAmount > this.#mostBacklog()) this.#client.terminate();
    else if (this.#client.readyState === WebSocket.OPEN) this.#client.send(message);
  }
}
