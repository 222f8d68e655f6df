import { styleText } from "node:util";
import { formatUnits } from "viem";
import { usdcDecimals } from "../../protocol/values/amount.ts";
import { describeCheck } from "../../sandbox/client/describe-check.ts";
import type { CallExplanation, Explanation, Frame, StateChanges } from "../../sandbox/explain/explanation.ts";

/**
 * An explanation for a terminal.
 *
 * @param color - whether the terminal shows colors; differing bytes are marked by carets either way.
 */
export function renderExplanation(explanation: Explanation, color: boolean): string {
  const paint = paintIn(color);
  const { accepted, cause, revert } = explanation;
  return [
    ...(accepted ? [] : [cause, ...(revert?.meaning == null ? [] : [revert.meaning])]),
    renderVerdict(explanation, paint),
    ...renderSubmission(explanation),
    ...renderDetails(explanation, paint),
  ].join("\n");
}

/**
 * The part of an explanation that shows why a transaction is refused: the checks that failed, and where its call differs from the expected
 * one. The sentence of its cause is not in it.
 */
export function renderRefusal(explanation: Explanation): string {
  const paint = paintIn(false);
  const { call, checks } = explanation;
  const failed = checks.filter(({ ok }) => !ok).map((check) => renderCheck(check, paint));
  const differing = call === null ? null : { ...call, fields: call.fields.filter(({ equal }) => !equal) };
  return [
    renderVerdict(explanation, paint),
    ...renderSubmission(explanation),
    ...section("Failed checks", paint, failed),
    ...section(callTitle(explanation), paint, renderCall({ ...explanation, call: differing }, paint)),
  ].join("\n");
}

function renderVerdict({ accepted, step, subject, transaction_hash }: Explanation, paint: Paint): string {
  const verdict = accepted
    ? paint("green", `accepted as ${step} of ${subject}`)
    : paint("red", step === null ? "not accepted" : `not accepted as ${step} of ${subject}`);
  return `${paint("bold", transaction_hash)}  ${verdict}`;
}

/**
 * An explanation of a call that was not sent, for a terminal.
 *
 * @param color - as in {@link renderExplanation}.
 */
export function renderCallExplanation(explanation: CallExplanation, color: boolean): string {
  const paint = paintIn(color);
  const { accepted, step, subject, cause, simulated, not_checked } = explanation;
  const compared = step === null ? "" : `, compared with the ${step} of ${subject}`;
  return [
    paint(accepted ? "green" : "red", cause),
    `Simulated on block ${simulated.block_number} at ${simulated.at}${compared}`,
    `Not known before it is sent: ${not_checked.join(", ")}`,
    ...renderDetails(explanation, paint),
  ].join("\n");
}

/** The parts that explanations of transactions and of calls have in common. */
type Details = Omit<Explanation, "transaction_hash" | "transaction" | "submission">;

function renderDetails(explanation: Details, paint: Paint): string[] {
  const { changes } = explanation;
  return [
    ...section(
      "Checks",
      paint,
      explanation.checks.map((check) => renderCheck(check, paint)),
    ),
    ...section(callTitle(explanation), paint, renderCall(explanation, paint)),
    ...section("Logs", paint, explanation.logs.map(renderLog)),
    ...section("Calls", paint, [
      ...(explanation.trace === null ? [] : renderFrame(explanation.trace, paint)),
      ...(explanation.inner_calls_left_out
        ? ["The inner calls are left out: with so much gas, there may be too many."]
        : []),
    ]),
    ...section("Balances", paint, (changes?.balances ?? []).map(renderBalance)),
    ...section("Storage", paint, (changes?.storage ?? []).map(renderSlot)),
    ...section(
      "Compared with",
      paint,
      explanation.compared
        .slice(1)
        .map(
          ({ step: other, subject: of, failed }) => `${other} of ${of}: ${failed.join(", ") || "accepted"}`,
        ),
    ),
  ];
}

function renderBalance({
  asset,
  address,
  name,
  before,
  after,
  change,
}: StateChanges["balances"][number]): string {
  const of = name === null ? address : `${name} (${address})`;
  const sign = change.startsWith("-") ? "" : "+";
  if (asset === "ETH") return `${of}: ${sign}${change} wei, from ${before} to ${after}`;
  const units = (amount: string) => formatUnits(BigInt(amount), usdcDecimals);
  return `${of}: ${sign}${units(change)} ${asset} (${change}), from ${units(before)} to ${units(after)}`;
}

