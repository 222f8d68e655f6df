import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { loadRuntime } from "../../sandbox/load-runtime.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import type { Scenario, Step } from "../../sandbox/scenarios/scenario.ts";
import type { Check } from "../explore/options.ts";
import type { Differs, Player } from "./repeat/player.ts";
import { ScenarioDifferenceError } from "./scenario-difference-error.ts";

/** Options of `playScenario`. */
export interface PlayOptions {
  /** Called with each step after it matched the recording. */
  onStep?: (number: number, step: Step) => void;
  /** The `check` of an exploration, which is called after the last step; what it throws ends the play. */
  check?: Check;
  /** Further options of the temporary sandbox, such as `receiverUrl`. Options that the scenario names keep the scenario's values. */
  options?: SandboxOptions;
}

/**
 * Repeats a scenario on a temporary fresh sandbox, and compares every step and the final state.
 *
 * @throws ScenarioDifferenceError with the first step and field that differ.
 * @example await playScenario(await readScenario("scenarios/refund.yaml"))
 */
export async function playScenario(scenario: Scenario, play: PlayOptions = {}): Promise<void> {
  const { onStep, check, options = {} } = play;
  const { seed, programs, accounts = [], confirmations, gas_budget_wei } = scenario;
  const { createSandbox } = await loadRuntime();
  await using sandbox = await createSandbox({
    ...options,
    seed,
    programs,
    accounts,
    confirmations,
    gasBudgetWei: BigInt(gas_budget_wei),
  });
  const player = await playSteps(scenario, sandbox, onStep);
  await check?.({ purchases: await player.purchases(), step: scenario.steps.at(-1)?.title ?? "" });
  if (scenario.end === undefined) return;
  await player.compareEnd(scenario.end, (field, expected, actual) => {
    return new ScenarioDifferenceError({ step: null, title: "", field, expected, actual });
  });
}

/**
 * Repeats the steps of a scenario on a sandbox with the scenario's options, and compares each.
 *
 * @throws ScenarioDifferenceError with the first step and field that differ.
 */
export async function playSteps(
  scenario: Scenario,
  sandbox: Sandbox,
  onStep?: PlayOptions["onStep"],
): Promise<Player> {
  const { Player } = await import("./repeat/player.ts");
  const player = new Player(sandbox);
  for (const [index, step] of scenario.steps.entries()) {
    const differs: Differs = (field, expected, actual) =>
      new ScenarioDifferenceError({ step: index + 1, title: step.title, field, expected, actual });
    await player.play(index + 1, step, differs);
    onStep?.(index + 1, step);
  }
  return player;
}
