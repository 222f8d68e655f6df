import { createHash } from "node:crypto";
import { anvilVersion } from "../anvil/anvil-binary.ts";
import { type ContractName, contractNames, readContractArtifact } from "../contracts.ts";
import {
  chainId,
  derivationPath,
  genesisRevision,
  genesisTimestamp,
  initialBalances,
  programBounds,
  programRoles,
  testMnemonic,
  tokenParameters,
  walletIndexes,
} from "./roles.ts";

/**
 * The key under which a genesis is cached, 64 hexadecimal digits: SHA-256 over the contracts' bytecode, the parameters of the
 * deployment and Anvil's version, so that any change of what the chain would be gives another one.
 *
 * @throws GenesisError `not_compiled` when an artifact is missing or broken.
 */
export async function genesisKey(): Promise<string> {
  // One after the other: of several that are missing, the first is always the one that is named.
  const artifacts = await Array.fromAsync(contractNames, readCode);
  const inputs = {
    anvil: anvilVersion(),
    artifacts,
    chainId,
    derivationPath,
    genesisRevision,
    genesisTimestamp,
    initialBalances,
    programBounds,
    programRoles,
    testMnemonic,
    tokenParameters,
    walletIndexes,
  };
  const text = JSON.stringify(inputs, (_, value: unknown) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
  return createHash("sha256").update(text).digest("hex");
}

// No other part of an artifact, and no other contract, changes the chain.
async function readCode(name: ContractName) {
  const { bytecode, deployedBytecode } = await readContractArtifact(name);
  return { bytecode, deployedBytecode };
}
