import { AbortController, AbortSignal } from "../../../protocol/globals.ts";
import { wait } from "./timers.ts";

/** The waits of one process that are no work: delays of faults, answers of receivers, and looks for transaction receipts. */
export class Waits {
  #end = new AbortController();
  #skipping = 0;

  /** Aborts when the waits in progress end early; aborted as long as no wait begins. */
  get end(): AbortSignal {
    return this.#end.signal;
  }

  /** Waits for milliseconds of real time, unless waits are skipped or the signal aborts. */
  async wait(milliseconds: number, stop?: AbortSignal): Promise<void> {
    await wait(milliseconds, this.until(stop));
  }

  /** Returns a signal that aborts when waits are skipped, or with another signal. */
  until(stop?: AbortSignal): AbortSignal {
    return stop === undefined ? this.end : AbortSignal.any([this.end, stop]);
  }

  /**
   * Ends all waits in progress, and skips those that begin before some work is done.
   *
   * @example await waits.skipDuring(async () => await snapshot.restore())
   */
  async skipDuring<T>(work: () => Promise<T>): Promise<T> {
    this.#skipping += 1;
    this.#end.abort();
    try {
      return await work();
    } finally {
      this.#skipping -= 1;
      if (this.#skipping === 0) this.#end = new AbortController();
    }
  }
}
