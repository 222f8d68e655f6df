import { type Command, Option } from "commander";
import type { CheckProgress, ContractReport } from "../../check-contract/check-contract.ts";
import { definedOnly } from "../../sandbox/lib/defined-only.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import { requireReportFile, writeReport } from "../running/write-report.ts";
import { addRequiredOption, jsonOption } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface CheckFlags {
  artifact: string[];
  only?: string;
  bail?: boolean;
  json?: boolean;
  junit?: string;
  gasBaseline?: string;
}

/** `routing-sandbox check-contract`: the lifecycle, the rules and every attack against a registrar contract of your own. */
export function checkContractCommand(terminal: Terminal): Command {
  const artifactOption = new Option(
    "--artifact <path...>",
    "one or more compiled contracts (JSON of Hardhat or Foundry)",
  );
  return addRequiredOption(newCommand(terminal, "check-contract"), artifactOption)
    .description("run the lifecycle, the rules and every attack against your registrar contract")
    .option("--only <text>", "run only the checks whose suite/name contains this text, such as rules/claim")
    .option("--bail", "stop at the first check that fails")
    .addOption(jsonOption("print the reports as JSON"))
    .option("--junit <file>", "write the reports as JUnit XML")
    .option(
      "--gas-baseline <file>",
      "fail if a step costs over 1 % more gas than in this file; writes the steps that it does not have",
    )
    .action(async ({ artifact: files, json, junit, only, bail, gasBaseline }: CheckFlags) => {
      if (junit !== undefined) await requireReportFile(junit);
      const { openBaseline } = await import("../running/open-baseline.ts");
      const baseline = gasBaseline === undefined ? null : await openBaseline(gasBaseline);
      const { readArtifact } = await import("../../sandbox/chain/registrar/artifact.ts");
      const { checkContract } = await import("../../check-contract/check-contract.ts");
      const { readReference } = await import("../../check-contract/reference.ts");
      const { renderReport, toAnnotations, toJunit } = await import("../../check-contract/render-report.ts");
      const artifacts = await Promise.all(files.map(readArtifact));
      terminal.stderr.write(`Checking ${artifacts.map(({ contractName }) => contractName).join(", ")}\n`);
      const reference = await readReference();
      const reports: ContractReport[] = [];
      const color = terminal.stdout.isTTY ?? false;
      for (const artifact of artifacts) {
        const checked = await checkContract(artifact, {
          reference,
          ...definedOnly({ only, bail }),
          progress: showProgress(terminal, artifact.contractName),
        });
        const report = baseline === null ? checked : await baseline.compare(checked);
        reports.push(report);
        if (!json) print(terminal, {}, report, renderReport(report, color));
        // GitHub reads the annotations of both streams; stdout may be JSON.
        if (process.env["GITHUB_ACTIONS"] === "true") terminal.stderr.write(toAnnotations(report));
      }
      if (json) terminal.stdout.write(`${JSON.stringify(reports)}\n`);
      if (junit !== undefined) await writeReport(junit, toJunit(reports));
      if (reports.some(({ passed }) => !passed)) terminal.exitCode = 1;
    });
}

/** Returns a function that shows the progress: on one line of a terminal, or else one line for each group of checks. */
function showProgress({ stderr }: Terminal, contract: string): CheckProgress {
  const groups = new Set<string>();
  return ({ suite }, done, total) => {
    if (stderr.isTTY) {
      stderr.write(
        done === total ? "\r\u001b[K" : `\r\u001b[KChecking ${escapeControls(contract)}: ${done} of ${total}`,
      );
      return;
    }
    const group = suite.replace(/:.*/, "");
    if (!groups.has(group)) stderr.write(`Checking ${escapeControls(contract)}: ${group}\n`);
    groups.add(group);
  };
}
