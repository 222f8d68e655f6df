import http, { Agent, type ClientRequestArgs, request } from "node:http";
import { Socket } from "node:net";
import { type ClientOptions, WebSocket } from "ws";
import { URL } from "../../../../protocol/globals.ts";
import { withOwnGlobals } from "./with-own-globals.ts";

// As it was when the package was loaded: libraries that mock HTTP (nock, msw) replace it.
const { connect } = Socket.prototype;

/** Where such a library that was loaded before the package lets connections of its own pass. */
const passage = "__MSW_INTERNAL_CONNECTION_CONTEXT";

/** Node's own function, past a replacement of the one in its module. */
export const requestDirect: typeof request = request;

/** Connects to a part of the sandbox itself, past what mocks connections in the process of the tests. */
export function connectDirect(options: Pick<ClientRequestArgs, "host" | "port" | "path">): Socket {
  const socket = new Socket();
  socket.setNoDelay();
  const dial = () => void Reflect.apply(connect, socket, [options]);
  const mock: { run?: (dial: () => void) => void } | undefined = Reflect.get(globalThis, passage);
  if (mock?.run === undefined) dial();
  else mock.run(dial);
  return socket;
}

/** Connects to parts of the sandbox itself: neither a proxy of the environment nor a mock of the tests takes the connections elsewhere. */
export class DirectAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Socket {
    // The path is that of the request, and not of a socket in the file system.
    return connectDirect({ ...options, path: null });
  }
}

/** Opens a WebSocket to an HTTP server of the sandbox itself, past what mocks connections in the process of the tests. */
export function openDirectSocket(url: string, options: ClientOptions = {}): WebSocket {
  const { hostname: host, port } = new URL(url);
  const createConnection = () => connectDirect({ host, port });
  const all = { ...options, perMessageDeflate: false, createConnection };
  return withOwn(() => new WebSocket(url.replace(/^http/, "ws"), all));
}

/** Runs a step, which must not wait, with Node's own functions in the places where ws reads them. */
function withOwn<T>(step: () => T): T {
  const { request } = http;
  if (request === requestDirect) return withOwnGlobals(step);
  Reflect.set(http, "request", requestDirect);
  try {
    return withOwnGlobals(step);
  } finally {
    Reflect.set(http, "request", request);
  }
}
