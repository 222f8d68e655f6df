/** The package: a sandbox, and what tests use on top of one. */
export * from "../sandbox/index.ts";
export { playScenario, ScenarioDifferenceError } from "./play-scenario.ts";
