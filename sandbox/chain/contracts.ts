/** The contracts: ABIs, and what Hardhat compiled. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Abi, type Hex, isHex } from "viem";
import { z } from "zod";
import { howToRepair, packageRoot } from "../lib/package-root.ts";
import { GenesisError } from "./genesis/genesis-error.ts";

export { fundingSourceAbi, purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";

/** The contracts that a sandbox's chain starts with. */
export const contractNames = ["TestUSDC", "PurchaseRegistrar", "FundingSource"] as const;

/** The name of one of them. */
export type ContractName = (typeof contractNames)[number];

const code = z.custom<Hex>((value) => isHex(value) && value.length > 2, "is no complete bytecode");
const artifactSchema = z.object({
  contractName: z.string(),
  sourceName: z.string(),
  abi: z.custom<Abi>(Array.isArray),
  /** The creation code, without the constructor's arguments. */
  bytecode: code,
  /** The code on chain after the deployment, with immutables as zeros. */
  deployedBytecode: code,
});

/** A compiled contract. */
export type ContractArtifact = z.infer<typeof artifactSchema>;

/**
 * Returns the absolute path of a contract's artifact, which `check-contract --artifact` and other tools read.
 *
 * @example
 * contractArtifactFile("PurchaseRegistrar"); // "…/PurchaseRegistrar.sol/PurchaseRegistrar.json"
 */
export function contractArtifactFile(name: ContractName): string {
  return join(packageRoot(), "artifacts", "contracts", `${name}.sol`, `${name}.json`);
}

/**
 * Reads a compiled contract.
 *
 * @throws GenesisError `not_compiled` when the artifact is missing or broken.
 * @example
 * const { abi, bytecode } = await readContractArtifact("PurchaseRegistrar");
 */
export async function readContractArtifact(name: ContractName): Promise<ContractArtifact> {
  try {
    return artifactSchema.parse(JSON.parse(await readFile(contractArtifactFile(name), "utf8")));
  } catch (cause) {
    throw new GenesisError(
      "not_compiled",
      `The artifact ${contractArtifactFile(name)} is missing or broken; ${howToRepair()}.`,
      { cause },
    );
  }
}
