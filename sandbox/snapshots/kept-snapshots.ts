import { Problem } from "../../server/errors/problem.ts";
import type { SandboxClock } from "../chain/clock/clock.ts";
import type { Snapshot } from "./snapshot.ts";

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
  readonly #take: () => Promise<Snapshot>;
  readonly #clock: SandboxClock;
  #kept: readonly (KeptSnapshot & { snapshot: Snapshot })[] = [];
  #taken = 0;

  constructor({ snapshot, chain }: { snapshot: () => Promise<Snapshot>; chain: { clock: SandboxClock } }) {
    this.#take = snapshot;
    this.#clock = chain.clock;
  }

  /** Returns the snapshots, the oldest first. */
  list(): KeptSnapshot[] {
    return this.#kept.map(({ number, now }) => ({ number, now }));
  }

  /** Takes a snapshot. */
  async take(): Promise<KeptSnapshot> {
    const snapshot = await this.#take();
    this.#taken += 1;
    const entry = { number: this.#taken, now: await this.#clock.now(), snapshot };
    this.#kept = [...this.#kept, entry].slice(-keptSnapshots);
    return { number: entry.number, now: entry.now };
  }

  /** Goes back to a snapshot. @throws Problem not_found */
  async restore(wanted: string): Promise<void> {
    const entry = this.#kept.find(({ number }) => String(number) === wanted);
    if (entry === undefined)
      throw new Problem("not_found", `There is no snapshot ${wanted}. Take one with POST /snapshots.`);
    await entry.snapshot.restore();
    // A snapshot taken after it belongs to a state that no longer exists.
    this.#kept = this.#kept.filter(({ number }) => number <= entry.number);
  }
}
