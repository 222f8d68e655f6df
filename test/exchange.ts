import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { RawAnswer } from "./ask.ts";

/**
 * Sends bytes over a connection of their own and reads the one answer, until the server ends the connection.
 *
 * @example await exchange(urls.api, "GET / HTTP/1.1\r\n\r\n")
 */
export async function exchange(url: string, bytes: string): Promise<RawAnswer> {
  return parseAnswer(await receive(url, bytes));
}

/** Sends bytes over a connection of their own and reads all that comes back, until the server ends the connection. */
export async function receive(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return await text(socket);
}

/** Parses one answer as it came over a connection. */
export function parseAnswer(received: string): RawAnswer {
  const [head = "", ...rest] = received.split("\r\n\r\n");
  const [start = "", ...lines] = head.split("\r\n");
  const headers: RawAnswer["headers"] = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(start.split(" ")[1]), headers, text: rest.join("\r\n\r\n") };
}
