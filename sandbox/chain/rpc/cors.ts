import type { IncomingMessage, ServerResponse } from "node:http";

/** The time that a browser may keep the answer to a preflight, in seconds. */
const preflightSeconds = 600;

/** Has the browser show a page the answer. The listener has let the page in. */
export function allowPage({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader("Vary", "Origin");
  if (headers.origin !== undefined) response.setHeader("Access-Control-Allow-Origin", headers.origin);
}

/** Answers a browser that asks what a page may send. */
export function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "Content-Type",
    "Access-Control-Max-Age": preflightSeconds,
  });
  response.end();
}
