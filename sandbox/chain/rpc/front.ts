import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Semaphore } from "async-mutex";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import { AbortController } from "../../../protocol/globals.ts";
import { Problem } from "../../../server/errors/problem.ts";
import { serializedAnswer } from "../../../server/http/answers/answer.ts";
import type { RefusalForm } from "../../../server/http/answers/refusal-form.ts";
import type { Gate } from "../../../server/http/gate.ts";
import type { Urls } from "../../../server/http/services.ts";
import { urlsAt } from "../../../server/pages/urls-at.ts";
import { readBytes } from "../../lib/http/read-bytes.ts";
import { endWith } from "../../lib/http/refuse.ts";
import { endUnlessTaken, takeMs } from "../../lib/http/unless-taken.ts";
import { clearTimeout, setTimeout } from "../../lib/time/timers.ts";
import { type FrontedChain, RequestAnswerer, type RpcCaller, silence, writeError } from "./answer-request.ts";
import { AnvilHttp, ChainSilentError } from "./anvil-http.ts";
import { rpcErrorCodes } from "./error-codes.ts";
import { HeldAnswers, mostHeld } from "./held-answers.ts";
import { LogFeed } from "./log-feed.ts";
import { readRequest } from "./read-request.ts";
import { largestBacklog, Subscriptions } from "./subscriptions.ts";

/** The largest request that Anvil takes, in bytes. */
export const largestBody = 2 * 1024 * 1024;
/** The number of messages of one WebSocket that are answered at a time, and their size in bytes. */
const mostUnderWay = 64;
/** The largest size of all requests over {@link smallBody} that are answered at a time, in bytes: read as calls, a request takes many times as much. */
const mostBodies = 8 * 1024 * 1024;
const smallBody = 64 * 1024;

/**
 * The chain as wallets and tests get it: JSON-RPC over HTTP and WebSocket. It passes on the methods of a list, within limits, and
 * refuses everything else, so that nothing sets the chain apart from the store, the relayer and the clock. Calls wait while a snapshot
 * is taken or restored.
 */
export class RpcFront {
  readonly #urlNow: () => string;
  readonly #anvil: AnvilHttp;
  readonly #gate: Gate;
  readonly #answerer: RequestAnswerer;
  readonly #answers = new HeldAnswers();
  readonly #logs: LogFeed;
  readonly #bodies = new Semaphore(mostBodies);
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestBody,
    perMessageDeflate: false,
  });

  readonly #urls: Urls;

  /**
   * @param urlNow - returns where Anvil itself answers now.
   * @param urls - of the sandbox, whose documentation has a page about the chain RPC.
   */
  constructor(urlNow: () => string, gate: Gate, chain: FrontedChain, urls: Urls) {
    this.#urlNow = urlNow;
    this.#urls = urls;
    this.#anvil = new AnvilHttp(urlNow);
    this.#logs = new LogFeed(urlNow);
    this.#gate = gate;
    this.#answerer = new RequestAnswerer(this.#anvil, gate, chain);
    this.#sockets.on("wsClientError", ({ message }, socket) => {
      const headers = { "Sec-WebSocket-Version": "13" };
      const detail = `The connection cannot become a WebSocket: ${message}. Send the handshake of RFC 6455.`;
      endWith(socket, rpcRefusal(new Problem("request_malformed", detail, { headers }), unread));
    });
  }

  /** Answers an HTTP request. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === "OPTIONS") response.writeHead(204, { Allow: "POST, OPTIONS" }).end();
    else if (request.method === "POST") void this.#answer(request, response).catch(() => response.destroy());
    else if (request.method === "GET" && request.headers.accept?.includes("text/html") === true) {
      const { hostname } = new URL(`http://${request.headers.host}`);
      const { docs } = urlsAt(hostname, this.#urls);
      response.writeHead(302, { Location: `${docs}/docs/rpc.md`, Vary: "Accept" }).end();
    } else {
      response.setHeader("Allow", "POST, OPTIONS");
      refuse(response, 405, "The chain RPC takes POST.");
    }
  }

  /** Takes a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#connect(client, socket));
  }

  /** Ends all WebSockets and connections to the chain. */
  close(): void {
    for (const client of this.#sockets.clients) client.close(1001, "The sandbox stops.");
    this.#anvil.close();
    this.#logs.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = request.headers["content-type"] ?? "";
    if (!/^application\/json\s*(?:;|$)/i.test(type)) {
      response.setHeader("Connection", "close");
      refuse(response, 415, "Send the request as application/json.");
      return;
    }
    // A body may end long after its beginning.
    const { undone } = this.#gate;
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request);
    if (body === null) {
      response.setHeader("Connection", "close");
      refuse(response, 413, `A request may have at most ${largestBody} bytes.`);
      // The rest of the body is read off the connection, so that the answer arrives.
      request.resume();
      return;
    }
    const gone = new AbortController();
    const held = this.#answers.begin();
    response.once("close", () => {
      gone.abort();
      held.release();
    });
    const caller = { subscriptions: null, gone: gone.signal, undone, held };
    await this.#answerBody(body, caller, (parts, status) => {
      if (parts === null) response.writeHead(204).end();
      else answerJson(response, status, parts);
    });
  }

  /** @param send - is handed the parts of the answer, or null for no answer, and its HTTP status. */
  async #answerBody(body: Uint8Array, caller: RpcCaller, send: Send): Promise<void> {
    const answer = async () => {
      const asked = readRequest(body);
      if ("invalid" in asked) {
        send([writeError(null, asked.invalid)], 200);
        return;
      }
      const run = async () => {
        try {
          send(await this.#answerer.answer(asked, caller), 200);
        } catch (error) {
          if (!(error instanceof ChainSilentError)) throw error;
          send(silence(asked, error), 502);
        }
      };
      const subscribes = asked.calls.some((call) => "method" in call && call.method === "eth_subscribe");
      await (subscribes && caller.subscriptions !== null ? caller.subscriptions.holding(run) : run());
    };
    await (body.length <= smallBody ? answer() : this.#bodies.runExclusive(answer, body.length));
  }

  #connect(client: WebSocket, socket: Duplex): void {
    // The notifications that no client reads are bounded together, too.
    const mostBacklog = () => Math.min(largestBacklog, mostHeld / this.#sockets.clients.size);
    const subscriptions = new Subscriptions(this.#urlNow(), this.#logs, client, mostBacklog);
    const gone = new AbortController();
    let underWay = 0;
    let bytes = 0;
    // Aborts with a restore that comes while messages are unread: they were sent before it.
    let unreadIn: AbortSignal | null = null;
    let isPinged = false;
    const takeBeginning = watchBeginnings(client, socket, this.#gate);
    // Nothing more is read of a client that has much unanswered, or that does not read its answers.
    const regulate = () => {
      const isBusy =
        underWay >= mostUnderWay || bytes >= largestBody || client.bufferedAmount > largestBacklog;
      if (isBusy) {
        unreadIn ??= this.#gate.undone;
        client.pause();
        return;
      }
      if (unreadIn?.aborted !== true) unreadIn = null;
      else if (!isPinged) {
        // The pong comes after all that the client has sent before the restore.
        isPinged = true;
        client.ping();
      }
      client.resume();
    };
    client.on("pong", () => {
      isPinged = false;
      unreadIn = null;
      regulate();
    });
    // Each message in progress listens for the end of its client.
    client.setMaxListeners(0);
    client.pause();
    void subscriptions.opened().then(regulate);
    client.once("close", () => gone.abort());
    // A close follows.
    client.on("error", () => {});
    client.on("message", (data) => {
      const body = bytesOf(data);
      const begunIn = takeBeginning();
      underWay += 1;
      bytes += body.length;
      regulate();
      void this.#answerMessage(body, client, {
        subscriptions,
        gone: gone.signal,
        undone: unreadIn ?? begunIn,
        held: this.#answers.begin(),
      })
        .catch(() => client.terminate())
        .finally(() => {
          underWay -= 1;
          bytes -= body.length;
          regulate();
        });
    });
  }

  /** Answers a message, and resolves when the client has taken the answer. */
  async #answerMessage(body: Uint8Array, client: WebSocket, caller: RpcCaller): Promise<void> {
    let taken = Promise.resolve();
    try {
      await this.#answerBody(body, caller, (parts) => {
        if (parts !== null) taken = sendMessage(client, parts);
      });
      await taken;
    } finally {
      caller.held.release();
    }
  }
}

