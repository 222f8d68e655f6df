import { CodedError } from "../../protocol/coded-error.ts";
import { redact } from "../../server/http/redact.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";

/** Thrown when a played scenario differs from the recorded one. */
export class ScenarioDifferenceError extends CodedError<"scenario_differs"> {
  override readonly name = "ScenarioDifferenceError";
  /** The number of the first step that differs, from 1; null when only the end does. */
  readonly step: number | null;
  /** The first field that differs, as in `answer.body.status`. */
  readonly field: string;

  constructor(difference: {
    step: number | null;
    title: string;
    field: string;
    expected: unknown;
    actual: unknown;
  }) {
    const { step, title, field, expected, actual } = difference;
    const where = step === null ? "The end" : `Step ${step} (${title})`;
    super(
      "scenario_differs",
      // On one line: titles, names and values are those of the file.
      escapeControls(
        redact(`${where} differs in ${field}: expected ${show(expected)}, got ${show(actual)}.`),
      ),
    );
    this.step = step;
    this.field = field;
  }
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
}
