import { ChainUnavailableError } from "../../chain/chain-reader.ts";
import { UndoneError } from "../gate.ts";
import type { OperationContext } from "../operation.ts";
import type { Entered } from "../run-in-gate.ts";
import type { Clock } from "../services.ts";
import type { Step } from "../step.ts";

/**
 * Another time than the expected one was read. The request starts over at that time.
 *
 * Not a CodedError: no client reads a code of it.
 */
class TimePassedError extends Error {
  override readonly name = "TimePassedError";
}

/**
 * The time of a request. It is the expected one until it is confirmed, so that the time is read in the same message as the first reads of
 * the chain. Nothing may be stored, taken or sent before it is confirmed.
 */
export class RequestTime {
  /** In Unix seconds. */
  readonly now: number;
  readonly #read: () => Promise<number>;
  #reading: Promise<number> | null = null;

  private constructor(now: number, read: () => Promise<number>) {
    this.now = now;
    this.#read = read;
  }

  /**
   * Runs a request at the expected time, and again at the time that was read if that is another one. Without an expected time it is read
   * first.
   */
  static async run<T>(clock: Clock, attempt: (time: RequestTime) => Promise<T>): Promise<T> {
    const read = async () => await clock.now();
    const expected = clock.expected();
    if (expected === undefined) return await attempt(RequestTime.#at(await read()));
    const time = new RequestTime(expected, read);
    try {
      const result = await attempt(time);
      await time.confirm();
      return result;
    } catch (error) {
      // The one is the same at every time; after the other, the request is not of this time at all.
      if (error instanceof ChainUnavailableError || error instanceof UndoneError) throw error;
      const now = await time.#readOnce();
      if (now === expected) throw error;
      return await attempt(RequestTime.#at(now));
    }
  }

  static #at(now: number): RequestTime {
    return new RequestTime(now, async () => now);
  }

  /**
   * Resolves when the time was read and is the expected one. Later calls do not read it again.
   *
   * @throws TimePassedError; ChainUnavailableError when the chain does not respond.
   */
  async confirm(): Promise<void> {
    if ((await this.#readOnce()) !== this.now) throw new TimePassedError();
  }

  async #readOnce(): Promise<number> {
    this.#reading ??= this.#read();
    return await this.#reading;
  }
}

/** A request with its time. */
export interface Timed extends Entered, Pick<OperationContext, "now" | "confirmTime"> {
  time: RequestTime;
}

/** Gives the request its time, and starts it over if the time is not the expected one. */
export const startClock: Step<Entered, Timed> = async (context, next) =>
  await RequestTime.run(context.services.clock, async (time) => {
    const { now } = time;
    context.response.locals["at"] = now;
    return await next({ ...context, time, now, confirmTime: async () => await time.confirm() });
  });
