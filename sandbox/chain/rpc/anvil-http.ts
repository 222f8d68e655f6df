import { type IncomingMessage, request as requestOf } from "node:http";
import { DirectAgent } from "../../lib/http/direct/connect-direct.ts";
import { readBytes } from "../../lib/http/read-bytes.ts";
import { abortAfter } from "../../lib/time/timers.ts";

/** The longest time for an answer of Anvil, in milliseconds; it waits 30 s itself for the block of a transaction. */
export const answerMs = 60_000;
/** The largest size of an answer, in bytes: it is kept until it is whole, so that a slow reader holds nothing up. */
export const largestAnswer = 256 * 1024 * 1024;

/**
 * Anvil gives no answer, or none that can be passed on.
 *
 * Not a CodedError: the chain RPC answers it with the number of a JSON-RPC error.
 */
export class ChainSilentError extends Error {}

/** Asks Anvil over HTTP. */
export class AnvilHttp {
  readonly #urlNow: () => string;
  readonly #agent = new DirectAgent({ keepAlive: true });

  /** @param urlNow - returns where Anvil answers now. */
  constructor(urlNow: () => string) {
    this.#urlNow = urlNow;
  }

  /** Sends a JSON-RPC request and returns the bytes of the answer. @throws ChainSilentError */
  async post(body: string): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const signal = abortAfter(answerMs);
    const bytes = Buffer.from(body);
    requestOf(this.#urlNow(), {
      method: "POST",
      agent: this.#agent,
      headers: { "Content-Type": "application/json", "Content-Length": bytes.length },
      signal,
    })
      .once("response", resolve)
      .once("error", reject)
      .end(bytes);
    try {
      const answer = await readBytes(await promise, largestAnswer);
      if (answer !== null) return answer;
    } catch (cause) {
      const reason = signal.aborted
        ? `The chain gave no response within ${answerMs / 1_000} s. Send the request again.`
        : "The chain does not respond. See whether the sandbox still runs.";
      throw new ChainSilentError(reason, { cause });
    }
    throw new ChainSilentError(
      `The response has over ${largestAnswer} bytes. Ask for less: fewer blocks, logs or traces.`,
    );
  }

  /** Ends idle connections. */
  close(): void {
    this.#agent.destroy();
  }
}
