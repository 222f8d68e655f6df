import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isHex } from "viem";
import { z } from "zod";
import { anvilVersion } from "../anvil/anvil-binary.ts";
import { GenesisError } from "./genesis-error.ts";
import { packageRoot } from "./package-root.ts";
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

/** The contracts that the genesis deploys; no other one has a part in its key. */
const genesisContracts = ["TestUSDC", "PurchaseRegistrar", "FundingSource"] as const;

const artifact = z.object({ bytecode: z.custom<string>(isHex), deployedBytecode: z.custom<string>(isHex) });

/**
 * The key under which a genesis is cached, 64 hexadecimal digits: SHA-256 over the contracts' bytecode, the parameters of the
 * deployment and Anvil's version, so that any change of what the chain would be gives another one.
 *
 * @throws GenesisError `not_compiled` when an artifact is missing or broken.
 * @example
 * const key = await genesisKey();
 */
export async function genesisKey(): Promise<string> {
  const artifacts = await Promise.all(genesisContracts.map(readArtifact));
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

async function readArtifact(name: string) {
  const file = join(packageRoot(), "artifacts", "contracts", `${name}.sol`, `${name}.json`);
  try {
    return artifact.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    throw new GenesisError(
      "not_compiled",
      `The artifact of ${name} is missing or broken; run node scripts/setup.mjs.`,
      {
        cause,
      },
    );
  }
}