function renderSlot({ contract, name, slot, before, after }: StateChanges["storage"][number]): string {
  return `${contract}: ${name ?? slot} from ${asText(before)} to ${asText(after)}`;
}

function renderSubmission({ submission }: Explanation): string[] {
  if (submission === null) return [];
  const { request, step, subject, code, at, times } = submission;
  const often = times === 1 ? "" : `, ${times} times in a row`;
  return [`Refused with ${code} as ${step} of ${subject} at ${at}${often}: ${request}`];
}

function renderCheck(check: Explanation["checks"][number], paint: Paint): string {
  return check.ok ? `${paint("green", "✓")} ${check.name}` : `${paint("red", "✗")} ${describeCheck(check)}`;
}

function callTitle({ call }: Details): string {
  return call === null
    ? "Call"
    : `Call of ${call.function ?? "no known function"} on ${call.contract} (${call.to ?? "creation"})${expectedCall(call)}`;
}

function expectedCall(call: NonNullable<Explanation["call"]>): string {
  return call.function === call.expected_function && call.contract === call.expected_contract
    ? ""
    : `, expected ${call.expected_function} on ${call.expected_contract} (${call.expected_to})`;
}

function renderCall({ call }: Details, paint: Paint): string[] {
  if (call === null) return [];
  const width = Math.max(0, ...call.fields.map(({ name }) => name.length));
  const fields = call.fields.map((field) => renderField(field, call, width, paint));
  // The words of another function's arguments say nothing about those of the expected one.
  if (call.function !== call.expected_function) return fields;
  const words = call.words
    .filter(({ differing }) => differing.length > 0)
    .flatMap((word) => renderWord(word, paint));
  return [...fields, ...words];
}

type ExplainedCall = NonNullable<Explanation["call"]>;

function renderField(
  { name, expected, actual, equal }: ExplainedCall["fields"][number],
  { expected_function }: ExplainedCall,
  width: number,
  paint: Paint,
): string {
  if (equal) return `${name.padEnd(width)}  ${asText(actual)}`;
  const label = paint("red", name.padEnd(width));
  if (actual === null) return `${label}  absent, expected ${asText(expected)}`;
  if (expected === null) return `${label}  ${asText(actual)}, no argument of ${expected_function}`;
  return `${label}  ${asText(actual)}, expected ${asText(expected)}`;
}

/** Shows both sides of a part of calldata or of a member, with the bytes in which they differ marked. */
export function renderWord(
  { offset, field, expected, actual, differing }: ExplainedCall["words"][number],
  paint: Paint,
): string[] {
  const mark = (bytes: string) =>
    (bytes.match(/../g) ?? [])
      .map((byte, index) => (differing.includes(index) ? paint("inverse", byte) : byte))
      .join("");
  const length = Math.max(expected.length, actual.length) / 2;
  const carets = Array.from({ length }, (_, index) => (differing.includes(index) ? "^^" : "  ")).join("");
  const side = (bytes: string) => (bytes === "" ? "the end of the calldata" : mark(bytes));
  return [
    `byte ${offset + (differing[0] ?? 0)}${field === null ? "" : ` (in ${field})`}`,
    `  expected ${side(expected)}`,
    `  actual   ${side(actual)}`,
    ...(expected === "" || actual === "" ? [] : [`           ${carets.trimEnd()}`]),
  ];
}

function renderLog({ address, contract, event, fields }: Explanation["logs"][number]): string {
  return `${contract} (${address}): ${event ?? "no event of these contracts"} ${asText(fields)}`;
}

function renderFrame({ type, to, contract, call, failure, calls }: Frame, paint: Paint, depth = 0): string[] {
  const line = `${"  ".repeat(depth)}${type.toLowerCase()} ${contract} (${to ?? "created"}): ${call}`;
  const failed = failure === null ? "" : paint("red", `  ✗ ${failure}`);
  return [line + failed, ...calls.flatMap((inner) => renderFrame(inner, paint, depth + 1))];
}

/** Colors a text, or leaves it as it is. */
export type Paint = (style: "bold" | "dim" | "red" | "green" | "inverse", text: string) => string;

/** Returns what colors texts for a terminal, or leaves all of them as they are. */
export function paintIn(color: boolean): Paint {
  return (style, value) => (color ? styleText(style, value, { validateStream: false }) : value);
}

/** Returns the lines of a section below its title; none if it is empty. */
export function section(title: string, paint: Paint, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", paint("bold", title), ...lines.map((line) => `  ${line}`)];
}

/** Returns a value as a text. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
