import { hexToString, isHex } from "viem";
import { differingBytes } from "../../protocol/values/differing-bytes.ts";
import type {
  DecisionExplanation,
  TypedDataExplanation,
} from "../../sandbox/explain/signatures/signature-explanation.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import { asText, type Paint, paintIn, renderWord, section } from "./render-explanation.ts";

/**
 * An explanation of typed data and its signature, for a terminal.
 *
 * @param color - whether the terminal shows colors.
 */
export function renderTypedDataExplanation(explanation: TypedDataExplanation, color: boolean): string {
  const paint = paintIn(color);
  const { accepted, cause, domain_separator, struct_hash, digest } = explanation;
  return [
    paint(accepted ? "green" : "red", escapeControls(cause)),
    comparedWith(explanation, explanation.primary_type),
    ...section("Mistakes", paint, explanation.mistakes.map(renderMistake)),
    ...section("Hashes", paint, [
      `domain separator  ${domain_separator}`,
      `struct hash       ${struct_hash}`,
      `digest            ${digest}`,
    ]),
    ...section("Signature", paint, renderSignature(explanation)),
    ...section("Members", paint, renderMembers(explanation, paint)),
    ...section("Response now", paint, renderAnswers(explanation)),
  ].join("\n");
}

/**
 * An explanation of a decision and its signature, for a terminal.
 *
 * @param color - whether the terminal shows colors.
 */
export function renderDecisionExplanation(explanation: DecisionExplanation, color: boolean): string {
  const paint = paintIn(color);
  const { accepted, cause, decision_hash, decision_bytes, signature, expected_key_id } = explanation;
  const { given, canonical } = signature ?? {};
  return [
    paint(accepted ? "green" : "red", escapeControls(cause)),
    comparedWith(explanation, "decision"),
    ...section("Mistakes", paint, explanation.mistakes.map(renderMistake)),
    ...section("Signed", paint, [
      `decision hash   ${decision_hash}`,
      ...(expected_key_id === null ? [] : [`reviewer's key  ${expected_key_id}`]),
      ...(canonical == null || canonical === given ? [] : [`accepted form   ${canonical}`]),
      ...hexToString(decision_bytes).split("\n").map(escapeControls),
    ]),
    ...section("Members", paint, renderMembers(explanation, paint)),
    ...section("Response now", paint, renderAnswer(explanation)),
  ].join("\n");
}

type Explained = Pick<TypedDataExplanation, "subject" | "simulated" | "mistakes" | "fields" | "answer">;

function comparedWith({ subject, simulated }: Explained, type: string): string {
  const compared = subject === null ? "" : `, compared with the ${type} of ${subject}`;
  return `Simulated on block ${simulated.block_number} at ${simulated.at}${compared}`;
}

function renderMistake({ name, field, detail }: Explained["mistakes"][number]): string {
  return escapeControls(`${name} (${field}): ${detail}`);
}

function renderSignature({ signature, signer, expected_signer }: TypedDataExplanation): string[] {
  const expected = expected_signer === null ? "" : `${expected_signer.name} (${expected_signer.address})`;
  if (signature === null) return expected === "" ? [] : [`to be signed by  ${expected}`];
  const { given, canonical } = signature;
  const recovered =
    signer === null ? "none" : `${signer.address}${signer.name === null ? "" : ` (${signer.name})`}`;
  return [
    `recovered signer  ${recovered}`,
    ...(expected === "" ? [] : [`expected signer   ${expected}`]),
    ...(canonical === null || canonical === given ? [] : [`accepted form     ${canonical}`]),
  ];
}

function renderMembers({ fields }: Explained, paint: Paint): string[] {
  const width = Math.max(0, ...fields.map(({ name }) => name.length));
  const show = (value: unknown) => escapeControls(asText(value));
  const lines = fields.map(({ name, expected, actual, equal }) => {
    const label = escapeControls(name).padEnd(width);
    if (equal) return `${label}  ${show(actual)}`;
    if (actual === null) return `${paint("red", label)}  absent, expected ${show(expected)}`;
    const wanted = expected === null ? "no such member" : show(expected);
    return `${paint("red", label)}  ${show(actual)}, expected ${wanted}`;
  });
  return [...lines, ...fields.flatMap((field) => renderNear(field, paint))];
}

/** Marks the wrong bytes of a member that has most bytes of the expected one. */
function renderNear({ name, ...sides }: Explained["fields"][number], paint: Paint): string[] {
  const [expected, actual] = [sides.expected, sides.actual].map((side) =>
    typeof side === "string" && isHex(side) ? side.slice(2).toLowerCase() : "",
  ) as [string, string];
  const differing = differingBytes(expected, actual);
  return differing.length === 0 || differing.length * 4 >= expected.length
    ? []
    : renderWord({ offset: 0, field: escapeControls(name), expected, actual, differing }, paint);
}

function renderAnswer({ answer }: Explained): string[] {
  if (answer === null) return [];
  const { request, status, code, detail } = answer;
  const refused = `${code === null ? "" : ` ${code}`}${detail === null ? "" : `, ${detail}`}`;
  return [escapeControls(`${request}: ${status}${refused}`)];
}

function renderAnswers(explanation: TypedDataExplanation): string[] {
  const { call } = explanation;
  if (call === null) return renderAnswer(explanation);
  const failed = call.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  const checks = failed.length === 0 ? "" : ` Failed checks: ${failed.join(", ")}.`;
  const { function: name, contract } = call.call ?? { function: "call", contract: "the contract" };
  return [...renderAnswer(explanation), escapeControls(`${name} on ${contract}: ${call.cause}${checks}`)];
}
