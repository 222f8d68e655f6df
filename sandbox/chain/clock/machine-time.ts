import { machineClock } from "../../lib/time/timers.ts";

/**
 * The time of a live clock: that of the machine, and what travel added. If the machine's clock is set back, time continues from the latest
 * time that was returned or that the chain had, because a transaction that came after what it serves would be refused as older.
 */
export class MachineTime {
  /** By how many seconds travel has moved the time. */
  travelled: number;
  /** The latest time that was returned or that the chain had, in Unix seconds. */
  returned = 0;
  #setBack = 0;
  /** The clocks when the set-back was found. */
  #seen = readClocks();

  constructor(travelled: number) {
    this.travelled = travelled;
  }

  /** By how many seconds the time is ahead of the machine's clock because that was set back. */
  get setBack(): number {
    return this.#setBack;
  }

  /** Returns the time, in Unix seconds. */
  read(): number {
    return Math.floor(machineClock.now() / 1_000) + this.travelled + this.#setBack;
  }

  /** Returns by how many seconds the machine's clock is set back now: fewer than before if it was set forward. */
  findSetBack(): number {
    const { wall, steady } = readClocks();
    const setForward = Math.round((wall - this.#seen.wall - (steady - this.#seen.steady)) / 1_000);
    const behind = this.returned - (this.read() - this.#setBack);
    return Math.max(0, this.#setBack - Math.max(0, setForward), behind);
  }

  /** Sets by how many seconds the machine's clock is set back. */
  moveBack(seconds: number): void {
    this.#setBack = seconds;
    this.#seen = readClocks();
  }

  /** Begins at a restored state, which may be earlier than the time that was returned. */
  restore(travelled: number): void {
    this.travelled = travelled;
    this.returned = 0;
    this.moveBack(0);
  }
}

/** The machine's clock, and one that cannot be set, in milliseconds. */
function readClocks(): { wall: number; steady: number } {
  return { wall: machineClock.now(), steady: machineClock.steady() };
}
