import { Mutex } from "async-mutex";
import { secondsOfMilliseconds } from "../../../protocol/values/time.ts";
import { awaitAutomine } from "../../../relayer/node/automine.ts";
import { toNode } from "../../../relayer/node/node.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { freshReading } from "../../lib/reading.ts";
import type { ChainClient } from "../client/chain-client.ts";
import { raiseOffset } from "./anvil-offset.ts";
import { ClockError, type Duration, requireDuration, toSeconds } from "./duration.ts";
import { MachineTime } from "./machine-time.ts";

/** `deterministic`: only blocks advance time, by one second each. `live`: time follows the wall clock. */
export type ClockMode = "deterministic" | "live";

/** The beginning of the year 9999, in Unix seconds, so that later deadlines still have an RFC 3339 time. */
export const latestTime = Date.UTC(9999, 0) / 1_000;
const latestText = new Date(latestTime * 1_000).toISOString();

/** The clock of chain and API, which can only be moved forward. */
export interface SandboxClock {
  readonly mode: ClockMode;
  /**
   * Returns the current Unix time of the API and the chain, in whole seconds.
   *
   * @example const now = await sandbox.clock.now()
   */
  now(): Promise<number>;
  /**
   * Moves forward by seconds or a duration, mines one block at the new time, and returns this time.
   *
   * @throws ClockError unless the time to move by is a whole number of seconds above zero, and the new time is before the year 9999.
   * @example await clock.travel({ days: 8 });
   */
  travel(by: number | Duration): Promise<number>;
  /**
   * Moves to a Unix time in seconds, mines one block at this time, and returns it.
   *
   * @throws ClockError unless `timestamp` is a whole number of seconds after now and before the year 9999.
   * @example await sandbox.clock.travelTo(purchase.deadlines.pay_deadline + 1)
   */
  travelTo(timestamp: number): Promise<number>;
  /** Seconds by which travel moved a live clock ahead of the wall clock; 0 in `deterministic` mode. */
  offset(): number;
  /**
   * Follows the machine's clock if it was set: time continues while that is set back, and is again the machine's once it is set
   * forward. {@link now} does so, too; for a chain that is not asked for the time, this is called again and again.
   */
  follow(): Promise<void>;
  /**
   * Continues from a Unix time that was answered in an earlier run, in seconds: a machine's clock may have been set back since. In
   * `deterministic` mode blocks alone advance time, so this does nothing.
   */
  continueFrom(timestamp: number): Promise<void>;
  /**
   * Binds the chain to this clock again, so that no block is earlier than the latest one. Required after anything that replaces the chain's
   * state under the clock (a loaded state, a revert). A restore passes the `offset` of its snapshot and, to save a request, the Unix time
   * of what is the latest block now.
   */
  pin(offset?: number, latest?: number): Promise<void>;
}

/** Stores a live clock's offset across runs, because the latest block does not show how much time has passed since. */
export interface KeptOffset {
  /** Returns the offset that was stored last, in seconds; 0 when none was. */
  read(): number;
  keep(offset: number): Promise<void>;
}

const notKept: KeptOffset = { read: () => 0, async keep() {} };

/**
 * Creates the clock of a chain and binds the chain to it. In `deterministic` mode, the time is that of the latest block, and each block is
 * one second later. In `live` mode, it is the wall clock plus the seconds that travel added. A live chain whose latest block is ahead of
 * the wall clock (after travel in an earlier run) continues from that block.
 */
export async function createClock(
  client: ChainClient,
  mode: ClockMode,
  kept = notKept,
): Promise<SandboxClock> {
  const clock = mode === "deterministic" ? deterministicClock(client) : liveClock(client, kept);
  await clock.pin();
  // One after the other: two moves from the same time would ask for a block before the latest one.
  const moves = new Mutex();
  const move = async (step: () => Promise<number>) =>
    await moves.runExclusive(async () => {
      // The block of a transaction that was sent before would take the time that is meant for the next one.
      await awaitAutomine(toNode(client.request));
      return await step();
    });
  return {
    ...clock,
    now: async () => {
      // Until a live clock has moved, the block that moves it is ahead of it.
      if (mode === "live") await moves.waitForUnlock();
      return await clock.now();
    },
    travel: async (by) => await move(async () => await clock.travel(by)),
    travelTo: async (timestamp) => await move(async () => await clock.travelTo(timestamp)),
  };
}

function deterministicClock(client: ChainClient): SandboxClock {
  const now = freshReading(() => latestTimestamp(client));
  const move = async (from: number, timestamp: number) => {
    assertAhead(timestamp, from);
    return await mineAt(client, timestamp);
  };
  return {
    mode: "deterministic",
    now,
    offset: () => 0,
    async follow() {},
    async continueFrom() {},
    async travelTo(timestamp) {
      return await move(await now(), timestamp);
    },
    async travel(by) {
      const from = await now();
      return await move(from, from + wholeSeconds(by));
    },
    async pin(_offset, latest) {
      // Without it Anvil takes the wall clock for the time of the last block when it has loaded a state.
      const time = latest ?? (await now());
      await Promise.all([
        client.request({ method: "evm_setTime", params: [time] }),
        client.setBlockTimestampInterval({ interval: 1 }),
      ]);
    },
  };
}

