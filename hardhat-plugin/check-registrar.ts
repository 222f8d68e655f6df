import { HardhatPluginError } from "hardhat/plugins";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { Result } from "hardhat/types/utils";
import { errorResult, successfulResult } from "hardhat/utils/result";
import { type CheckOptions, type ContractReport, checkContract } from "../check-contract/check-contract.ts";
import { NodeFaultError } from "../check-contract/fixture/node-fault.ts";
import { renderReport } from "../check-contract/render-report.ts";
import { openBaseline } from "../cli/running/open-baseline.ts";
import { readArtifact } from "../sandbox/chain/registrar/artifact.ts";
import { definedOnly } from "../sandbox/lib/defined-only.ts";
import { SandboxError } from "../sandbox/lib/errors/sandbox-error.ts";
import { forTerminal } from "../server/lib/escape-controls.ts";

/** The arguments of the task. */
interface CheckRegistrarArguments {
  contract: string;
  only: string | undefined;
  bail: boolean;
  gasBaseline: string | undefined;
}

/**
 * Runs the task `check-registrar`: compiles the project, checks the contract, and prints the report.
 *
 * @returns the report, as an error if a check failed, so that Hardhat exits with code 1.
 * @throws HardhatPluginError when the contract has no bytecode, `only` matches no check, or the baseline of gas cannot be read or written.
 * @example await hre.tasks.getTask("check-registrar").run({ contract: "MyRegistrar" })
 */
export default async function checkRegistrar(
  { contract, only, bail, gasBaseline }: CheckRegistrarArguments,
  hre: HardhatRuntimeEnvironment,
): Promise<Result<ContractReport, ContractReport>> {
  await hre.tasks.getTask("build").run({ noTests: true, quiet: true });
  const file = await hre.artifacts.getArtifactPath(contract);
  const baseline =
    gasBaseline === undefined ? null : await openBaseline(gasBaseline).catch((error: Error) => refuse(error));
  const checked = await check(file, definedOnly({ only, bail }));
  const report = baseline === null ? checked : await baseline.compare(checked);
  console.log(forTerminal(renderReport(report, process.stdout.isTTY ?? false)));
  return report.passed ? successfulResult(report) : errorResult(report);
}

async function check(file: string, options: CheckOptions): Promise<ContractReport> {
  try {
    return await checkContract(await readArtifact(file), options);
  } catch (error) {
    if (error instanceof SandboxError || error instanceof NodeFaultError) refuse(error);
    throw error;
  }
}

/** Hardhat prints the message of a plugin's error alone, and that of any other error as a crash. */
function refuse(error: Error): never {
  throw new HardhatPluginError("routing-sandbox", error.message, error);
}
