import { type IncomingMessage, request as requestOf } from "node:http";
import { AbortSignal } from "../../../protocol/globals.ts";
import { closedMessage } from "../../lib/errors/closed-error.ts";
import { DirectAgent } from "../../lib/http/direct/connect-direct.ts";
import { abortAfter } from "../../lib/time/timers.ts";
import { AnswerLimitError, type HeldAnswer } from "./held-answers.ts";

/** The longest time for an answer of Anvil, in milliseconds; it waits 30 s itself for the block of a transaction. */
export const answerMs = 60_000;

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
  #isClosed = false;

  /** @param urlNow - returns where Anvil answers now. */
  constructor(urlNow: () => string) {
    this.#urlNow = urlNow;
  }

  /**
   * Sends a JSON-RPC request and returns the bytes of the answer. It is read to its end, so that a slow reader holds nothing up.
   *
   * @param held - counts the bytes of the answer.
   * @param gone - ends the reading when the caller is gone; Anvil completes the call.
   * @throws ChainSilentError; AnswerLimitError when the answer is too large.
   */
  async post(body: string, held: HeldAnswer, gone?: AbortSignal): Promise<Buffer> {
    if (this.#isClosed) throw new ChainSilentError(closedMessage);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const late = abortAfter(answerMs);
    const bytes = Buffer.from(body);
    requestOf(this.#urlNow(), {
      method: "POST",
      agent: this.#agent,
      headers: { "Content-Type": "application/json", "Content-Length": bytes.length },
      signal: gone === undefined ? late : AbortSignal.any([late, gone]),
    })
      .once("response", resolve)
      .once("error", reject)
      .end(bytes);
    try {
      return await readHeld(await promise, held);
    } catch (cause) {
      if (cause instanceof AnswerLimitError) throw cause;
      // The end of the connections fails what is under way.
      if (this.#isClosed) throw new ChainSilentError(closedMessage, { cause });
      const reason = late.aborted
        ? `The chain gave no response within ${answerMs / 1_000} s. Send the request again.`
        : "The chain does not respond. See whether the sandbox still runs.";
      throw new ChainSilentError(reason, { cause });
    }
  }

  /** Ends all connections, and fails whatever is asked later. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }
}

/** Reads bytes to their end, which are counted as they come; those of an answer that is not read to its end are not held. */
async function readHeld(answer: AsyncIterable<Buffer>, held: HeldAnswer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of answer) {
      held.add(chunk.length);
      length += chunk.length;
      chunks.push(chunk);
    }
  } catch (error) {
    held.remove(length);
    throw error;
  }
  return Buffer.concat(chunks);
}
