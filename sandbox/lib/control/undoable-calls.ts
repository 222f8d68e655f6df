import { AbortController, AbortSignal } from "../../../protocol/globals.ts";
import type { Gate } from "../../../server/http/gate.ts";
import { SandboxError } from "../errors/sandbox-error.ts";
import { wait } from "../time/timers.ts";

/** The longest time, in milliseconds, that a restore waits for calls before it: one that waits for a receiver is ended by the restore itself. */
const mostWaitMs = 1_000;

/**
 * Calls of the control API that send several requests, such as `POST /given`. A restore ends them: without that, they would continue in the restored
 * state, which may be the lease of another test. They run in the gate without holding it, so that whatever waits for its work waits for them, too.
 */
export class UndoableCalls {
  readonly #gate: Gate;
  readonly #running = new Set<Promise<unknown>>();
  #ended = new AbortController();

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Runs a call. @param call - gets a signal that aborts before a restore. @throws SandboxError undone */
  async run<T>(call: (ended: AbortSignal) => Promise<T>): Promise<T> {
    // A call can also begin while a restore waits for others.
    const ended = AbortSignal.any([this.#ended.signal, this.#gate.undone]);
    const running = this.#gate.runShared(
      "a call of the control API",
      async ({ releaseGate }) =>
        await releaseGate(async () => {
          ended.throwIfAborted();
          return await call(ended);
        }),
    );
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw ended.aborted ? undoneRequest() : error;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Ends all calls: each gets the response to its last request, and makes no other. */
  async end(): Promise<void> {
    if (this.#running.size === 0) return;
    this.#ended.abort();
    this.#ended = new AbortController();
    await Promise.race([Promise.allSettled(this.#running), wait(mostWaitMs)]);
  }
}

/** The refusal of a request that a restore has undone, or has come before. */
export function undoneRequest(): SandboxError {
  return new SandboxError("undone", "A restore of the sandbox has undone this request. Send it again.");
}
