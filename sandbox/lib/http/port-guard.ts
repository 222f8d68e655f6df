import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Problem } from "../../../server/errors/problem.ts";
import type { RefusalForm } from "../../../server/http/answers/refusal-form.ts";
import { afterRunning } from "../time/timers.ts";
import { type SharedPaths, sharePage } from "./cors.ts";
import { absoluteTarget, type HostNames, type PagePolicy, refuseCaller } from "./host-and-origin.ts";
import {
  answerAndClose,
  endWith,
  plainRefusal,
  refuseMessage,
  refuseUnread,
  startingRefusals,
} from "./refuse.ts";

/** The time in which a process reads what has arrived, in milliseconds. */
export const readingMs = 100;

/** Takes a connection over that wants another protocol. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The host that answers behind a port. */
export interface Host {
  handle: RequestListener;
  upgrade?: UpgradeListener;
  /** The form of its answers to requests that the port refuses; a plain problem by default. */
  refusals?: RefusalForm;
}

const starting = new Problem(
  "service_starting",
  "The sandbox is starting. Send the request again in a second.",
  { headers: { "Retry-After": "1" } },
);

/** Checks every request between a port and its host: what no host may see is refused here, in the form of the host. */
export class PortGuard {
  readonly #server: Server;
  readonly #hosts: HostNames;
  readonly #pages: PagePolicy;
  readonly #shared: SharedPaths | undefined;
  /** The newest answer on each connection: a refusal must not overtake it. */
  readonly #answers = new WeakMap<Duplex, ServerResponse>();
  /** The connections that get no answer any more: they have ended, or have another protocol. */
  readonly #left = new WeakSet<Duplex>();
  #host: Host;

  /**
   * @param hosts - the names under which requests are accepted.
   * @param docsUrl - where the pages of error codes are.
   */
  constructor(
    server: Server,
    hosts: HostNames,
    { pages, shared }: { pages: PagePolicy; shared: SharedPaths | undefined },
    docsUrl: string,
  ) {
    this.#server = server;
    this.#hosts = hosts;
    this.#pages = pages;
    this.#shared = shared;
    this.#host = {
      handle: (request, response) => answerAndClose(response, this.#form(starting, request)),
      refusals: startingRefusals(hosts.port, docsUrl),
    };
    const answer: RequestListener = (request, response) => this.#answer(request, response);
    server.on("request", answer);
    // A client that waits for "100 Continue" gets it from the handler that wants the body, or is refused without it.
    server.on("checkContinue", answer);
    server.on("checkExpectation", answer);
    server.on("connect", (request: IncomingMessage, socket: Duplex) => this.#refuseTunnel(request, socket));
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") this.#refuseLate(error, socket);
      else this.#refuseUnread(error, socket);
    });
  }

  /** From here on a host answers. */
  serve(host: Host): void {
    this.#host = host;
  }

  /** Passes a WebSocket on to a host that takes one. A request for another protocol is answered as any other (RFC 9110, 7.8). */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { upgrade } = this.#host;
    if (upgrade === undefined || !wantsWebSocket(request)) {
      this.#readAgain(request, socket, head);
      return;
    }
    // One of several protocols, perhaps.
    request.headers.upgrade = "websocket";
    const refusal = this.#refusalOf(request);
    this.#left.add(socket);
    if (refusal === null) upgrade(request, socket, head);
    else endWith(socket, this.#form(refusal, request));
  }

  /** Has Node read a request again, from the same connection, without the header that had it stop behind the head. */
  #readAgain(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { method, url, httpVersion, rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/${httpVersion}`];
    for (let index = 0; index < rawHeaders.length; index += 2)
      if (rawHeaders[index]?.toLowerCase() !== "upgrade")
        lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
    const bytes = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]);
    const again = () => {
      socket.unshift(bytes);
      this.#server.emit("connection", socket);
    };
    const before = this.#answers.get(socket);
    if (before === undefined || before.writableFinished) again();
    else before.once("close", again);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#answers.set(request.socket, response);
    const refusal = this.#refusalOf(request);
    if (refusal !== null) {
      answerAndClose(response, this.#form(refusal, request));
      return;
    }
    // A host sees paths alone, as clients send them that know of no proxy.
    request.url = pathOf(request);
    if (this.#shared !== undefined && sharePage(request, response, this.#hosts, this.#shared)) return;
    this.#host.handle(request, response);
  }

  #refusalOf(request: IncomingMessage): Problem | null {
    return refuseCaller(request, this.#hosts, this.#pages) ?? refuseMessage(request);
  }

  #form(problem: Problem, request: IncomingMessage | null) {
    const form = this.#host.refusals ?? plainRefusal;
    const [path = "/"] = request === null ? [] : pathOf(request).split("?");
    return form(problem, { method: request?.method ?? null, path, headers: request?.headers ?? {} });
  }

  #refuseTunnel(request: IncomingMessage, socket: Duplex): void {
    const detail = `CONNECT is not supported. Send the request to http://127.0.0.1:${this.#hosts.port} itself.`;
    endWith(socket, this.#form(new Problem("request_malformed", detail), request));
  }

  /** Refuses a request that took too long, unless it had arrived while the process was blocked, as at a breakpoint: that is read first. */
  #refuseLate(error: NodeJS.ErrnoException, socket: Duplex): void {
    const before = this.#answers.get(socket);
    const isPartial = before?.req.complete === false;
    afterRunning(readingMs, () => {
      const newest = this.#answers.get(socket);
      const arrived = newest?.req.complete === true && (isPartial || newest !== before);
      if (!arrived) this.#refuseUnread(error, socket);
    }).unref();
  }

  /** Answers what Node's parser gives up on, after the answers to the requests before it. */
  #refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (this.#left.has(socket)) return;
    if (!socket.writable || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    this.#left.add(socket);
    const end = () => {
      if (socket.writable) endWith(socket, this.#form(refuseUnread(error), null));
      else socket.destroy();
    };
    const before = this.#answers.get(socket);
    if (before === undefined || before.writableFinished) end();
    else if (before.req.complete || before.writableEnded) before.once("close", end);
    // The unread bytes are the body of a request: one that was answered without it, or one that is to be answered now.
    else if (before.headersSent) socket.end();
    else end();
  }
}

/** Tells whether a request asks for a WebSocket (RFC 6455, 4.1); HTTP/1.0 has no protocols to change to. */
function wantsWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === "GET" && httpVersion !== "1.0" && /(?:^|,)\s*websocket\s*(?:,|$)/i.test(headers.upgrade ?? "")
  );
}

/** The path and the query of a request's target; `/` for a target that has none. */
function pathOf({ url = "/", method }: IncomingMessage): string {
  return method === "CONNECT" ? "/" : (absoluteTarget(url)?.path ?? url);
}
