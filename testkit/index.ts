/** Exports the package: the sandbox, playing scenarios, and checking clients. */
import "../sandbox/lib/processes/require-node.ts";
// The sandbox's code is loaded with the first one, after a test may have faked the timers.
import "../sandbox/lib/time/timers.ts";

export * from "../sandbox/index.ts";
export type { CheckedCase, CheckProgress, ClientReport } from "./check-client/check-client.ts";
export { type ClientCheck, checkClient } from "./check-client.ts";
export {
  createExplorableSandbox as createSandbox,
  type ExplorableSandbox as Sandbox,
} from "./explore/explorable-sandbox.ts";
export { ExplorationError } from "./explore/exploration-error.ts";
export type { CheckedState, Exploration, ExploreOptions } from "./explore/options.ts";
export { playScenario } from "./scenario/play-scenario.ts";
export { ScenarioDifferenceError } from "./scenario/scenario-difference-error.ts";
