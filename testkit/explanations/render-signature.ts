import type { TypedDataExplanation } from "../../sandbox/hosts/explain/signatures/signature-explanation.ts";
import { type Paint, paintIn, section, text } from "./paint.ts";

/**
 * An explanation of typed data and its signature, for a terminal.
 *
 * @param color - whether the terminal shows colors.
 * @example console.log(renderTypedDataExplanation(await sandbox.explain({ typed_data, signature }), false))
 */
export function renderTypedDataExplanation(explanation: TypedDataExplanation, color: boolean): string {
  const paint = paintIn(color);
  const { accepted, cause, domain_separator, struct_hash, digest } = explanation;
  return [
    paint(accepted ? "green" : "red", cause),
    comparedWith(explanation, explanation.primary_type),
    ...section("Mistakes", paint, explanation.mistakes.map(renderMistake)),
    ...section("Hashes", paint, [
      `domain separator  ${domain_separator}`,
      `struct hash       ${struct_hash}`,
      `digest            ${digest}`,
    ]),
    ...section("Signature", paint, renderSignature(explanation)),
    ...section("Members", paint, renderMembers(explanation, paint)),
    ...section("Answer now", paint, renderAnswers(explanation)),
  ].join("\n");
}

type Explained = Pick<
  TypedDataExplanation,
  "subject" | "simulated" | "mistakes" | "fields" | "answer" | "signer" | "expected_signer"
>;

function comparedWith({ subject, simulated }: Explained, type: string): string {
  const compared = subject === null ? "" : `, compared with the ${type} of ${subject}`;
  return `Simulated on block ${simulated.block_number} at ${simulated.at}${compared}`;
}

function renderMistake({ name, field, detail }: Explained["mistakes"][number]): string {
  return `${name} (${field}): ${detail}`;
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
  return fields.map(({ name, expected, actual, equal }) => {
    if (equal) return `${name.padEnd(width)}  ${text(actual)}`;
    const label = paint("red", name.padEnd(width));
    if (actual === null) return `${label}  absent, expected ${text(expected)}`;
    return `${label}  ${text(actual)}, expected ${expected === null ? "no such member" : text(expected)}`;
  });
}

function renderAnswers({ answer, call }: TypedDataExplanation): string[] {
  const service =
    answer === null
      ? []
      : [
          `${answer.request}: ${answer.status}${answer.code === null ? "" : ` ${answer.code}`}${answer.detail === null ? "" : `, ${answer.detail}`}`,
        ];
  if (call === null) return service;
  const failed = call.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  const checks = failed.length === 0 ? "" : ` Failed checks: ${failed.join(", ")}.`;
  return [
    ...service,
    `${call.call?.function ?? "call"} on ${call.call?.contract ?? "the contract"}: ${call.cause}${checks}`,
  ];
}
