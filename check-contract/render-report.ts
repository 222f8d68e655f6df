import { styleText } from "node:util";
import { renderJunit } from "../server/lib/render-junit.ts";
import type { ContractReport } from "./check-contract.ts";

/** Contracts, calls and rules that no check tries. */
export const notChecked = [
  "functions that the interface does not declare",
  "who can upgrade or destroy the contract",
  "the arguments of the constructor",
  "tokens other than the test USDC and a token that calls the contract during its transfer",
  "amounts, hashes, times, addresses and numbers of calls that no check uses",
  "other orders of the calls that lead to a state",
  "rules that depend on the states of several purchases, merchants or programs at the same time, or on two changes of one program",
  "in other states than the first: calls from inside a token's transfer, signatures that contracts check, and calldata that is not canonical",
  "a wallet with several roles, but for a buyer that is its own beneficiary",
  "calls that break several rules, and calls that wallets with code make and that must revert",
  "contracts that change state when they check a signature, and calls by accounts that run the code of a contract (EIP-7702)",
] as const;

/** A report for a terminal: what failed and why, then gas compared with the sandbox's own registrar contract. */
export function renderReport(report: ContractReport, color: boolean): string {
  const paint = (style: "bold" | "red" | "green" | "dim", text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const failed = report.results.filter(({ failure }) => failure !== null);
  const notRun = report.not_run === 0 ? "" : `, ${report.not_run} not run`;
  const lines = [
    `${paint("bold", report.contract)}: ${report.results.length - failed.length} passed, ${failed.length} failed${notRun}`,
    ...failed.flatMap(({ suite, name, failure }) => [
      "",
      `${paint("red", "✗")} ${paint("dim", suite)}  ${name}`,
      `    ${failure}`,
    ]),
  ];
  if (report.gas.length > 0) {
    lines.push("", paint("bold", "Gas, whole transactions"));
    const width = Math.max(...report.gas.map(({ function: name }) => name.length));
    for (const { function: name, gas, ours } of report.gas)
      lines.push(
        `  ${name.padEnd(width)}  ${String(gas).padStart(8)}  ours ${String(ours).padStart(8)}  ${percent(gas, ours)}`,
      );
  }
  lines.push(
    "",
    paint("dim", `Not checked: ${notChecked.join("; ")}.`),
    report.passed
      ? paint(report.left_out === 0 ? "green" : "bold", conclude(report))
      : paint("red", "The contract is not safe to use."),
    "",
  );
  return lines.join("\n");
}

/** Says how many checks have passed, and how many others were left out. */
function conclude({ results, left_out: leftOut }: ContractReport): string {
  const ran = results.length;
  return leftOut === 0
    ? `All ${ran} checks passed.`
    : `${ran} checks ran and passed. The other ${leftOut} checks did not run, so the contract may still break a rule.`;
}

function percent(gas: number, ours: number): string {
  if (ours === 0) return "";
  const change = ((gas - ours) / ours) * 100;
  return `${change < 0 ? "" : "+"}${change.toFixed(1)} %`;
}

/** Reports as JUnit XML, one suite for each contract. */
export function toJunit(reports: readonly ContractReport[]): string {
  return renderJunit(
    reports.map(({ contract, results }) => ({
      name: contract,
      cases: results.map(({ suite, ...rest }) => ({ group: `${contract}.${suite}`, ...rest })),
    })),
  );
}
