import {
  type EIP1193RequestFn,
  SocketClosedError,
  TimeoutError,
  type WebSocketTransport,
  webSocket,
} from "viem";
import { endsWithin } from "../../lib/time/timers.ts";

type OpenedTransport = ReturnType<WebSocketTransport>;
type Methods = NonNullable<OpenedTransport["value"]>;

/** The pause after a connection that could not be opened, in milliseconds; each further one in vain doubles it up to the longest. */
const pauseMs = { first: 250, longest: 4_000 };

/**
 * The WebSocket of a node, opened again by the next request after it was lost: viem's own tries that once, and keeps a dead one then. A node that
 * accepts none is asked for one after a pause, however many requests there are.
 */
export class ReopenedSocket {
  /** Makes viem's transports, all of this one connection. */
  readonly transport: WebSocketTransport;
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #methods: Methods;
  #client: Awaited<ReturnType<Methods["getRpcClient"]>> | null = null;
  #opening: Promise<void> | null = null;
  /** Whether the node has responded over this connection. */
  #hasResponded = false;
  /** Before this time, on the clock of `performance`, no connection is opened: the last one failed with this error. */
  #closed: { until: number; error: unknown } | null = null;
  #pauseMs = pauseMs.first;

  constructor(url: string, timeoutMs: number) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
    const made = webSocket(url, { timeout: timeoutMs, reconnect: false });
    const { value } = made({});
    if (value === undefined) throw new Error("viem's WebSocket transport must have methods.");
    this.#methods = value;
    this.transport = (options) => {
      const opened = made(options);
      const request: EIP1193RequestFn = async (question) =>
        await this.#ask(async () => await opened.request(question));
      return { ...opened, request };
    };
  }

  /** Subscribes to what the node announces. */
  async subscribe(wanted: Parameters<Methods["subscribe"]>[0]): ReturnType<Methods["subscribe"]> {
    await this.#open();
    return await this.#methods.subscribe(wanted);
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    this.#client?.close();
  }

  async #ask<T>(ask: () => Promise<T>): Promise<T> {
    await this.#open();
    try {
      const answer = await ask();
      this.#noteResponse();
      return answer;
    } catch (error) {
      if (isRefusal(error)) this.#noteResponse();
      throw error;
    }
  }

  #noteResponse(): void {
    this.#hasResponded = true;
    this.#pauseMs = pauseMs.first;
  }

  async #open(): Promise<void> {
    this.#forgetLost();
    if (this.#client !== null) return;
    const { performance } = globalThis;
    if (this.#closed !== null && performance.now() < this.#closed.until) throw this.#closed.error;
    this.#opening ??= this.#tryToOpen().finally(() => {
      this.#opening = null;
    });
    await this.#opening;
  }

  /** Forgets a connection that is lost. One over which the node has never responded counts as one that it has not accepted. */
  #forgetLost(): void {
    const client = this.#client;
    if (client === null || client.socket.readyState < client.socket.CLOSING) return;
    client.close();
    this.#client = null;
    if (!this.#hasResponded) this.#pauseAfter(new SocketClosedError({ url: this.#url }));
  }

  async #tryToOpen(): Promise<void> {
    const opening = this.#methods.getRpcClient();
    try {
      if (!(await endsWithin(opening, this.#timeoutMs))) throw new TimeoutError({ body: {}, url: this.#url });
      this.#client = await opening;
      this.#hasResponded = false;
    } catch (error) {
      void opening.then((late) => late.close()).catch(() => undefined);
      this.#pauseAfter(error);
      throw error;
    }
  }

  #pauseAfter(error: unknown): void {
    const { performance } = globalThis;
    this.#closed = { until: performance.now() + this.#pauseMs, error };
    this.#pauseMs = Math.min(2 * this.#pauseMs, pauseMs.longest);
  }
}

/** Returns whether the node has answered with a refusal. */
export function isRefusal(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "number";
}
