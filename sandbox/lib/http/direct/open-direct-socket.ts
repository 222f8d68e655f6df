import http from "node:http";
import { type ClientOptions, WebSocket } from "ws";
import { URL } from "../../../../protocol/globals.ts";
import { connectDirect, requestDirect } from "./connect-direct.ts";
import { withOwnGlobals } from "./with-own-globals.ts";

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
