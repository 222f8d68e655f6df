import { styleText } from "node:util";
import { githubAnnotation } from "../server/lib/github-annotation.ts";
import { renderJunit } from "../server/lib/render-junit.ts";
import type { ContractReport } from "./check-contract.ts";
import type { Finding } from "./findings.ts";
import { gasSuite } from "./gas-baseline.ts";

/** The part of the documentation that lists what no check tries. */
export const notCheckedPage = "docs/check-contract.md#not-checked";

/** A report for a terminal: what failed and why, then gas compared with the sandbox's own registrar contract. */
export function renderReport(report: ContractReport, color: boolean): string {
  const paint = (style: "bold" | "red" | "green" | "dim", text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const failed = report.results.filter(({ failure }) => failure !== null).length;
  const broken = report.findings.length;
  const notRun = report.not_run === 0 ? "" : `, ${report.not_run} not run`;
  const lines = [
    `${paint("bold", report.contract)}: ${report.results.length - failed} passed, ${failed} failed${notRun}${broken === 0 ? "" : `; ${broken} broken ${broken === 1 ? "rule" : "rules"}`}`,
    ...report.findings.flatMap(({ rule, failure, checks }) => [
      "",
      `${paint("red", "✗")} ${rule}`,
      `    ${failure}`,
      ...describeChecks(checks).map((line) => `    ${paint("dim", line)}`),
    ]),
  ];
  if (report.gas.length > 0) {
    lines.push("", paint("bold", "Gas, whole transactions"));
    const width = Math.max(...report.gas.map(({ function: name }) => name.length));
    for (const { function: name, gas, ours, baseline } of report.gas) {
      const before =
        baseline === undefined ? "" : `  baseline ${String(baseline).padStart(8)}  ${percent(gas, baseline)}`;
      lines.push(
        `  ${name.padEnd(width)}  ${String(gas).padStart(8)}  ours ${String(ours).padStart(8)}  ${percent(gas, ours)}${before}`,
      );
    }
  }
  lines.push(
    "",
    paint("dim", `Not checked: see ${notCheckedPage} in the package.`),
    report.passed
      ? paint(report.left_out === 0 ? "green" : "bold", conclude(report))
      : paint("red", warn(report)),
    "",
  );
  return lines.join("\n");
}

/** Lists the checks that show a finding: the first in full, the number of others in each suite. */
function describeChecks([first, ...others]: Finding["checks"]): string[] {
  if (first === undefined) return [];
  const counts = [...Map.groupBy(others, ({ suite }) => suite.replace(/:.*/, ""))].map(
    ([suite, checks]) => `${checks.length} of the ${suite}`,
  );
  const rest = counts.length === 0 ? "" : `; also ${counts.join(", ")}`;
  return [`${first.suite}  ${first.name}${rest}`, ...describeOtherRules(others)];
}

/** Lists the other rules that the checks of a finding show, with the number of their checks. */
function describeOtherRules(checks: Finding["checks"]): string[] {
  const ruled = checks.flatMap(({ rule }) => rule ?? []);
  const joined = [...Map.groupBy(ruled, (rule) => rule)].map(
    ([rule, { length }]) => `${rule} (${length} ${length === 1 ? "check" : "checks"})`,
  );
  return joined.length === 0 ? [] : [`also broken, perhaps because of it: ${joined.join("; ")}`];
}

/** Returns a report as annotations of GitHub Actions: an error for each broken rule, and a notice with the gas. */
export function toAnnotations({ contract, findings, gas }: ContractReport): string {
  const errors = findings.map(({ rule, failure, checks }) =>
    githubAnnotation(
      "error",
      `${contract}: ${rule}`,
      [failure, ...describeOtherRules(checks.slice(1))].join("\n"),
    ),
  );
  const rows = gas.map(
    ({ function: name, gas: used, ours, baseline }) =>
      `${name} ${used}, ours ${ours}${baseline === undefined ? "" : `, baseline ${baseline} (${percent(used, baseline)})`}`,
  );
  const table = rows.length === 0 ? [] : [githubAnnotation("notice", `${contract}: gas`, rows.join("\n"))];
  return [...errors, ...table].map((line) => `${line}\n`).join("");
}

/** Says what the findings mean, as more gas makes a contract no less safe, and how many checks were left out. */
function warn({ findings, left_out: leftOut }: ContractReport): string {
  const isGas = findings.every(({ checks }) => checks.every(({ suite }) => suite === gasSuite));
  const others = leftOut === 0 ? "" : ` The other ${leftOut} checks did not run.`;
  return `${isGas ? "The contract costs more gas than the baseline." : "The contract is not safe to use."}${others}`;
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
