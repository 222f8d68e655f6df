import { Problem } from "../../server/errors/problem.ts";
import type { SandboxClock } from "../chain/clock/clock.ts";
import type { HeldSnapshot } from "./snapshot.ts";

/** A snapshot that the control API took, to go back to while the sandbox runs. */
interface KeptSnapshot {
  /** Counts them from 1. */
  number: number;
  /** Sandbox time in Unix seconds. */
  now: number;
}

/** The number of snapshots that are kept; the oldest one is forgotten for a new one. */
export const keptSnapshots = 20;

/** The snapshots that the control API takes and goes back to. */
export class KeptSnapshots {
  readonly #take: () => Promise<HeldSnapshot>;
  readonly #clock: SandboxClock;
  #kept: readonly (KeptSnapshot & { snapshot: HeldSnapshot })[] = [];
  #taken = 0;

  constructor({
    snapshot,
    chain,
  }: { snapshot: () => Promise<HeldSnapshot>; chain: { clock: SandboxClock } }) {
    this.#take = snapshot;
    this.#clock = chain.clock;
  }

  /** Returns the snapshots, the oldest first. */
  list(): KeptSnapshot[] {
    this.#forgetStale();
    return this.#kept.map(({ number, now }) => ({ number, now }));
  }

  /** Takes a snapshot. */
  async take(): Promise<KeptSnapshot> {
    const snapshot = await this.#take();
    this.#forgetStale();
    this.#taken += 1;
    const entry = { number: this.#taken, now: await this.#clock.now(), snapshot };
    this.#kept = [...this.#kept, entry].slice(-keptSnapshots);
    return { number: entry.number, now: entry.now };
  }

  /** Goes back to a snapshot. @throws Problem not_found */
  async restore(wanted: string): Promise<void> {
    this.#forgetStale();
    const entry = this.#kept.find(({ number }) => String(number) === wanted);
    if (entry === undefined)
      throw new Problem(
        "not_found",
        `There is no snapshot ${wanted}. Take one, and restore it by its number.`,
      );
    await entry.snapshot.restore();
  }

  /**
   * Forgets the snapshots of states that no longer exist, because an older one was restored: also by a pool, whose next caller finds none and
   * counts from 1.
   */
  #forgetStale(): void {
    this.#kept = this.#kept.filter(({ snapshot }) => !snapshot.isStale());
    if (this.#kept.length === 0) this.#taken = 0;
  }
}
