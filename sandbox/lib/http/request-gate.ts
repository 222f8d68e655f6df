import { performance } from "node:perf_hooks";
import { Mutex } from "async-mutex";
import { AbortController } from "../../../protocol/globals.ts";
import { type Gate, type GateTurn, UndoneError } from "../../../server/http/gate.ts";
import { SandboxError } from "../errors/sandbox-error.ts";
import { endOfTurn, endsWithin } from "../time/timers.ts";

/** The longest waits of a snapshot or a restore, in milliseconds of real time. */
export interface GateTimes {
  /** For everything that is in progress, before it is refused. */
  timeoutMs: number;
  /** With the gate closed, before it opens again for a while; {@link defaultClosedMs} if not given. */
  closedMs?: number;
}

/** The default of {@link GateTimes.closedMs}. */
const defaultClosedMs = 2_000;

/** The most looks for requests that arrive before a reset: one after the other may always be sent. */
const mostLooks = 200;

/** The longest time that a close waits for work in progress, in milliseconds. */
const settleMs = 2_000;

/** The reason that waiting requests are ended with. */
const undone = "The sandbox was restored meanwhile.";

/** A piece of work in progress. */
interface WorkUnderWay {
  what: string;
  /** Milliseconds of `performance.now()`. */
  since: number;
  left: PromiseWithResolvers<void>;
}

/** Runs requests concurrently, and each snapshot and restore alone. */
export class RequestGate implements Gate {
  readonly #timeoutMs: number;
  readonly #closedMs: number;
  readonly #inside = new Set<WorkUnderWay>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #exclusive = new Mutex();
  #closed: PromiseWithResolvers<void> | null = null;
  #epoch = new AbortController();
  #use = new AbortController();
  /** The number of runs that have arrived. */
  #arrived = 0;

  constructor({ timeoutMs, closedMs = defaultClosedMs }: GateTimes) {
    this.#timeoutMs = timeoutMs;
    this.#closedMs = closedMs;
  }

  get undone(): AbortSignal {
    return this.#epoch.signal;
  }

  get ended(): AbortSignal {
    return this.#use.signal;
  }

  /** Waits until the requests that were sent before have arrived; a connection is taken in one turn of the event loop, and read in the next. */
  async allArrive(): Promise<void> {
    for (let looks = 0; looks < mostLooks; looks += 1) {
      const before = this.#arrived;
      for (let turns = 0; turns < 3; turns += 1) await endOfTurn();
      if (before === this.#arrived) return;
    }
  }

  /** Runs work concurrently with other such work; waits while something runs exclusively. */
  async runShared<T>(what: string, work: (turn: GateTurn) => Promise<T>): Promise<T> {
    const running = this.#run(what, work);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #run<T>(what: string, work: (turn: GateTurn) => Promise<T>): Promise<T> {
    let entry = await this.#begin(what);
    const releaseGate: GateTurn["releaseGate"] = async (step) => {
      const { signal } = this.#epoch;
      this.#end(entry);
      const [result] = await Promise.allSettled([step(signal)]);
      entry = await this.#begin(what);
      if (signal.aborted) throw new UndoneError(undone);
      if (result.status === "rejected") throw result.reason;
      return result.value;
    };
    try {
      return await work({ releaseGate });
    } finally {
      this.#end(entry);
    }
  }

  /**
   * Runs work while nothing else runs. Waits first for the work in progress; new work continues meanwhile, until only new work is left,
   * which then waits.
   *
   * @throws SandboxError snapshot_timeout when something in progress does not end in time; the work is not run then.
   */
  async runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#timeoutMs;
    return await this.#exclusive.runExclusive(async () => {
      while (!(await this.#closeEmpty(deadline)))
        if (performance.now() >= deadline && this.#inside.size > 0) throw this.#timeout();
      try {
        return await work();
      } finally {
        this.#open();
      }
    });
  }

  /** Waits, for a while, until everything has ended that runs, inside or outside. @returns whether it has. */
  async settle(): Promise<boolean> {
    await this.allArrive();
    return await endsWithin(Promise.allSettled(this.#running), settleMs);
  }

  /**
   * Tells everything that waits outside that what it has read is no longer true; to be called within exclusive work.
   *
   * @param isReset - whether it must not run afterwards.
   */
  undo(isReset = false): void {
    if (isReset) {
      this.#use.abort(undone);
      this.#use = new AbortController();
    }
    // A reason of its own would be an exception with a stack, which costs a restore a tenth of its time.
    this.#epoch.abort(undone);
    this.#epoch = new AbortController();
  }

  /** @returns whether the gate is closed with nothing inside. */
  async #closeEmpty(deadline: number): Promise<boolean> {
    if (!(await this.#allLeave(deadline))) return false;
    this.#closed = Promise.withResolvers<void>();
    if (await this.#allLeave(Math.min(deadline, performance.now() + this.#closedMs))) return true;
    this.#open();
    return false;
  }

  #open(): void {
    const closed = this.#closed;
    this.#closed = null;
    closed?.resolve();
  }

  async #begin(what: string): Promise<WorkUnderWay> {
    this.#arrived += 1;
    while (this.#closed !== null) await this.#closed.promise;
    const entry = { what, since: performance.now(), left: Promise.withResolvers<void>() };
    this.#inside.add(entry);
    return entry;
  }

  #end(entry: WorkUnderWay): void {
    this.#inside.delete(entry);
    entry.left.resolve();
  }

  /** Waits for everything that is inside now. @returns false when it does not leave in time. */
  async #allLeave(deadline: number): Promise<boolean> {
    if (this.#inside.size === 0) return true;
    const left = Promise.all([...this.#inside].map((entry) => entry.left.promise));
    return await endsWithin(left, deadline - performance.now());
  }

  #timeout(): SandboxError {
    const [oldest, ...more] = [...this.#inside].toSorted((left, right) => left.since - right.since);
    const seconds = Math.floor((performance.now() - (oldest?.since ?? 0)) / 1_000);
    const what =
      more.length === 0
        ? `${oldest?.what} has been under way for ${seconds} s`
        : `${oldest?.what} and ${more.length} more have been under way for up to ${seconds} s`;
    return new SandboxError("snapshot_timeout", `Nothing was changed: ${what}. Let it end, then try again.`);
  }
}
