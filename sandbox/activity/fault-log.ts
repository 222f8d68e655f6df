import { performance } from "node:perf_hooks";
import type { Fault } from "../faults/fault.ts";
import type { Part } from "../lib/part.ts";

/** A change of the faults. */
export interface KeptFault {
  change: "set" | "cleared";
  fault: Fault;
  /** In milliseconds since the start of the process. */
  changedAt: number;
}

/** The largest number of changes that are kept. */
const mostKept = 200;

/** Keeps when faults were set and cleared, in memory: they are not state of the service, so a restore clears the log. */
export class FaultLog implements Part<null> {
  readonly name = "fault_log";
  readonly schema = null;
  #known: readonly Fault[] = [];
  #changes: KeptFault[] = [];

  /** Notes how the faults differ from those before. */
  changed(faults: readonly Fault[]): void {
    const changedAt = performance.now();
    const before = this.#known.map(identify);
    const now = faults.map(identify);
    const set = faults.filter((_, index) => !before.includes(now[index] ?? ""));
    const cleared = this.#known.filter((_, index) => !now.includes(before[index] ?? ""));
    this.#known = faults;
    this.#changes.push(
      ...set.map((fault) => ({ change: "set" as const, fault, changedAt })),
      ...cleared.map((fault) => ({ change: "cleared" as const, fault, changedAt })),
    );
    this.#changes = this.#changes.slice(-mostKept);
  }

  /** Returns the changes, the oldest first. */
  changes(): readonly KeptFault[] {
    return this.#changes;
  }

  capture(): null {
    return null;
  }

  restore(): void {
    this.#changes = [];
  }
}

/** A fault without what changes when it acts. */
function identify({ remaining: _, hits: __, matched: ___, ...fault }: Fault): string {
  return JSON.stringify(fault);
}
