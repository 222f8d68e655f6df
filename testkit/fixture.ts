import "../sandbox/lib/processes/require-node.ts";

import { SandboxError } from "../sandbox/lib/errors/sandbox-error.ts";
import type { SandboxOptions } from "../sandbox/options/options.ts";
import type { ExplorableSandbox } from "./explore/explorable-sandbox.ts";
import { type Lease, openPool } from "./pool/pool.ts";

/** The sandbox of the current test, and the hooks that give each test the same state. */
export interface SandboxFixture {
  /** @throws SandboxError not_leased outside of a test. */
  readonly sandbox: ExplorableSandbox;
  /**
   * Resets the sandbox for a test. Call it in `beforeEach`.
   *
   * @throws SandboxError not_leased while another test has the sandbox.
   * @example beforeEach(fixture.begin)
   */
  begin(): Promise<void>;
  /**
   * Refuses later calls of the test, and calls that have no answer yet; waits until these have no more effects. Call it in `afterEach`.
   *
   * @example afterEach(fixture.end)
   *
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
 *
 */
export function sandboxFixture(options: SandboxOptions = {}): SandboxFixture {
  const pool = openPool(options, "worker");
  let lease: Lease | null = null;
  const end = async () => {
    const ended = lease;
    lease = null;
    await ended?.end();
  };
  return {
    get sandbox() {
      if (lease === null)
        throw new SandboxError(
          "not_leased",
          "No test has the sandbox now. Call begin() of the fixture in beforeEach, and use its sandbox inside a test.",
        );
      return lease.sandbox;
    },
    // Runners pass arguments to hooks, or wait for a callback where a hook has parameters.
    begin: async () => {
      lease = await pool.lease();
    },
    end,
    close: async () => {
      await end();
      await pool.close();
    },
  };
}
