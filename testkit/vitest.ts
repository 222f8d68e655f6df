import "../sandbox/lib/processes/require-node.ts";

import { test as base, expect, type MatcherState } from "vitest";
import { definedOnly } from "../sandbox/lib/defined-only.ts";
import { SandboxError } from "../sandbox/lib/errors/sandbox-error.ts";
import { loadRuntime } from "../sandbox/load-runtime.ts";
import type { SandboxOptions } from "../sandbox/options/options.ts";
import { type MatchedSandbox, type MatchResult, type SandboxMatchers, sandboxMatchers } from "./matchers.ts";
import type { Pool } from "./pool/pool.ts";
import { endTest } from "./traces/end-test.ts";
import { readVitestTest } from "./traces/runner-test.ts";
import { requireTraceOptions, type TraceOptions } from "./traces/trace-test.ts";
import { watchTest } from "./traces/watch-test.ts";

// Loaded with the file of the tests, so that the timeout of the first test does not include it.
await loadRuntime();
const { openPool } = await import("./pool/pool.ts");

// The interface of vitest for matchers has other type parameters in each of its versions; these two have none.
declare global {
  namespace Chai {
    interface Assertion extends SandboxMatchers {}
  }
}
declare module "vitest" {
  interface AsymmetricMatchersContaining extends SandboxMatchers {}
}

/** Options of `sandboxTest`. */
export interface SandboxTestOptions extends SandboxOptions, TraceOptions {
  /**
   * `worker` (default): one sandbox per worker, reset before each test, which takes milliseconds. `test`: a new sandbox for each test, which
   * `test.concurrent` requires.
   */
  scope?: "worker" | "test";
}

/**
 * Returns a vitest `test` with the fixture `sandbox`. Every test starts from the same state, even after a failed one.
 *
 * Calls that an earlier test has not awaited cannot affect a later test. Requests that you send with `fetch` are not tracked: await them
 * yourself.
 *
 * @throws SandboxError option_invalid for another scope.
 * @example
 * const test = sandboxTest({ seed: "checkout" });
 * test("pays", async ({ sandbox }) => { … });
 */
export function sandboxTest({ scope = "worker", trace, traceFolder, ...options }: SandboxTestOptions = {}) {
  requireScope(scope);
  const tracing = requireTraceOptions(definedOnly({ trace, traceFolder }));
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads what a fixture needs from this pattern, here nothing
      .extend("sandboxPool", { scope: "worker" }, async ({}, { onCleanup }): Promise<Pool> => {
        const pool = openPool(options, scope);
        onCleanup(async () => await pool.close());
        return pool;
      })
      .extend("sandbox", async ({ sandboxPool, task, signal }, { onCleanup }) => {
        const lease = await sandboxPool.lease(signal);
        const { sandbox } = lease;
        const watched = watchTest(sandbox, tracing, () => readVitestTest(task));
        onCleanup(async () => await endTest(lease, watched));
        leased.set(task, sandbox);
        // Without isolation the files of a worker share one set of matchers, in which another file may have put its own.
        expect.extend(matchers);
        return sandbox;
      })
  );
}

function requireScope(scope: string): void {
  if (scope === "worker" || scope === "test") return;
  throw new SandboxError("option_invalid", `scope is "worker" or "test", not ${JSON.stringify(scope)}.`);
}

/** The sandbox of each test that has one. */
const leased = new WeakMap<object, MatchedSandbox>();

const { toBeProblem, ...explaining } = sandboxMatchers<MatcherState>(({ task }) =>
  task === undefined ? undefined : leased.get(task),
);

const matchers = {
  toBeProblem,
  toBeAcceptedAs: recorded(explaining.toBeAcceptedAs),
  toBeRefusedBy: recorded(explaining.toBeRefusedBy),
  toHaveFingerprint: recorded(explaining.toHaveFingerprint),
};

expect.extend(matchers);

/** Makes the test wait for an assertion that is not awaited, and fail with it. */
function recorded<Args extends unknown[]>(
  matcher: (this: MatcherState, received: unknown, ...args: Args) => Promise<MatchResult>,
) {
  return function (this: MatcherState, received: unknown, ...args: Args): Promise<MatchResult> {
    const result = matcher.call(this, received, ...args);
    const { task } = this;
    if (task === undefined) return result;
    const then = result.then.bind(result);
    // Vitest makes the assertion's promise with this call.
    return Object.assign(result, {
      // biome-ignore lint/suspicious/noThenProperty: the promise that vitest makes of it is what has to be waited for
      then: (...handlers: Parameters<typeof then>) => record(task, then(...handlers)),
    });
  };
}

/** Adds an assertion to those that vitest waits for when the test's function has returned, until it has settled. */
function record<T>(task: NonNullable<MatcherState["task"]>, assertion: Promise<T>): Promise<T> {
  const waiting = task.promises ?? [];
  Reflect.set(task, "promises", waiting);
  const recording = assertion.finally(() => {
    waiting.splice(waiting.indexOf(recording), 1);
  });
  waiting.push(recording);
  return recording;
}
