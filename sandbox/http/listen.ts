import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { SandboxError } from "../sandbox-error.ts";
import { type PagePolicy, refusalOf } from "./callers.ts";
import { type ConnectionLimits, connectionLimits } from "./connection-limits.ts";
import { endWith, refuseMalformed, refuseRequest } from "./refuse.ts";

/** A port that listens before it knows what to answer. */
export interface Listener {
  url: string;
  /** From here on requests are answered. */
  serve(handler: RequestListener, upgrade?: UpgradeListener): void;
  /** Takes no more connections and ends the open ones once their answers are sent. */
  close(): Promise<void>;
}

/** Takes a connection over that wants another protocol. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Where a listener listens, and to whom. */
export interface ListenOptions {
  /** TCP port on 127.0.0.1; 0 lets the kernel choose. */
  port: number;
  /** What a person calls the port, for the message when it is in use. */
  option: string;
  /** Which pages in a browser may call. */
  pages: PagePolicy;
  limits?: ConnectionLimits;
}

/**
 * Listens on a loopback port, for whoever calls it by a name of this machine; until it is told how to answer, it answers 503.
 *
 * @throws SandboxError port_in_use
 * @example const listener = await listen({ port: 0, option: "--api-port", pages: ownPages })
 */
export async function listen({ port, option, pages, limits }: ListenOptions): Promise<Listener> {
  let handler: RequestListener = (_request, response) => {
    response.writeHead(503, { "Retry-After": "1" }).end();
  };
  const { connections, headersMs, requestMs } = limits ?? connectionLimits;
  const server = createServer({
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 1_000),
  });
  server.maxConnections = connections;
  const answer: RequestListener = (request, response) => {
    const refusal = refusalOf(request, bound, pages);
    if (refusal === null) handler(request, response);
    else refuseRequest(response, refusal);
  };
  server.on("request", answer);
  // Whoever waits for "100 Continue" is told to go on by the handler that wants the body, or is refused without it.
  server.on("checkContinue", answer);
  server.on("clientError", refuseMalformed);
  await bind(server, port, option);
  const { port: bound } = addressOf(server);
  return {
    url: `http://127.0.0.1:${bound}`,
    serve(next, upgrade) {
      handler = next;
      // Without a listener Node answers such a request as any other.
      if (upgrade !== undefined)
        server.on("upgrade", (request, socket, head) => {
          const refusal = refusalOf(request, bound, pages);
          if (refusal === null) upgrade(request, socket, head);
          else endWith(socket, 403, refusal);
        });
    },
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeIdleConnections();
      const patience = setTimeout(() => server.closeAllConnections(), 2_000);
      await promise;
      clearTimeout(patience);
    },
  };
}

function bind(server: Server, port: number, option: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EADDRINUSE" && cause.code !== "EACCES") {
        reject(cause);
        return;
      }
      const reason = cause.code === "EACCES" ? "may not be used" : "is in use";
      reject(
        new SandboxError(
          "port_in_use",
          `Port ${port} on 127.0.0.1 ${reason}; choose another with ${option} (0 lets the system choose).`,
          { cause },
        ),
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server must have an address.");
  return address;
}
