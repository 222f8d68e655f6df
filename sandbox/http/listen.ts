import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SandboxError } from "../sandbox-error.ts";
import { refuseMalformed } from "./refuse-malformed.ts";

/** A port that listens before it knows what to answer. */
export interface Listener {
  url: string;
  /** From here on requests are answered. */
  serve(handler: RequestListener): void;
  /** Takes no more connections and ends the open ones once their answers are sent. */
  close(): Promise<void>;
}

/**
 * Listens on a loopback port; until it is told how to answer, it answers 503.
 *
 * @param option - what a person calls the port, for the message when it is in use.
 * @throws SandboxError port_in_use
 * @example const listener = await listen(0, "--api-port")
 */
export async function listen(port: number, option: string): Promise<Listener> {
  let handler: RequestListener = (_request, response) => {
    response.writeHead(503, { "Retry-After": "1" }).end();
  };
  const server = createServer((request, response) => handler(request, response));
  // Whoever waits for "100 Continue" is told to go on by the handler that wants the body, or is refused without it.
  server.on("checkContinue", (request, response) => handler(request, response));
  server.on("clientError", refuseMalformed);
  await bind(server, port, option);
  const { port: bound } = addressOf(server);
  return {
    url: `http://127.0.0.1:${bound}`,
    serve(next) {
      handler = next;
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
