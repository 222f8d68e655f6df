import "../sandbox/lib/processes/require-node.ts";
// Loaded with the file of the tests, so that the timeout of the first test does not include it.
import "../sandbox/create-sandbox.ts";

import { AbortController } from "../protocol/globals.ts";
import { definedOnly } from "../sandbox/lib/defined-only.ts";
import { SandboxError } from "../sandbox/lib/errors/sandbox-error.ts";
import type { SandboxOptions } from "../sandbox/options/options.ts";
import type { ExplorableSandbox } from "./explore/explorable-sandbox.ts";
import { type Lease, openPool } from "./pool/pool.ts";
import { endTest } from "./traces/end-test.ts";
import { readRunnerTest } from "./traces/runner-test.ts";
import { requireTraceOptions, type TraceOptions } from "./traces/trace-test.ts";
import { beforeSignals, type ReadTest, type WatchedTest, watchTest } from "./traces/watch-test.ts";

/** Options of `sandboxFixture`. */
export interface SandboxFixtureOptions extends SandboxOptions, TraceOptions {}

/** The sandbox of the current test, and the hooks that give each test the same state. */
export interface SandboxFixture {
  /** @throws SandboxError not_leased outside of a test. */
  readonly sandbox: ExplorableSandbox;
  /**
   * Resets the sandbox for a test. Pass it to `beforeEach`, so that the runner can pass the test to it.
   *
   * @throws SandboxError not_leased while another test has the sandbox.
   * @example beforeEach(fixture.begin)
   */
  begin(): Promise<void>;
  /**
   * Writes the trace of a failed test. Then refuses later calls of the test, and calls that have no answer yet; waits until these have no more
   * effects. Pass it to `afterEach`: mocha and node:test pass the failed test to it, and jest does with `routing-sandbox/jest-environment`.
   *
   * @throws SandboxError not_awaited when the test has passed, and has not awaited all of its calls.
   * @example afterEach(fixture.end)
   */
  end(): Promise<void>;
  /**
   * Closes the sandbox. Call it once, after all tests.
   *
   * @example after(fixture.close)
   */
  close(): Promise<void>;
}

/**
 * Returns the hooks of a sandbox for any test runner. Every test starts from the same state, even after a failed one, and calls that an
 * earlier test has not awaited cannot affect a later test.
 *
 * @example
 * const fixture = sandboxFixture({ seed: "checkout" });
 * beforeEach(fixture.begin);
 * afterEach(fixture.end);
 * after(fixture.close);
 * test("pays", async () => { const { given } = fixture.sandbox; … });
 */
export function sandboxFixture({
  trace,
  traceFolder,
  ...options
}: SandboxFixtureOptions = {}): SandboxFixture {
  const tracing = requireTraceOptions(definedOnly({ trace, traceFolder }));
  const pool = openPool(options, "worker");
  let current: { lease: Lease; test: WatchedTest; ignoreSignals: () => void } | null = null;
  let beginning = new AbortController();
  const end = async (read: ReadTest) => {
    // A runner ends a test whose begin() takes too long, too.
    beginning.abort(new SandboxError("not_leased", "The test ended while its sandbox started."));
    const ended = current;
    current = null;
    if (ended === null) return;
    ended.ignoreSignals();
    await endTest(ended.lease, ended.test, read);
  };
  return {
    get sandbox() {
      if (current === null)
        throw new SandboxError(
          "not_leased",
          "No test has the sandbox now. Call begin() of the fixture in beforeEach, and use its sandbox inside a test.",
        );
      return current.lease.sandbox;
    },
    begin: hook(async (read) => {
      beginning = new AbortController();
      const lease = await pool.lease(beginning.signal);
      const test = watchTest(lease.sandbox, tracing, read);
      current = { lease, test, ignoreSignals: beforeSignals(async (signal) => await test.interrupt(signal)) };
    }),
    end: hook(end),
    close: async () => {
      await end(() => null);
      await pool.close();
    },
  };
}

/** Makes a hook of any runner: mocha passes the test as `this`, other runners as an argument. */
function hook(step: (read: ReadTest) => Promise<void>): () => Promise<void> {
  // Without parameters: with one, mocha waits for a callback, and vitest expects the names of fixtures.
  return async function (this: unknown) {
    // biome-ignore lint/complexity/noArguments: see above
    const [context]: unknown[] = Array.from(arguments);
    await step(() => readRunnerTest(this, context));
  };
}
