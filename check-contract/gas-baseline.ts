import { z } from "zod";
import type { CheckResult, ContractReport } from "./check-contract.ts";

/** The gas of the steps of each contract, as a file keeps it. */
const baselineSchema = z.record(z.string(), z.record(z.string(), z.int().positive()));

/** The gas of the steps of each contract. */
export type GasBaseline = z.infer<typeof baselineSchema>;

/** The suite of the checks of the gas. */
export const gasSuite = "gas";

/** A step may cost this much more, in percent. */
const tolerance = 1;

/**
 * Parses a baseline of gas.
 *
 * @throws Error when the text is not the JSON of one.
 * @example parseBaseline('{ "MyRegistrar": { "pay": 79518 } }', "gas.json")
 */
export function parseBaseline(text: string, file: string): GasBaseline {
  try {
    return baselineSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} is not a baseline of gas. Delete it, and check-contract writes it again.`, {
      cause,
    });
  }
}

/** Returns a baseline with the steps of a contract that it does not have yet. */
export function completeBaseline(baseline: GasBaseline, { contract, gas }: ContractReport): GasBaseline {
  const measured = Object.fromEntries(gas.map(({ function: name, gas: used }) => [name, used]));
  return { ...baseline, [contract]: { ...measured, ...baseline[contract] } };
}

/** Returns the report with one check for each step: it may cost 1 % more than in the baseline. */
export function compareGas(report: ContractReport, baseline: GasBaseline): ContractReport {
  const known = baseline[report.contract] ?? {};
  const gas = report.gas.map((row) => ({ ...row, baseline: known[row.function] ?? row.gas }));
  const results = gas.map(({ function: name, gas: used, baseline: before }): CheckResult => {
    const isMore = used * 100 > before * (100 + tolerance);
    const failure = isMore ? `${name} costs ${used} gas; the baseline is ${before}` : null;
    return { suite: gasSuite, name: `${name} costs at most ${tolerance} % more`, failure, duration_ms: 0 };
  });
  const findings = results.flatMap(({ suite, name, failure }) =>
    failure === null ? [] : [{ rule: name, failure, checks: [{ suite, name }] }],
  );
  return {
    ...report,
    passed: report.passed && findings.length === 0,
    results: [...report.results, ...results],
    findings: [...report.findings, ...findings],
    gas,
  };
}
