import type { ServerResponse } from "node:http";

/** The longest time in which a client reads nothing of a response, in milliseconds. */
export const takeMs = 60_000;

/** Ends the connection of a client that does not read its response, which stays in memory as long; to be called before the response is sent. */
export function endUnlessTaken(response: ServerResponse): void {
  response.setTimeout(takeMs, () => response.destroy());
}
