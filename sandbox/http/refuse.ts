import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** What Node's HTTP parser gives up on, by its error code; 400 for everything else. */
const statuses: { readonly [code: string]: number } = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers what is not HTTP, and so never becomes a request, as every refusal is answered: application/problem+json
 * (RFC 9457). The connection ends with it.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ""] ?? 400;
  const detail =
    status === 408
      ? "The request did not arrive whole in time."
      : "The bytes on this connection are not an HTTP request that can be read.";
  endWith(socket, status, detail);
}

/** Answers a request that nobody but the listener has seen with 403; its body is not read. */
export function refuseRequest(response: ServerResponse, detail: string): void {
  const { type, body } = problem(403, detail);
  response.writeHead(403, { "Content-Type": type, "Content-Length": body.length, Connection: "close" });
  response.end(body);
}

/** Answers on a bare connection and ends it. */
export function endWith(socket: Duplex, status: number, detail: string): void {
  const { title, type, body } = problem(status, detail);
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      `Content-Type: ${type}`,
      `Content-Length: ${body.length}`,
      "Connection: close",
      "",
      body.toString(),
    ].join("\r\n"),
  );
}

function problem(status: number, detail: string) {
  const title = STATUS_CODES[status] ?? "Bad Request";
  const body = Buffer.from(JSON.stringify({ type: "about:blank", title, status, detail }));
  return { title, type: "application/problem+json; charset=utf-8", body };
}
