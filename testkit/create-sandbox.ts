import * as runtime from "../sandbox/create-sandbox.ts";
import type { SandboxOptions } from "../sandbox/options/options.ts";
import type { Exploration } from "./explore/explore.ts";
import type { ExploreOptions } from "./explore/options.ts";

/** A running sandbox: chain, relayer, API and documentation, with one clock, one snapshot and one data directory. */
export interface Sandbox extends runtime.Sandbox {
  /**
   * Takes random legal and illegal steps of many purchases, with faults, and compares every answer, the records, the chain and the outbox with
   * a model of the documentation. With `check`, you compare your own backend after each step. The sandbox must be fresh, and is so again
   * afterwards. Equal seeds give equal walks.
   *
   * @param options - number and length of the walks, and their seed; by default the sandbox's.
   * @throws ExplorationError with the shortest sequence that fails; SandboxError argument_invalid for options, scenario_refused when the sandbox is
   * live or not fresh.
   * @example await sandbox.explore({ steps: 2_000, seed: "nightly", scenario: "failing.yaml" })
   */
  explore(options?: ExploreOptions): Promise<Exploration>;
}

/**
 * Starts a sandbox on 127.0.0.1 and returns it when all its hosts answer.
 *
 * A start that takes longer than `startTimeoutMs` fails with `start_timeout` and leaves no process, port, lock or folder.
 *
 * @throws SandboxError, AnvilError, GenesisError, StoreDamagedError, StoreUnavailableError, DatabaseUrlError: each with a `code`, and the remedy
 * in its message.
 * @example
 * await using sandbox = await createSandbox({ seed: "checkout" });
 * await fetch(`${sandbox.description.urls.api}/v1/routing/capabilities`);
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await runtime.createSandbox(options);
  return Object.assign(sandbox, {
    // Loaded only here: most sandboxes are not explored.
    explore: async (exploring?: ExploreOptions) =>
      await (await import("./explore/explore.ts")).explore(sandbox, exploring),
  });
}
