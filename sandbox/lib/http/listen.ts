import { createServer, type Server } from "node:http";
import { type AddressInfo, isIPv6, type Socket } from "node:net";
import { headerBytes } from "../../../server/limits.ts";
import { SandboxError } from "../errors/sandbox-error.ts";
import { afterRunning, endsWithin } from "../time/timers.ts";
import { type ConnectionLimits, connectionLimits } from "./connection-limits.ts";
import type { SharedPaths } from "./cors.ts";
import type { PagePolicy } from "./host-and-origin.ts";
import { type Host, PortGuard, readingMs } from "./port-guard.ts";

/** The address that a sandbox listens at by default. */
export const loopback = "127.0.0.1";

/** A port that listens before it knows what to answer. */
export interface Listener {
  url: string;
  /** From here on requests are answered. */
  serve(host: Host): void;
  /** Takes no more connections and ends the open ones once their answers are sent. */
  close(): Promise<void>;
}

/** The options of a listener. */
export interface ListenOptions {
  /** TCP port; 0 lets the kernel choose. */
  port: number;
  /** The IP address to listen at, by default that of loopback. */
  address?: string;
  /** The host names that requests may have besides those of this machine; by default none, and none can be allowed. */
  allowHosts?: readonly string[];
  /** The origins of pages on other machines that may call as those of this machine may; by default none. */
  allowOrigins?: readonly string[];
  /** The ports of this sandbox, which its listeners share: this one is added. */
  ownPorts?: Set<number>;
  /** The name of the port's option, for the message when it is in use. */
  option: string;
  /** The pages in a browser that may call. */
  pages: PagePolicy;
  /** The paths that pages of other origins may read; by default none. */
  shared?: SharedPaths | undefined;
  limits?: ConnectionLimits;
  /** The base URL of the pages of error codes; on this port by default. */
  docsUrl?: string;
}

/**
 * Listens on a port, by default of loopback and for requests to a name of this machine; until `serve` is called it answers 503.
 *
 * @throws SandboxError port_in_use
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const {
    port,
    address = loopback,
    allowHosts,
    allowOrigins = [],
    ownPorts = new Set(),
    option,
    pages,
    shared,
    limits,
    docsUrl,
  } = options;
  const { connections, headersMs, requestMs } = limits ?? connectionLimits;
  const server = createServer({
    maxHeaderSize: headerBytes,
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    // Clients read the first in Keep-Alive and close the connection then: one that is closed here later has no request on its way.
    keepAliveTimeout: Math.min(5_000, requestMs),
    keepAliveTimeoutBuffer: 2 * requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 1_000),
    // Node would refuse a request without a Host itself, with an empty answer.
    requireHostHeader: false,
  });
  server.maxConnections = connections;
  server.on("timeout", closeIdle);
  // Idle connections keep no client out.
  server.on("drop", () => server.closeIdleConnections());
  await bind(server, { port, address, option });
  const { port: bound } = addressOf(server);
  // An address of all interfaces includes loopback.
  const host = isUnspecified(address) ? loopback : hostOf(address);
  const url = `http://${host}:${bound}`;
  const own = host === loopback ? [] : [host];
  ownPorts.add(bound);
  const allowed = allowHosts === undefined ? null : [...own, ...allowHosts];
  const hosts = { port: bound, allowed, ownPorts, origins: allowOrigins };
  const guard = new PortGuard(server, hosts, { pages, shared }, docsUrl ?? url);
  return {
    url,
    serve: (host) => guard.serve(host),
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeIdleConnections();
      if (!(await endsWithin(promise, 2_000))) server.closeAllConnections();
      await promise;
    },
  };
}

/** Closes a connection that was idle too long, unless a request arrived while the process was blocked, as at a breakpoint: that is read first. */
function closeIdle(socket: Socket): void {
  const { bytesRead } = socket;
  afterRunning(readingMs, () => socket.bytesRead === bytesRead && socket.destroy()).unref();
}

function bind(
  server: Server,
  { port, address, option }: { port: number; address: string; option: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EADDRNOTAVAIL") {
        reject(
          new SandboxError(
            "option_invalid",
            `The option listen is ${address}, which is no address of this machine. Use one of its own addresses, or 0.0.0.0 for all.`,
            { cause },
          ),
        );
        return;
      }
      if (cause.code !== "EADDRINUSE" && cause.code !== "EACCES") {
        reject(cause);
        return;
      }
      const reason = cause.code === "EACCES" ? "may not be used" : "is in use";
      reject(
        new SandboxError(
          "port_in_use",
          `Port ${port} on ${address} ${reason}. Choose another port with the option ${option}, or 0 for any free port.`,
          { cause },
        ),
      );
    });
    server.listen(port, address, resolve);
  });
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server must have an address.");
  return address;
}

/** Tells whether an address stands for all addresses of the machine. */
function isUnspecified(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** The form of an address in a URL and a Host header. */
function hostOf(address: string): string {
  return isIPv6(address) ? `[${address.toLowerCase()}]` : address;
}
