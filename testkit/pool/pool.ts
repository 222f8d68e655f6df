import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import { type ExplorableSandbox, openExplorable } from "../explore/explorable-sandbox.ts";
import type { Explorations } from "../explore/explorations.ts";
import { LeaseGuard } from "./lease-guard.ts";
import { leasedSandbox } from "./leased-sandbox.ts";

/** A sandbox that a test has for as long as it runs. */
export interface Lease {
  sandbox: ExplorableSandbox;
  /** Returns the error of a test that ends now and has not awaited all of its calls; null for one that has. */
  findForgotten: () => Promise<SandboxError | null>;
  /** Returns an error that names the given states that have not finished yet; null if there is none. */
  findUnfinished: () => { message: string; stack: string } | null;
  /** Ends the lease: from here on the sandbox refuses this test; resolves when the effects of its calls in progress have ended. */
  end: () => Promise<void>;
}

/** Leases sandboxes to tests, each reset before the next test. */
export interface Pool {
  /**
   * @param over - aborts when the test is over: it can time out while its sandbox starts, which the next test then waits for.
   * @throws SandboxError not_leased while another test has the only one; the reason of the signal.
   */
  lease(over?: AbortSignal): Promise<Lease>;
  close(): Promise<void>;
}

/** An open sandbox. */
interface Opened {
  sandbox: ExplorableSandbox;
  explorations: Explorations;
  /** Of the sandbox, also once it is closed. */
  skipWaitsDuring: ExplorableSandbox["skipWaitsDuring"];
}

interface Kept extends Opened {
  start: Snapshot;
}

/**
 * Leases one sandbox to one test after the other (`worker`), or each test its own (`test`).
 *
 * @example const pool = openPool({ seed: "checkout" }, "worker")
 */
export function openPool(options: SandboxOptions, scope: "worker" | "test"): Pool {
  if (scope === "test")
    return {
      async lease(over) {
        const opened = await openExplorable(options);
        if (over?.aborted === true) await opened.sandbox.close();
        over?.throwIfAborted();
        const { skipWaitsDuring, close } = opened.sandbox;
        const { end, ...lease } = leaseOf({ ...opened, skipWaitsDuring });
        return {
          ...lease,
          async end() {
            await end();
            await close();
          },
        };
      },
      async close() {},
    };
  let kept: Kept | null = null;
  let state: "free" | "leased" | "ending" = "free";
  let opening: Promise<Kept> | null = null;
  return {
    async lease(over) {
      while (opening !== null) await opening.catch(() => undefined);
      over?.throwIfAborted();
      if (state !== "free") throw notFree(state);
      state = "leased";
      try {
        opening = kept === null ? open(options) : resetOrReopen(kept, options);
        kept = await opening;
        over?.throwIfAborted();
      } catch (error) {
        if (over?.aborted !== true) kept = null;
        state = "free";
        throw error;
      } finally {
        opening = null;
      }
      const { end, ...lease } = leaseOf(kept);
      return {
        ...lease,
        async end() {
          state = "ending";
          await end();
          state = "free";
        },
      };
    },
    async close() {
      // A test that has timed out can have left one that starts.
      await opening?.catch(() => undefined);
      await kept?.sandbox.close();
    },
  };
}

/** Leases an open sandbox to one test. */
function leaseOf({ sandbox, explorations, skipWaitsDuring }: Opened): Lease {
  const guard = new LeaseGuard();
  return {
    sandbox: leasedSandbox(sandbox, explorations, guard),
    findForgotten: async () => await guard.findForgotten(),
    findUnfinished: () => guard.findUnfinished(),
    end: async () => await skipWaitsDuring(async () => await guard.end()),
  };
}

/** The error of a test that wants the only sandbox while another one has it, or has not let go of it. */
function notFree(state: "leased" | "ending"): SandboxError {
  return new SandboxError(
    "not_leased",
    state === "leased"
      ? 'Two tests use the sandbox of this worker at once. With test.concurrent of vitest, give each test its own: sandboxTest({ scope: "test" }). In node:test the hooks run for subtests, too: write those as tests of a suite.'
      : "The end of the test before is not finished, so its sandbox is not free. Await everything that a test begins, and pass the fixture's end to afterEach.",
  );
}

async function open(options: SandboxOptions): Promise<Kept> {
  const opened = await openExplorable(options);
  const { skipWaitsDuring } = opened.sandbox;
  return { ...opened, skipWaitsDuring, start: await opened.sandbox.snapshot() };
}

/** Resets a sandbox, or opens another one: a test may have closed it, ended its chain, or reorganized the block that it began with away. */
async function resetOrReopen(kept: Kept, options: SandboxOptions): Promise<Kept> {
  try {
    // A request that nothing tracks may be held.
    await kept.skipWaitsDuring(async () => await kept.start.reset());
    return kept;
  } catch {
    await kept.sandbox.close().catch(() => undefined);
    return await open(options);
  }
}
