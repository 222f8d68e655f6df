import { needsOwnChain } from "../../lib/errors/needs-own-chain.ts";
import { machineClock } from "../../lib/time/timers.ts";
import type { SandboxClock } from "../clock/clock.ts";
import { MachineTime } from "../clock/machine-time.ts";

/** The seconds that the time of a block made now may be behind the wall clock: blocks have the time of the beginning of their slot, or of another clock. */
export const mostBlockLag = 60;

/** Returns the machine's time, in Unix seconds. */
export function wallTime(): number {
  return Math.floor(machineClock.now() / 1_000);
}

/**
 * Creates the clock of a connection to a node: the wall clock, never behind the newest block and never going back. While the machine's clock is set
 * back, time continues. It cannot be moved.
 *
 * @param newest - returns the time of the newest block that is known, in Unix seconds.
 */
export function wallClock(newest: () => number): SandboxClock {
  const time = new MachineTime(0);
  let returned = 0;
  const refuse = async () => {
    throw needsOwnChain("Travel in time");
  };
  return {
    mode: "live",
    async now() {
      const setBack = time.findSetBack();
      if (setBack !== time.setBack) time.moveBack(setBack);
      time.returned = Math.max(time.returned, time.read());
      // The time of the newest block is no time of this machine, which would stay ahead by as much.
      returned = Math.max(returned, newest(), time.returned);
      return returned;
    },
    travel: refuse,
    travelTo: refuse,
    offset: () => 0,
    async follow() {},
    async continueFrom(timestamp) {
      time.returned = Math.max(time.returned, timestamp);
    },
    async pin() {},
  };
}
