import { Mutex } from "async-mutex";

/** A place in a line: comes when it is its turn, with the function that ends the turn. */
export type Turn = Promise<() => void>;

/** One lock per key, in the order in which they are asked for; a key that is not held costs nothing. */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Mutex>();

  /** Runs a step while no other step with this key runs. */
  async run<Result>(key: string, step: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire(key);
    try {
      return await step();
    } finally {
      release();
    }
  }

  /** Returns whether this key is held now. */
  isHeld(key: string): boolean {
    return this.#mutexes.get(key)?.isLocked() ?? false;
  }

  /** Takes a place in the line for a key; the place is taken before this returns. */
  async acquire(key: string): Promise<() => void> {
    const mutex = this.#mutexes.get(key) ?? new Mutex();
    this.#mutexes.set(key, mutex);
    const release = await mutex.acquire();
    return () => {
      release();
      // A turn may be ended twice, and by then another holder may have the key, with another mutex.
      if (!mutex.isLocked() && this.#mutexes.get(key) === mutex) this.#mutexes.delete(key);
    };
  }
}
