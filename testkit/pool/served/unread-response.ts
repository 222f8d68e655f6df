import type { Socket } from "node:net";
import type { Request, Response } from "express";
import { endOfTurn } from "../../../sandbox/lib/time/timers.ts";

/** The listener of each connection whose newest response may be unread. */
const watched = new WeakMap<Socket, (hadError: boolean) => void>();

/**
 * Calls back if the client closes its connection before it has read a response. A connection that is closed with unread bytes is reset, other
 * than one whose client has read everything.
 *
 * @example onUnread(response, () => pool.abandon(lease.id))
 */
export function onUnread(response: Response, callback: () => void): void {
  const { socket } = response.req;
  noteRequest(response.req);
  const closed = (hadError: boolean) => {
    if (hadError) callback();
  };
  watched.set(socket, closed);
  socket.once("close", closed);
  response.once("close", () => response.writableFinished || callback());
}

/** Notes a request: its client has read the response before it on the same connection. */
export function noteRequest({ socket }: Request): void {
  const closed = watched.get(socket);
  if (closed !== undefined) socket.off("close", closed);
}

/**
 * Sends a JSON body in a second write: if the client has closed its connection, the first one makes the system reset it, so that the second one
 * fails.
 */
export async function sendInTwoWrites(response: Response, body: object): Promise<void> {
  const text = JSON.stringify(body);
  response.set("Content-Type", "application/json; charset=utf-8");
  response.set("Content-Length", String(Buffer.byteLength(text)));
  response.flushHeaders();
  await endOfTurn();
  if (!response.closed) response.end(text);
}