/**
 * Watches when the messages of a client begin: the last fragment of one may come much later.
 *
 * @returns a function to call with each message, which returns the signal that aborts with the first restore since its first bytes.
 */
function watchBeginnings(client: WebSocket, socket: Duplex, gate: Gate): () => AbortSignal {
  let begunIn: AbortSignal | null = null;
  const take = () => {
    const taken = begunIn ?? gate.undone;
    begunIn = null;
    return taken;
  };
  socket.prependListener("data", () => {
    begunIn ??= gate.undone;
  });
  // A control frame that is not between the fragments of a message was all that had begun.
  const takeControl = () => {
    if (!isWithinMessage(client)) take();
  };
  client.on("ping", takeControl);
  client.on("pong", takeControl);
  return take;
}

/** Returns whether fragments of a message have come, and not its last one: ws keeps that to itself. */
function isWithinMessage(client: WebSocket): boolean {
  const receiver: unknown = Reflect.get(client, "_receiver");
  return Number(Reflect.get(Object(receiver), "_fragmented")) > 0;
}

/** Takes the parts of an answer, or null for no answer. */
type Send = (parts: readonly Buffer[] | null, status: number) => void;

/** Sends a message, and ends a client that does not take it in time. */
async function sendMessage(client: WebSocket, parts: readonly Buffer[]): Promise<void> {
  if (client.readyState !== WebSocket.OPEN) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(() => client.terminate(), takeMs);
  client.send(Buffer.concat(parts), { binary: false }, () => resolve());
  await promise;
  clearTimeout(late);
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return ArrayBuffer.isView(data) ? data : new Uint8Array(data);
}

/** The whole body, or null when it is too large; what is left of it then stays on the connection. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  if (Number(request.headers["content-length"] ?? 0) > largestBody) return null;
  return await readBytes(request.iterator({ destroyOnReturn: false }), largestBody);
}

/** The known fields of a handshake that is not valid. */
const unread = { method: null, path: "/", headers: {} };

/** Answers what the port refuses as JSON-RPC clients read it: an invalid request, with the HTTP status. */
export const rpcRefusal: RefusalForm = ({ status, message, headers }) =>
  serializedAnswer(status, writeError(null, { code: rpcErrorCodes.invalidRequest, message }), {
    "Content-Type": "application/json",
    ...headers,
  });

function refuse(response: ServerResponse, status: number, message: string): void {
  answerJson(response, status, [writeError(null, { code: rpcErrorCodes.invalidRequest, message })]);
}

/** @param parts - of the body; together they would be copied. */
function answerJson(response: ServerResponse, status: number, parts: readonly Buffer[]): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  endUnlessTaken(response);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": length });
  for (const part of parts) response.write(part);
  response.end();
}
