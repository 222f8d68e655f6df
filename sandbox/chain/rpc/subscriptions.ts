import { type RawData, WebSocket } from "ws";
import { z } from "zod";
import { openDirectSocket } from "../../lib/http/direct/open-direct-socket.ts";
import { ChainSilentError } from "./anvil-http.ts";

/** The largest backlog of a client that reads slowly, in bytes: above it a subscriber is disconnected, and nothing more is read of others. */
export const largestBacklog = 16 * 1024 * 1024;
/** The largest number of subscriptions of one WebSocket. */
export const mostSubscriptions = 100;

const answerSchema = z.object({ id: z.int() });
const outcomeSchema = z.object({ result: z.union([z.string(), z.literal(true)]) });

/** One caller's subscriptions: a WebSocket of its own to Anvil, whose notifications are passed on as they are. */
export class Subscriptions {
  readonly #client: WebSocket;
  readonly #chain: WebSocket;
  readonly #mostBacklog: () => number;
  readonly #asked = new Map<number, (answer: string) => void>();
  #count = 0;
  #held: string[] = [];
  #heldBytes = 0;
  #holders = 0;
  #subscribed = 0;

  /** @param mostBacklog - returns the largest backlog of the client now, in bytes. */
  constructor(url: string, client: WebSocket, mostBacklog: () => number) {
    this.#client = client;
    this.#mostBacklog = mostBacklog;
    this.#chain = openDirectSocket(url);
    // Each call in progress listens for the end of the connection.
    this.#chain.setMaxListeners(0);
    this.#chain.on("message", (data) => this.#take(data));
    // A close follows.
    this.#chain.on("error", () => {});
    this.#chain.once("close", () => client.close());
    client.once("close", () => this.#chain.close());
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

  /** Sends a call under an id of its own and returns the answer, which has that id. @throws ChainSilentError */
  async ask(method: string, params: readonly unknown[]): Promise<{ id: number; answer: string }> {
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
      const answer = await promise;
      if (outcomeSchema.safeParse(JSON.parse(answer)).success)
        this.#subscribed += method === "eth_subscribe" ? 1 : -1;
      return { id, answer };
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
    const id = answerSchema.safeParse(JSON.parse(text)).data?.id;
    const resolve = id === undefined ? undefined : this.#asked.get(id);
    if (resolve !== undefined) resolve(text);
    else if (this.#holders > 0) this.#hold(text);
    else this.#notify(text);
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
