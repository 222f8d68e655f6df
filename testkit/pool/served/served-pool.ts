import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { CodedError, messageOf } from "../../../protocol/coded-error.ts";
import { definedOnly } from "../../../sandbox/lib/defined-only.ts";
import { fetchDirect } from "../../../sandbox/lib/http/direct/fetch-direct.ts";
import {
  abortAfter,
  clearTimeout,
  endOfTurn,
  machineClock,
  pause,
  setTimeout,
} from "../../../sandbox/lib/time/timers.ts";
import type { SandboxDescription } from "../../../sandbox/options/description.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { Problem } from "../../../server/errors/problem.ts";
import { type Lease, openPool, type Pool } from "../pool.ts";
import { poolLimits } from "./pool-limits.ts";

/** The longest time that a sandbox may take to say that it works, in milliseconds: longer than it waits for its own parts. */
const healthTimeoutMs = 3_000;

/** The pause before a sandbox that did not start is started again, in milliseconds. */
const retryMs = 1_000;

/** Options of a pool that is served over HTTP. */
export interface ServedPoolOptions {
  /** The number of sandboxes. */
  size: number;
  /** The length of a lease that does not name one, in seconds. */
  leaseSeconds: number;
  /** The longest time that a request waits for a free sandbox, in milliseconds. */
  waitMs: number;
  /** The options of each sandbox. */
  sandbox: SandboxOptions;
  /** Called when a sandbox did not start; it is started again. */
  failed: (error: unknown) => void;
}

/** A lease as it is answered. */
export interface LeaseView {
  id: string;
  sandbox: SandboxDescription;
  /** RFC 3339, by the wall clock. */
  expires_at: string;
}

/** Thrown when the pool has no sandbox for a caller; a repeated request can succeed. */
export class PoolError extends CodedError<"pool_exhausted" | "sandbox_unavailable"> {
  override readonly name = "PoolError";
}

/** A sandbox of the pool, with the lease that was prepared for the next caller. */
interface Slot {
  /** From 1 on; a sandbox that replaces another one has its number. */
  readonly number: number;
  pool: Pool;
  lease: Lease | null;
  /** The id that its caller knows, until the sandbox has been reset for the next one. */
  leaseId: string | null;
  /** Resolves when the Anvil of the lease's sandbox has ended. */
  ended: Promise<unknown> | null;
}

/** A caller that waits for a sandbox. */
interface Caller {
  /** Counts the requests for a lease. */
  number: number;
  take: (slot: Slot) => void;
}

interface Held {
  slot: Slot;
  expiresAt: number;
  timer: NodeJS.Timeout;
  /** Set while a restore runs, which a second one and the end wait for. */
  turn: Promise<unknown>;
}

/**
 * Leases sandboxes to callers of any process. It resets a sandbox when its lease is ended, before the next caller asks. A
 * lease that expires is replaced by another sandbox on other ports, which a late caller does not know.
 *
 * @example const pool = new ServedPool({ size: 8, leaseSeconds: 60, waitMs: 10_000, sandbox: {}, failed: console.error })
 */
