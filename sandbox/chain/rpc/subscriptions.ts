import { type RawData, WebSocket } from "ws";
import { z } from "zod";
import { openDirectSocket } from "../../lib/http/direct/open-direct-socket.ts";
import { ChainSilentError } from "./anvil-http.ts";

/** The largest backlog of a subscriber that reads slowly, in bytes; above it the subscriber is disconnected. */
const largestBacklog = 16 * 1024 * 1024;

const answerSchema = z.object({ id: z.int() });

/** One caller's subscriptions: a WebSocket of its own to Anvil, whose notifications are passed on as they are. */
export class Subscriptions {
  readonly #client: WebSocket;
  readonly #chain: WebSocket;
  readonly #asked = new Map<number, (answer: string) => void>();
  #count = 0;
  #held: string[] = [];
  #holders = 0;

  constructor(url: string, client: WebSocket) {
    this.#client = client;
    this.#chain = openDirectSocket(url);
    this.#chain.on("message", (data) => this.#take(data));
    // A close follows.
    this.#chain.on("error", () => {});
    this.#chain.once("close", () => client.close());
    client.once("close", () => this.#chain.close());
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
      if (this.#holders === 0) for (const message of this.#held.splice(0)) this.#notify(message);
    }
  }

  #take(data: RawData): void {
    const text = data.toString();
    const id = answerSchema.safeParse(JSON.parse(text)).data?.id;
    const resolve = id === undefined ? undefined : this.#asked.get(id);
    if (resolve !== undefined) resolve(text);
    else if (this.#holders > 0) this.#held.push(text);
    else this.#notify(text);
  }

  #notify(message: string): void {
    if (this.#client.bufferedAmount > largestBacklog) this.#client.terminate();
    else if (this.#client.readyState === WebSocket.OPEN) this.#client.send(message);
  }
}
