import { messageOf } from "../../protocol/coded-error.ts";
import type { Scenario } from "../../sandbox/scenarios/scenario.ts";
import { redact } from "../../server/http/redact.ts";
import type { JunitCase } from "../../server/lib/render-junit.ts";

/** The result of a scenario that was played. */
interface Play {
  scenario: Scenario;
  /** The time of each step that matched, in milliseconds. */
  durations: readonly number[];
  /** The error that ended the play; null if everything matched. */
  error: unknown;
}

/** Returns one case for each step of a scenario and one for its end, without credentials. The steps after the first difference are skipped. */
export function reportPlay({ scenario, durations, error }: Play): { name: string; cases: JunitCase[] } {
  const { title, steps, end } = scenario;
  const group = redact(title);
  const names = steps.map((step, index) => `${index + 1}. ${step.title}`);
  if (end !== undefined || durations.length === steps.length) names.push("The end");
  const cases = names.map((name, index) => ({
    group,
    name: redact(name),
    failure: error !== null && index === durations.length ? redact(messageOf(error)) : null,
    duration_ms: Math.round(durations[index] ?? 0),
    skipped: error !== null && index > durations.length,
  }));
  return { name: group, cases };
}
