import { Agent, type IncomingMessage, request as requestOf, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import type { Json } from "../../protocol/json.ts";
import { jsonAnswer } from "../../server/http/answer.ts";
import type { RefusalForm } from "../../server/http/refusal-form.ts";
import type { Admission } from "../http/admission.ts";
import { refuseCalls } from "./refused-calls.ts";

/** What Anvil takes in one request, in bytes. */
const largestBody = 2 * 1024 * 1024;
/** What may wait for a subscriber that reads slowly, in bytes, before it is let go. */
const largestBacklog = 16 * 1024 * 1024;
const preflightSeconds = 600;

/**
 * The chain as wallets and tests get it: a thin front of Anvil that passes JSON-RPC on, over HTTP and WebSocket, byte for byte,
 * and refuses the few calls that would set the chain apart from the sandbox around it. Calls wait while a snapshot is taken or
 * restored.
 */
export class RpcFacade {
  readonly #chain: URL;
  readonly #admission: Admission;
  readonly #settle: () => Promise<unknown>;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestBody,
    perMessageDeflate: false,
  });

  /**
   * @param chain - where Anvil itself answers.
   * @param settle - waits for the block that is being made, if there is one.
   */
  constructor(chain: string, admission: Admission, settle: () => Promise<unknown>) {
    this.#chain = new URL(chain);
    this.#admission = admission;
    this.#settle = settle;
  }

  /** Answers an HTTP request. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#allowPage(request, response);
    if (request.method === "OPTIONS") {
      response.writeHead(204, {
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "Content-Type",
        "Access-Control-Max-Age": preflightSeconds,
      });
      response.end();
    } else if (request.method === "POST") {
      const answer = this.#admission.guard(
        (inside, to) => void this.#forward(inside, to).catch(() => to.destroy()),
        // What waits for a request that is inside would wait for itself.
        () => true,
      );
      answer(request, response);
    } else {
      response.setHeader("Allow", "POST, OPTIONS");
      answerJson(response, 405, failure("The chain's RPC takes POST."));
    }
  }

  /** Takes a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#connect(client));
  }

  /** Ends all WebSockets and idle connections to the chain. */
  close(): void {
    for (const client of this.#sockets.clients) client.close(1001, "The sandbox stops.");
    this.#agent.destroy();
  }

  // The listener has let this page in; the browser shows it the answer only if told so.
  #allowPage({ headers }: IncomingMessage, response: ServerResponse): void {
    response.setHeader("Vary", "Origin");
    if (headers.origin !== undefined) response.setHeader("Access-Control-Allow-Origin", headers.origin);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request);
    if (body === null) {
      response.setHeader("Connection", "close");
      answerJson(response, 413, failure(`A request may have at most ${largestBody} bytes.`));
      // What still comes is read off the connection, so that the answer arrives.
      request.resume();
      return;
    }
    const refusal = refuseCalls(body.toString());
    if (refusal !== null) {
      answerJson(response, 200, refusal);
      return;
    }
    await this.#beforeReorg(body);
    const answer = await this.#ask(request, response, body);
    if (answer === null) {
      answerJson(response, 502, failure("The chain does not answer; see whether the sandbox still runs."));
      return;
    }
    const { "content-type": type, "content-length": length } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, {
      ...(type === undefined ? {} : { "Content-Type": type }),
      ...(length === undefined ? {} : { "Content-Length": length }),
    });
    await pipeline(answer, response);
  }

  // Anvil answers the sender of a transaction before it makes the block, and a reorg at that moment would leave a chain with a hole.
  async #beforeReorg(call: RawData): Promise<void> {
    if (call.toString().includes('"anvil_reorg"')) await this.#settle();
  }

  /** Sends the very bytes on; null when nobody answers. */
  #ask(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<IncomingMessage | null> {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage | null>();
    const asking = requestOf(this.#chain, {
      method: "POST",
      agent: this.#agent,
      headers: {
        "Content-Type": request.headers["content-type"] ?? "",
        "Content-Length": body.length,
      },
    });
    asking.once("response", resolve).once("error", () => resolve(null));
    response.once("close", () => asking.destroy());
    asking.end(body);
    return promise;
  }

  #connect(client: WebSocket): void {
    const chain = new WebSocket(this.#chain.href.replace(/^http/, "ws"), { perMessageDeflate: false });
    client.pause();
    chain.once("open", () => client.resume());
    client.on("message", (data, isBinary) => {
      const refusal = refuseCalls(data.toString());
      if (refusal !== null) client.send(JSON.stringify(refusal));
      // A call waits while a snapshot is taken or restored; the chain may be gone by then.
      else
        void this.#admission.enter(async () => {
          await this.#beforeReorg(data);
          pass(data, isBinary, chain);
        });
    });
    chain.on("message", (data, isBinary) => {
      if (client.bufferedAmount > largestBacklog) client.terminate();
      else pass(data, isBinary, client);
    });
    for (const [one, other] of [
      [client, chain],
      [chain, client],
    ] as const) {
      one.on("close", () => {
        other.resume();
        other.close();
      });
      // A close follows.
      one.on("error", () => {});
    }
  }
}

function pass(data: RawData, isBinary: boolean, to: WebSocket): void {
  if (to.readyState === WebSocket.OPEN) to.send(data, { binary: isBinary });
}

/** The whole body, or null when it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  if (Number(request.headers["content-length"] ?? 0) > largestBody) return null;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > largestBody) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Answers what the port refuses as JSON-RPC clients read it: an invalid request, with the HTTP status. */
export const rpcRefusal: RefusalForm = ({ status, message, headers }) =>
  jsonAnswer(status, failure(message, -32_600), { "Content-Type": "application/json", ...headers });

function failure(message: string, code = -32_603): Json {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}

function answerJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}
