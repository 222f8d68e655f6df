import { AbortController } from "../../protocol/globals.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { wait } from "../lib/time/timers.ts";

/** The longest time, in milliseconds, that a restore waits for calls before it: one that waits for a receiver is ended by the restore itself. */
const mostWaitMs = 1_000;

/**
 * Calls of the control API that take many requests, such as `POST /given`. A restore ends them: without that, they would continue in the restored state,
 * which may be the lease of another test.
 */
export class UndoableCalls {
  readonly #running = new Set<Promise<unknown>>();
  #ended = new AbortController();

  /** Runs a call. @param call - gets a signal that aborts before a restore. */
  async run<T>(call: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const running = call(this.#ended.signal);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Ends all calls: each gets the response to its last request, and makes no other. */
  async end(): Promise<void> {
    if (this.#running.size === 0) return;
    this.#ended.abort(
      new SandboxError("given_refused", "A restore of the sandbox has undone this call. Send it again."),
    );
    this.#ended = new AbortController();
    await Promise.race([Promise.allSettled(this.#running), wait(mostWaitMs)]);
  }
}
