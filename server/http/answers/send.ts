import type { Request, Response } from "express";
import { AbortController } from "../../../protocol/globals.ts";
import { hasBody } from "../request/read-body.ts";
import type { Services } from "../services.ts";
import type { Answer } from "./answer.ts";

/** The limits on time and bytes for reading a body that is not wanted. */
const drainTimeoutMs = 500;
const drainedBytes = 1024 * 1024;

/**
 * Sends an answer as it is, with what `response.locals.headers` adds: set one by one before, they would take Node a slower way.
 *
 * A client that is still sending its body when it is refused must get the answer too: closing at once would reset the connection
 * and lose it. So the whole answer is sent, and further input is read and discarded within limits.
 */
export function sendAnswer(
  request: Request,
  response: Response,
  answer: Answer,
  { wait }: Pick<Services, "wait">,
): void {
  const { status } = answer;
  const body = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  // 304 describes a body that it does not have (RFC 9110, 8.6).
  const length = status === 304 ? {} : { "Content-Length": body.length };
  const headers = { ...response.locals["headers"], ...answer.headers, ...length };
  if (request.complete || !hasBody(request)) {
    response.writeHead(status, headers);
    response.end(request.method === "HEAD" ? undefined : body);
    return;
  }
  response.writeHead(status, { ...headers, Connection: "close" });
  response.write(body);
  const stop = new AbortController();
  const end = () => {
    stop.abort();
    if (!response.writableEnded) response.end();
  };
  let thrownAway = 0;
  request.on("data", (chunk: Buffer) => {
    thrownAway += chunk.length;
    if (thrownAway > drainedBytes) end();
  });
  request.once("end", end).once("close", end).resume();
  wait(drainTimeoutMs, stop.signal).then(end, end);
}

/**
 * Drops the connection of a request instead of answering it.
 *
 * @param answer - the answer whose head and first half of the body are sent before; null for none of it.
 */
export function dropConnection(response: Response, answer: Answer | null): void {
  if (answer === null) {
    response.destroy();
    return;
  }
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, {
    ...response.locals["headers"],
    ...answer.headers,
    "Content-Length": body.length,
  });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
}
