/** Exports the package: the sandbox, and playing scenarios. */
export * from "../sandbox/index.ts";
export { playScenario, ScenarioDifferenceError } from "./play-scenario.ts";
