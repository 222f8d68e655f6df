import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { DirectAgent, requestDirect } from "./connect-direct.ts";

const agent = new DirectAgent();

/**
 * Reads a response that has no end, part by part, of a request as `fetchDirect` sends it. It ends when the connection does, or when the signal
 * aborts.
 *
 * @example for await (const part of streamDirect(`${urls.control}/stream`, signal)) console.log(part.toString())
 */
export async function* streamDirect(url: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    const [answer]: [IncomingMessage] = await once(
      requestDirect(url, { agent, signal }).end(),
      "response",
    ).then(([response]) => [response]);
    yield* answer;
  } catch {
    // It has ended.
  }
}
