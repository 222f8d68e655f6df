/**
 * Keeps the newest values that were computed, by what they were computed from.
 *
 * @example const senders = new Recent<Promise<Address>>(1_000); await senders.get(hash, () => recover(hash))
 */
export class Recent<V> {
  readonly #most: number;
  readonly #values = new Map<string, V>();

  /** @param most - how many values are kept; the oldest goes first. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the value that is kept under a key, or the one that is computed now. */
  get(key: string, compute: () => V): V {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = compute();
    this.#values.set(key, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#most) break;
      this.#values.delete(oldest);
    }
    return value;
  }
}
