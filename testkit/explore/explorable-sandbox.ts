import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { loadRuntime } from "../../sandbox/load-runtime.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import { Explorations, refuseWhileExplored } from "./explorations.ts";
import type { Exploration, ExploreOptions } from "./options.ts";

/** A running sandbox: chain, relayer, API and documentation, with one clock, one snapshot and one data directory. */
export interface ExplorableSandbox extends Sandbox {
  /**
   * Takes random legal and illegal steps of many purchases, with faults, and compares every answer, the records, the chain and the outbox
   * with a model of the documentation. With `check`, you compare your own backend after each step. The sandbox must be fresh, and is fresh
   * again afterwards. Equal seeds give equal walks. While it is explored, the sandbox refuses what could change it.
   *
   * @param options - number and length of the walks, and their seed; by default the sandbox's.
   * @throws ExplorationError with the shortest sequence that fails; SandboxError argument_invalid for options, scenario_refused when the
   * sandbox is live or not fresh, being_explored when it is explored already, closed when it is closed meanwhile.
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
export async function createExplorableSandbox(options: SandboxOptions = {}): Promise<ExplorableSandbox> {
  return (await openExplorable(options)).sandbox;
}

/** Starts a sandbox and returns it with its explorations, which a lease ends. */
export async function openExplorable(
  options: SandboxOptions,
): Promise<{ sandbox: ExplorableSandbox; explorations: Explorations }> {
  const { createSandbox } = await loadRuntime();
  const started = await createSandbox(options);
  const explorations = new Explorations(started);
  const { close: closeStarted } = started;
  const close = async () => {
    explorations.close();
    await closeStarted();
  };
  const sandbox = Object.assign(started, {
    explore: async (exploring?: ExploreOptions) => await explorations.run(exploring),
    close,
    [Symbol.asyncDispose]: close,
  });
  return { sandbox: refuseWhileExplored(sandbox, explorations), explorations };
}
