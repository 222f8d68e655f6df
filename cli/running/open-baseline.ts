import { existsSync } from "node:fs";
import type { ContractReport } from "../../check-contract/check-contract.ts";
import { compareGas, completeBaseline, parseBaseline } from "../../check-contract/gas-baseline.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { readInput } from "../../server/lib/file-kind.ts";
import { requireReportFile, writeReport } from "./write-report.ts";

/** The limits of a baseline: a contract has some twenty steps. */
const mostOfBaseline = { bytes: 2 ** 20, values: 100_000 };

/**
 * Opens the baseline of gas that a file keeps, or an empty one if there is no such file.
 *
 * @throws Error when the file is no baseline, or cannot be written.
 */
export async function openBaseline(file: string) {
  await requireReportFile(file);
  let baseline = existsSync(file) ? parseBaseline(await readText(file), file) : {};
  return {
    /** Compares a report, and writes the steps that the file does not have. */
    async compare(report: ContractReport): Promise<ContractReport> {
      const complete = completeBaseline(baseline, report);
      const text = `${JSON.stringify(complete, null, 2)}\n`;
      if (text !== `${JSON.stringify(baseline, null, 2)}\n`) await writeReport(file, text);
      baseline = complete;
      return compareGas(report, baseline);
    },
  };
}

async function readText(file: string): Promise<string> {
  const bytes = await readInput(file, mostOfBaseline).catch((cause: unknown) => {
    throw new Error(
      `The baseline ${file} cannot be read: ${describeFileError(cause)}. Delete it, and check-contract writes it again.`,
      { cause },
    );
  });
  return bytes.toString();
}
