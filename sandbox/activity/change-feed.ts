import { randomBytes } from "node:crypto";
import { clearTimeout, setTimeout } from "../lib/time/timers.ts";
import type { ChangeTopic, ExplorerChange } from "./views.ts";

/** A change with its place in the feed. */
export interface NumberedChange extends ExplorerChange {
  id: string;
}

/** The number of changes that are kept for clients that come back. */
const kept = 256;
/** The largest number of purchases that one change names. */
export const namedPurchases = 50;
/** The window, in milliseconds, whose changes are reported as one. */
export const windowMs = 40;

/**
 * Gathers what changes in a sandbox and tells it to listeners, a burst as one change.
 *
 * It remembers the last changes, so that a listener that was away can get what it missed.
 */
export class ChangeFeed {
  /** Ids of an earlier process must not pass for ones of this. */
  readonly #feedId = randomBytes(6).toString("hex");
  readonly #listeners = new Set<(change: NumberedChange) => void>();
  #topics = new Set<ChangeTopic>();
  #purchases = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #count = 0;
  #changes: readonly NumberedChange[] = [];

  /** Notes that something changed. */
  note(topic: ChangeTopic, purchases: Iterable<string> = []): void {
    this.#topics.add(topic);
    for (const id of purchases) if (this.#purchases.size <= namedPurchases) this.#purchases.add(id);
    // Without a listener it is sent when the first one comes.
    if (this.#listeners.size > 0) this.#timer ??= setTimeout(() => this.#tell(), windowMs).unref();
  }

  /** Has a listener told of every change from now on, until the returned function is called. */
  listen(listener: (change: NumberedChange) => void): () => void {
    this.#tell();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The id of the newest change: what a listener that begins now has seen. */
  latest(): string {
    return `${this.#feedId}-${this.#count}`;
  }

  /** Returns the changes after a change, or null when they are no longer known. */
  since(id: string): readonly NumberedChange[] | null {
    this.#tell();
    if (id === this.latest()) return [];
    const place = this.#changes.findIndex((change) => change.id === id);
    return place === -1 ? null : this.#changes.slice(place + 1);
  }

  #tell(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#topics.size === 0) return;
    this.#count += 1;
    const purchases = this.#purchases.size > namedPurchases ? null : [...this.#purchases];
    const change: NumberedChange = { id: this.latest(), topics: [...this.#topics], purchases };
    this.#topics = new Set();
    this.#purchases = new Set();
    this.#changes = [...this.#changes, change].slice(-kept);
    for (const listener of this.#listeners) listener(change);
  }
}
