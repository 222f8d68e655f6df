import { STATUS_CODES } from "node:http";
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
  const title = STATUS_CODES[status] ?? "Bad Request";
  const detail = "The bytes on this connection are not an HTTP request that can be read.";
  const body = JSON.stringify({ type: "about:blank", title, status, detail });
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      "Content-Type: application/problem+json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