/** Binds Anvil to the time of a live clock; of the steps that change either, one runs at a time. */
function bindAnvil(client: ChainClient, time: MachineTime) {
  const node = toNode(client.request);
  const turns = new Mutex();
  const raise = async (seconds: number) => await raiseOffset(node, seconds);
  const pin = async () => {
    const now = time.read();
    await client.request({ method: "evm_setTime", params: [now] });
    // No block of Anvil is earlier.
    time.returned = Math.max(time.returned, now);
    // Anvil may have read the wall clock a second after this did, which would leave it behind for good.
    await raise(time.travelled + time.setBack);
  };
  const follow = async () => {
    if (time.findSetBack() === time.setBack) return;
    await turns.runExclusive(async () => {
      const before = time.setBack;
      // A wallet may have had a block mined since the time was returned last.
      if (time.findSetBack() > before) time.returned = Math.max(time.returned, await latestTimestamp(client));
      const found = time.findSetBack();
      if (found > before) await raise(time.travelled + found);
      time.moveBack(found);
      if (found >= before) return;
      // A block that came before this was found has a time of its own: none may be earlier.
      time.moveBack(found + Math.max(0, (await latestTimestamp(client)) - time.read()));
      await pin();
    });
  };
  return { turns, raise, pin, follow };
}

function liveClock(client: ChainClient, kept: KeptOffset) {
  const time = new MachineTime(kept.read());
  const anvil = bindAnvil(client, time);
  const { turns, follow } = anvil;
  const now = async () => {
    await follow();
    time.returned = Math.max(time.returned, time.read());
    return time.returned;
  };
  const move = async (from: number, timestamp: number) => {
    const by = assertAhead(timestamp, from);
    return await turns.runExclusive(async () => {
      // Kept first: a run that ends here continues ahead of the chain, never behind what it said.
      await kept.keep(time.travelled + by);
      const arrived = await mineAt(client, timestamp).catch(async (refusal: unknown) => {
        await kept.keep(time.travelled);
        throw refusal;
      });
      // Anvil continues from the second in which it made the block, which may be one second after the request.
      await anvil.raise(time.travelled + by + time.setBack);
      time.travelled += by;
      return arrived;
    });
  };
  return {
    mode: "live" as const,
    now,
    follow,
    offset: () => time.travelled,
    async continueFrom(timestamp: number) {
      time.returned = Math.max(time.returned, timestamp);
      await now();
    },
    async travelTo(timestamp: number) {
      return await move(await now(), timestamp);
    },
    async travel(by: number | Duration) {
      const from = await now();
      return await move(from, from + wholeSeconds(by));
    },
    async pin(restored?: number, latest?: number) {
      await turns.runExclusive(async () => {
        const before = time.travelled;
        if (restored !== undefined) time.restore(restored);
        const behind = (latest ?? (await latestTimestamp(client))) - time.read();
        time.moveBack(time.setBack + Math.max(0, behind));
        await anvil.pin();
        if (time.travelled !== before) await kept.keep(time.travelled);
      });
    },
  };
}

/** Makes a block of a time, unless the chain has reached that time meanwhile. @returns the time of the chain. */
async function mineAt(client: ChainClient, timestamp: number): Promise<number> {
  try {
    await client.request({ method: "evm_mine", params: [{ timestamp }] });
    return timestamp;
  } catch (error) {
    const reached = await latestTimestamp(client);
    if (reached < timestamp) throw error;
    return reached;
  }
}

async function latestTimestamp(client: ChainClient): Promise<number> {
  return Number((await client.getBlock({ blockTag: "latest" })).timestamp);
}

function wholeSeconds(by: number | Duration): number {
  requireDuration(by);
  const seconds = typeof by === "number" ? by : toSeconds(by);
  if (seconds > latestTime)
    throw new ClockError(`The clock moves up to ${latestText}, which ${seconds} s from now is after.`);
  if (Number.isSafeInteger(seconds) && seconds > 0) return seconds;
  throw new ClockError(
    `The clock moves forward by whole seconds, not by ${seconds}.${seconds < 0 ? " To go back, restore a snapshot." : ""}`,
  );
}

function assertAhead(timestamp: number, now: number): number {
  if (typeof timestamp !== "number")
    throw new ClockError(
      `The clock moves to a time in Unix seconds, a number, not to ${showValue(timestamp)}.`,
    );
  const meant = secondsOfMilliseconds(timestamp);
  if (timestamp > latestTime)
    throw new ClockError(
      `The clock moves up to ${latestText}; ${timestamp}, in Unix seconds, is later.${meant === undefined ? "" : ` These look like milliseconds: pass ${meant}.`}`,
    );
  if (Number.isSafeInteger(timestamp) && timestamp > now) return timestamp - now;
  throw new ClockError(
    `The clock only moves forward: it is ${now}${describe(now)} now, and ${timestamp}${describe(timestamp)} is not later. To go back, restore a snapshot.`,
  );
}

function describe(timestamp: number): string {
  const date = new Date(timestamp * 1_000);
  return Number.isNaN(date.getTime()) ? "" : ` (${date.toISOString()})`;
}
