import { CodedError } from "../../protocol/coded-error.ts";
import type { Scenario } from "../../sandbox/scenarios/scenario.ts";
import { mostCandidates } from "./shorten-sequence.ts";

/** Thrown by `sandbox.explore()` when the service, the chain or your `check` differs from what is documented. */
export class ExplorationError extends CodedError<"exploration_failed"> {
  override readonly name = "ExplorationError";
  /** The shortest sequence that was found, or all steps if they did not fail again; one title for each step, with its answer. */
  readonly sequence: readonly string[];
  /** The same sequence, for `writeScenario` and `playScenario`. */
  readonly scenario: Scenario;
  /** The seed of the walk that failed. */
  readonly seed: string;

  constructor(
    failure: {
      title: string;
      message: string;
      file: string | null;
      /** Why the file could not be written; null if it was. */
      unwritten: string | null;
      cause: unknown;
      /** Whether the caller's check failed, which the command line does not have. */
      isOfCheck: boolean;
      shortened: { isBounded: boolean } | null;
    },
    found: { sequence: readonly string[]; scenario: Scenario; seed: string },
  ) {
    const { title, message, file, unwritten, cause, isOfCheck, shortened } = failure;
    const { sequence, scenario, seed } = found;
    const play =
      file === null
        ? "Pass the option scenario to get this sequence as a file."
        : (unwritten ?? describePlay(file, isOfCheck));
    const list = sequence.map((step, index) => `  ${String(index + 1).padStart(3)}  ${step}`);
    super(
      "exploration_failed",
      `${title}: ${message} (seed ${JSON.stringify(seed)}). ${describe(shortened)}${play}\n\n${list.join("\n")}`,
      { cause },
    );
    this.sequence = sequence;
    this.scenario = scenario;
    this.seed = seed;
  }
}

/** Says how to play a scenario. */
function describePlay(file: string, isOfCheck: boolean): string {
  return isOfCheck
    ? `Play it with your check: await playScenario(await readScenario(${JSON.stringify(file)}), { check }). If your backend receives the events, add options: { receiverUrl } next to check.`
    : `Play it: routing-sandbox scenario play ${file}`;
}

/** Says why a sequence may not be the shortest; null if it did not fail again. */
function describe(shortened: { isBounded: boolean } | null): string {
  if (shortened === null)
    return "The same steps did not fail again, so the sequence is not shortened: your check, or something else that uses the sandbox, gives other results each time. ";
  return shortened.isBounded
    ? `Shortening ended after ${mostCandidates} candidates, so there may be a shorter sequence. `
    : "";
}
