import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { deriveId } from "../../../protocol/values/id.ts";
import type { ErrorCode } from "../../../server/errors/catalogue.ts";
import { Problem } from "../../../server/errors/problem.ts";
import { type Answer, problemAnswer } from "../../../server/http/answers/answer.ts";
import type { RefusalForm } from "../../../server/http/answers/refusal-form.ts";
import { headerBytes } from "../../../server/limits.ts";
import { clearTimeout, setTimeout } from "../time/timers.ts";

/**
 * The time that a client may continue sending after its refusal, in milliseconds: closing at once could lose the
 * answer.
 */
const lingerMs = 500;

/** A problem without a type of its own (RFC 9457, 4.2.1): for hosts that have no catalogue of codes. */
export const plainRefusal: RefusalForm = ({ status, code, message, headers }) => ({
  status,
  body: JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status, code, detail: message }),
  headers: { "Content-Type": "application/problem+json; charset=utf-8", ...headers },
});

/**
 * Returns how a port answers before its host has started: as the API does, under request ids that no host gives.
 *
 * @param docsUrl - where the pages of error codes are.
 */
export function startingRefusals(port: number, docsUrl: string): RefusalForm {
  let count = 0;
  return (problem, { path }) => {
    count += 1;
    const requestId = deriveId("req", ["starting", port, count]);
    const answer = problemAnswer(problem, { docsUrl, instance: path, requestId });
    const headers = { "X-Request-Id": requestId, "Cache-Control": "no-store", ...answer.headers };
    return { ...answer, headers };
  };
}

/** The answers to requests that Node's HTTP parser cannot read, by its error code; every other one is malformed. */
const unread: { readonly [reason: string]: readonly [code: ErrorCode, detail: string] } = {
  HPE_HEADER_OVERFLOW: [
    "headers_too_large",
    `The headers have more than ${headerBytes} bytes. Send fewer or shorter ones.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    "request_timeout",
    "The request did not arrive in time. Send it again without pauses.",
  ],
};

/** The refusal of bytes that Node's HTTP parser does not read as a request. */
export function refuseUnread({ code: reason = "" }: NodeJS.ErrnoException): Problem {
  const [code, detail] = unread[reason] ?? [
    "request_malformed",
    "The bytes on this connection are not an HTTP request. Send HTTP/1.1 (RFC 9112).",
  ];
  return new Problem(code, detail);
}

/** Refuses what no host understands: transfer codings but chunked, expectations but 100-continue. Null for all else. */
export function refuseMessage({ headers }: IncomingMessage): Problem | null {
  const { "transfer-encoding": coding, expect: expectation } = headers;
  if (coding !== undefined && !/^chunked$/i.test(coding))
    return new Problem(
      "transfer_encoding_unsupported",
      `The transfer coding ${coding} is not supported. Send Transfer-Encoding: chunked or a Content-Length.`,
    );
  if (expectation !== undefined && !/^100-continue$/i.test(expectation))
    return new Problem(
      "expectation_unsupported",
      `The expectation ${expectation} is not supported. Send Expect: 100-continue or none.`,
    );
  return null;
}

/** Answers a request whose body is not read; the connection ends with it. */
export function answerAndClose(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" });
  response.end(body);
}

/** Answers on a bare connection and ends it. */
export function endWith(socket: Duplex, { status, headers, body }: Answer): void {
  const all = { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" };
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...Object.entries(all).map(([name, value]) => `${name}: ${value}`),
      "",
      body.toString(),
    ].join("\r\n"),
  );
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(linger));
}
