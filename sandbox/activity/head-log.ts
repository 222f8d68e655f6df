import { performance } from "node:perf_hooks";

/** The largest number of blocks whose time is kept. */
const mostKept = 5_000;

/** Keeps when the newest heads of the chain were announced, in memory: their own times are whole seconds of sandbox time. */
export class HeadLog {
  readonly #seen = new Map<number, number>();

  /** Notes that a block is the head now, also when it has the number of an earlier one. */
  note(number: number): void {
    this.#seen.delete(number);
    this.#seen.set(number, performance.timeOrigin + performance.now());
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > mostKept && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** When a block came, in Unix milliseconds by the clock of the machine; undefined if that is not known. */
  seenAt(number: number): number | undefined {
    return this.#seen.get(number);
  }
}