export class ServedPool {
  readonly #options: ServedPoolOptions;
  readonly #slots: readonly Slot[];
  readonly #held = new Map<string, Held>();
  readonly #preparing = new Set<Promise<void>>();
  readonly #metrics = {
    leases: 0,
    ended: 0,
    expired: 0,
    restored: 0,
    refused: 0,
    disconnected: 0,
    failed_starts: 0,
  };
  #free: Slot[] = [];
  /** In the order in which they asked. */
  #waiting: readonly Caller[] = [];
  #asked = 0;
  /** The error of the last start, if that has failed. */
  #failure: unknown = null;
  #isClosed = false;

  constructor(options: ServedPoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.size }, (_, index) => this.#openSlot(index + 1));
    for (const slot of this.#slots) this.#prepareSoon(slot, async () => {});
  }

  /** Resolves when every sandbox that is being prepared is free. */
  async ready(): Promise<void> {
    while (this.#preparing.size > 0) await Promise.all(this.#preparing);
  }

  /** Returns the process id, the limits, the state of the sandboxes and the metrics. */
  status() {
    const { size, leaseSeconds, waitMs } = this.#options;
    return {
      pid: process.pid,
      size,
      free: this.#free.length,
      leased: this.#held.size,
      preparing: size - this.#free.length - this.#held.size,
      waiting: this.#waiting.length,
      limits: {
        lease_seconds: leaseSeconds,
        most_lease_seconds: poolLimits.mostLeaseSeconds,
        wait_seconds: waitMs / 1_000,
      },
      metrics: { ...this.#metrics },
      leases: [...this.#held].map(([id, { expiresAt }]) => ({ id, expires_at: toText(expiresAt) })),
    };
  }

  /**
   * Leases a free sandbox that works, or waits for one.
   *
   * @param gone - aborts when the caller has disconnected.
   * @throws PoolError `pool_exhausted` when none becomes free in time.
   */
  async lease(seconds: number | undefined, gone: AbortSignal): Promise<LeaseView> {
    const slot = await this.#take(gone);
    const id = `lse_${randomUUID()}`;
    slot.leaseId = id;
    this.#metrics.leases += 1;
    const length = seconds ?? this.#options.leaseSeconds;
    this.#held.set(id, { slot, turn: Promise.resolve(), ...this.#term(id, length) });
    return this.#view(id);
  }

  /** Renews a lease, from now on. @throws Problem not_found */
  renew(id: string, seconds: number | undefined): LeaseView {
    const held = this.#require(id);
    clearTimeout(held.timer);
    Object.assign(held, this.#term(id, seconds ?? this.#options.leaseSeconds));
    return this.#view(id);
  }

  /**
   * Resets the sandbox of a lease, or replaces it if it can no longer be reset.
   *
   * @throws Problem `not_found`; PoolError `sandbox_unavailable` when no other sandbox starts.
   */
  async restore(id: string): Promise<LeaseView> {
    const held = this.#require(id);
    const before = held.turn;
    const restoring = before
      .then(async () => await this.#reset(held.slot))
      .catch((cause: unknown) => {
        this.#options.failed(cause);
        const detail =
          "The sandbox of the lease could be neither reset nor replaced. Send the request again.";
        throw new PoolError("sandbox_unavailable", detail, { cause });
      });
    held.turn = restoring.catch(() => undefined);
    await restoring;
    this.#metrics.restored += 1;
    return this.#view(id);
  }

  /** Ends a lease; its sandbox is reset for the next caller. @throws Problem not_found */
  end(id: string): void {
    const held = this.#release(id);
    this.#metrics.ended += 1;
    this.#prepareSoon(held.slot, async () => {
      await held.turn;
      await held.slot.lease?.end();
    });
  }

  /** Ends a lease whose caller never got it, unless it has ended. */
  abandon(id: string): void {
    if (this.#held.has(id)) this.end(id);
  }

  /** Ends every lease and closes every sandbox. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    const turns = [...this.#held.values()].map(({ turn }) => turn);
    this.#held.clear();
    await Promise.all([...turns, ...this.#preparing]);
    await Promise.all(this.#slots.map(async ({ pool }) => await pool.close()));
  }

  #openSlot(number: number): Slot {
    const slot: Omit<Slot, "pool"> = { number, lease: null, leaseId: null, ended: null };
    return Object.assign(slot, { pool: this.#open(slot) });
  }

  /** Opens the pool of a slot. Each line of its log names the sandbox and its lease. */
  #open(slot: Pick<Slot, "number" | "leaseId">): Pool {
    const { log, ...sandbox } = this.#options.sandbox;
    const ownFields = () => ({ sandbox: slot.number, ...(slot.leaseId !== null && { lease: slot.leaseId }) });
    const ownLog = log && {
      info: (fields: object, message: string) => log.info({ ...ownFields(), ...fields }, message),
      error: (fields: object, message: string) => log.error({ ...ownFields(), ...fields }, message),
    };
    return openPool({ ...sandbox, ...definedOnly({ log: ownLog }) }, "worker");
  }

  /** An expired lease can have a caller that is only late: it must not reach the sandbox of the next one. */
  #expire(id: string): void {
    const { slot, turn } = this.#release(id);
    this.#metrics.expired += 1;
    this.#replaceSoon(slot, turn);
  }

  #replaceSoon(slot: Slot, turn: Promise<unknown> = Promise.resolve()): void {
    this.#prepareSoon(slot, async () => {
      await turn;
      await slot.pool.close().catch(this.#options.failed);
      slot.pool = this.#open(slot);
    });
  }

  #term(id: string, seconds: number): Pick<Held, "expiresAt" | "timer"> {
    const milliseconds = seconds * 1_000;
    return {
      expiresAt: machineClock.now() + milliseconds,
      timer: setTimeout(() => this.#expire(id), milliseconds).unref(),
    };
  }

  #release(id: string): Held {
    const held = this.#require(id);
    clearTimeout(held.timer);
    this.#held.delete(id);
    return held;
  }

  #require(id: string): Held {
    const held = this.#held.get(id);
    if (held === undefined)
      throw new Problem(
        "not_found",
        `There is no lease ${id}: it has ended or expired. Take a lease with POST /leases.`,
      );
    return held;
  }

  #view(id: string): LeaseView {
    const { slot, expiresAt } = this.#require(id);
    if (slot.lease === null) throw new Error("A held sandbox has a lease.");
    return { id, sandbox: slot.lease.sandbox.description, expires_at: toText(expiresAt) };
  }

  /** Takes a free sandbox that works, or waits for one; replaces those that do not work. */
  async #take(gone: AbortSignal): Promise<Slot> {
    const until = performance.now() + this.#options.waitMs;
    this.#asked += 1;
    const number = this.#asked;
    for (;;) {
      const slot = this.#free.shift() ?? (await this.#wait(number, gone, until));
      const isWorking = await works(slot);
      // The end of a connection that has arrived meanwhile is read first.
      await endOfTurn();
      if (isWorking && !gone.aborted) return slot;
      if (isWorking) this.#offer(slot);
      else this.#replaceSoon(slot);
      if (gone.aborted) throw this.#disconnected();
    }
  }

  /** Waits in line, where a caller whose sandbox did not work keeps its place. */
  async #wait(number: number, gone: AbortSignal, until: number): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const refuse = () => {
      this.#metrics.refused += 1;
      reject(exhausted(this.#options, this.#failure));
    };
    const leave = () => reject(this.#disconnected());
    const timer = setTimeout(refuse, Math.max(0, until - performance.now()));
    gone.addEventListener("abort", leave);
    const caller = { number, take: resolve };
    this.#waiting = [...this.#waiting, caller].toSorted((left, right) => left.number - right.number);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      gone.removeEventListener("abort", leave);
      this.#waiting = this.#waiting.filter((one) => one !== caller);
    }
  }

  #disconnected(): PoolError {
    this.#metrics.disconnected += 1;
    return exhausted(this.#options, this.#failure);
  }

  /** Prepares a sandbox for the next caller in the background. */
  #prepareSoon(slot: Slot, first: () => Promise<void>): void {
    const preparing = this.#prepare(slot, first).finally(() => this.#preparing.delete(preparing));
    this.#preparing.add(preparing);
  }

  async #prepare(slot: Slot, first: () => Promise<void>): Promise<void> {
    await first();
    slot.lease = null;
    while (slot.lease === null) {
      if (this.#isClosed) return;
      try {
        slot.lease = await slot.pool.lease();
      } catch (error) {
        this.#metrics.failed_starts += 1;
        this.#failure = error;
        this.#options.failed(error);
        await pause(retryMs);
      }
    }
    slot.leaseId = null;
    this.#failure = null;
    this.#watch(slot, slot.lease);
    this.#offer(slot);
  }

  /** Gives a sandbox to the caller that has waited longest, or keeps it for the next one. */
  #offer(slot: Slot): void {
    const [next, ...others] = this.#waiting;
    this.#waiting = others;
    if (next === undefined) this.#free.push(slot);
    else next.take(slot);
  }

  /** Replaces a sandbox whose Anvil ends while it is free. */
  #watch(slot: Slot, { sandbox }: Lease): void {
    const { exited } = sandbox.chain.anvil;
    if (slot.ended === exited) return;
    slot.ended = exited;
    void exited.then(() => {
      if (slot.ended !== exited || !this.#free.includes(slot) || this.#isClosed) return;
      this.#free = this.#free.filter((one) => one !== slot);
      this.#replaceSoon(slot);
    });
  }

  async #reset(slot: Slot): Promise<void> {
    await slot.lease?.end();
    slot.lease = await slot.pool.lease();
  }
}

/** Returns whether the sandbox of a slot works, as its control API says. */
async function works({ lease }: Slot): Promise<boolean> {
  if (lease === null) return false;
  const url = `${lease.sandbox.description.urls.control}/health`;
  return await fetchDirect(url, { signal: abortAfter(healthTimeoutMs) })
    .then(async (response) => {
      await response.text();
      return response.ok;
    })
    .catch(() => false);
}

function exhausted({ size, waitMs }: ServedPoolOptions, failure: unknown): PoolError {
  const remedy =
    failure === null
      ? "Send the request again, end a lease, or start a larger pool."
      : `The last start of one failed: ${messageOf(failure)}`;
  return new PoolError(
    "pool_exhausted",
    `None of the ${size} sandboxes became free within ${waitMs / 1_000} s. ${remedy}`,
  );
}

function toText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
