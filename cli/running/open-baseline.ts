import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ContractReport } from "../../check-contract/check-contract.ts";
import { compareGas, completeBaseline, parseBaseline } from "../../check-contract/gas-baseline.ts";
import { requireReportFile, writeReport } from "./write-report.ts";

/**
 * Opens the baseline of gas that a file keeps, or an empty one if there is no such file.
 *
 * @throws Error when the file is no baseline, or cannot be written.
 */
export async function openBaseline(file: string) {
  await requireReportFile(file);
  let baseline = existsSync(file) ? parseBaseline(await readFile(file, "utf8"), file) : {};
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
