import { HardhatPluginError } from "hardhat/plugins";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { Result } from "hardhat/types/utils";
import { errorResult, successfulResult } from "hardhat/utils/result";
import { type CheckOptions, type ContractReport, checkContract } from "../check-contract/check-contract.ts";
import { NodeFaultError } from "../check-contract/fixture/node-fault.ts";
import { renderReport } from "../check-contract/render-report.ts";
import { readArtifact } from "../sandbox/chain/registrar/artifact.ts";
import { definedOnly } from "../sandbox/lib/defined-only.ts";
import { SandboxError } from "../sandbox/lib/errors/sandbox-error.ts";
import { forTerminal } from "../server/lib/escape-controls.ts";

/** The arguments of the task. */
interface CheckRegistrarArguments {
  contract: string;
  only: string | undefined;
  bail: boolean;
}

/**
 * Runs the task `check-registrar`: compiles the project, checks the contract, and prints the report.
 *
 * @returns the report, as an error if a check failed, so that Hardhat exits with code 1.
 * @throws HardhatPluginError when the contract has no bytecode, or `only` matches no check.
 * @example await hre.tasks.getTask("check-registrar").run({ contract: "MyRegistrar" })
 */
export default async function checkRegistrar(
  { contract, only, bail }: CheckRegistrarArguments,
  hre: HardhatRuntimeEnvironment,
): Promise<Result<ContractReport, ContractReport>> {
  await hre.tasks.getTask("build").run({ noTests: true, quiet: true });
  const file = await hre.artifacts.getArtifactPath(contract);
  const report = await check(file, definedOnly({ only, bail }));
  console.log(forTerminal(renderReport(report, process.stdout.isTTY ?? false)));
  return report.passed ? successfulResult(report) : errorResult(report);
}

/** Hardhat prints the message of a plugin's error alone, and that of any other error as a crash. */
async function check(file: string, options: CheckOptions): Promise<ContractReport> {
  try {
    return await checkContract(await readArtifact(file), options);
  } catch (error) {
    if (error instanceof SandboxError || error instanceof NodeFaultError)
      throw new HardhatPluginError("routing-sandbox", error.message, error);
    throw error;
  }
}
