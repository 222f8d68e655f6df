import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import { Problem } from "../../../server/api/errors/problem.ts";
import { serializedAnswer } from "../../../server/http/answers/answer.ts";
import type { RefusalForm } from "../../../server/http/answers/refusal-form.ts";
import type { Gate } from "../../../server/http/gate.ts";
import { readBytes } from "../../lib/http/read-bytes.ts";
import { endWith } from "../../lib/http/refuse.ts";
import { type FrontedChain, RequestAnswerer, silence } from "./answer-request.ts";
import { AnvilHttp, ChainSilentError } from "./anvil-http.ts";
import { allowPage, answerPreflight } from "./cors.ts";
import { rpcErrorCodes } from "./error-codes.ts";
import { readRequest } from "./read-request.ts";
import { Subscriptions } from "./subscriptions.ts";
import { writeError } from "./write-response.ts";

/** The largest request that Anvil takes, in bytes. */
export const largestBody = 2 * 1024 * 1024;
/** The number of messages of one WebSocket that are answered at a time. */
const mostUnderWay = 64;

/**
 * The chain as wallets and tests get it: JSON-RPC over HTTP and WebSocket. It passes on the methods of a list, within limits, and
 * refuses everything else, so that nothing sets the chain apart from the store, the relayer and the clock. Calls wait while a snapshot
 * is taken or restored.
 */
export class RpcFront {
  readonly #urlNow: () => string;
  readonly #anvil: AnvilHttp;
  readonly #answerer: RequestAnswerer;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestBody,
    perMessageDeflate: false,
  });

  /** @param urlNow - returns where Anvil itself answers now. */
  constructor(urlNow: () => string, gate: Gate, chain: FrontedChain) {
    this.#urlNow = urlNow;
    this.#anvil = new AnvilHttp(urlNow);
    this.#answerer = new RequestAnswerer(this.#anvil, gate, chain);
    this.#sockets.on("wsClientError", ({ message }, socket) => {
      const headers = { "Sec-WebSocket-Version": "13" };
      const detail = `The connection cannot become a WebSocket: ${message}. Send the handshake of RFC 6455.`;
      endWith(socket, rpcRefusal(new Problem("request_malformed", detail, { headers }), unread));
    });
  }

  /** Answers an HTTP request. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    allowPage(request, response);
    if (request.method === "OPTIONS") answerPreflight(response);
    else if (request.method === "POST") void this.#answer(request, response).catch(() => response.destroy());
    else {
      response.setHeader("Allow", "POST, OPTIONS");
      refuse(response, 405, "The chain RPC takes POST.");
    }
  }

  /** Takes a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#connect(client));
  }

  /** Ends all WebSockets and idle connections to the chain. */
  close(): void {
    for (const client of this.#sockets.clients) client.close(1001, "The sandbox stops.");
    this.#anvil.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = request.headers["content-type"] ?? "";
    if (!/^application\/json\s*(?:;|$)/i.test(type)) {
      response.setHeader("Connection", "close");
      refuse(response, 415, "Send the request as application/json.");
      return;
    }
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request);
    if (body === null) {
      response.setHeader("Connection", "close");
      refuse(response, 413, `A request may have at most ${largestBody} bytes.`);
      // The rest of the body is read off the connection, so that the answer arrives.
      request.resume();
      return;
    }
    const asked = readRequest(body);
    if ("invalid" in asked) {
      answerJson(response, 200, writeError(null, asked.invalid));
      return;
    }
    try {
      const answer = await this.#answerer.answer(asked, null);
      if (answer === null) response.writeHead(204).end();
      else answerJson(response, 200, answer);
    } catch (error) {
      if (!(error instanceof ChainSilentError)) throw error;
      answerJson(response, 502, silence(asked, error));
    }
  }

  #connect(client: WebSocket): void {
    const subscriptions = new Subscriptions(this.#urlNow().replace(/^http/, "ws"), client);
    let underWay = 0;
    client.pause();
    void subscriptions.opened().then(() => client.resume());
    // A close follows.
    client.on("error", () => {});
    client.on("message", (data) => {
      underWay += 1;
      if (underWay === mostUnderWay) client.pause();
      void this.#answerMessage(data, client, subscriptions)
        .catch(() => client.terminate())
        .finally(() => {
          underWay -= 1;
          if (underWay === mostUnderWay - 1) client.resume();
        });
    });
  }

  async #answerMessage(data: RawData, client: WebSocket, subscriptions: Subscriptions): Promise<void> {
    const asked = readRequest(bytesOf(data));
    const send = (answer: Buffer) => {
      if (client.readyState === WebSocket.OPEN) client.send(answer.toString());
    };
    if ("invalid" in asked) {
      send(writeError(null, asked.invalid));
      return;
    }
    const answer = async () => {
      try {
        const answered = await this.#answerer.answer(asked, subscriptions);
        if (answered !== null) send(answered);
      } catch (error) {
        if (!(error instanceof ChainSilentError)) throw error;
        send(silence(asked, error));
      }
    };
    const subscribes = asked.calls.some((call) => "method" in call && call.method === "eth_subscribe");
    await (subscribes ? subscriptions.holding(answer) : answer());
  }
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
const unread = { method: null, path: "/" };

/** Answers what the port refuses as JSON-RPC clients read it: an invalid request, with the HTTP status. */
export const rpcRefusal: RefusalForm = ({ status, message, headers }) =>
  serializedAnswer(status, writeError(null, { code: rpcErrorCodes.invalidRequest, message }), {
    "Content-Type": "application/json",
    ...headers,
  });

function refuse(response: ServerResponse, status: number, message: string): void {
  answerJson(response, status, writeError(null, { code: rpcErrorCodes.invalidRequest, message }));
}

function answerJson(response: ServerResponse, status: number, body: Buffer): void {
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}
