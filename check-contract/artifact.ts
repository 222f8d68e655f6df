import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Hex, isHex } from "viem";
import { z } from "zod";
import { packageRoot } from "../sandbox/lib/package-root.ts";
import { describeFileError } from "../server/lib/describe-file-error.ts";

/** A compiled contract, as Hardhat and Foundry write it. */
export interface Artifact {
  contractName: string;
  /** The code that deploys it. */
  bytecode: Hex;
}

const bytes = z.custom<Hex>((value) => isHex(value) && value.length > 2, "is no complete bytecode");
const artifactSchema = z.union([
  z.object({ contractName: z.string(), bytecode: bytes }),
  // Foundry nests the code and leaves the name to the file.
  z.object({ bytecode: z.object({ object: bytes }) }),
]);

/**
 * Reads a compiled contract from a file of Hardhat or Foundry.
 *
 * @throws Error with a sentence that says what is wrong with the file.
 * @example await readArtifact("artifacts/contracts/MyRegistrar.sol/MyRegistrar.json")
 */
export async function readArtifact(file: string): Promise<Artifact> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Error(
      `The artifact ${file} cannot be read: ${describeFileError(cause)}. Compile the contract and name its JSON file.`,
      { cause },
    );
  });
  const parsed = artifactSchema.safeParse(parseJson(text, file));
  if (!parsed.success)
    throw new Error(
      `${file} is no artifact with complete bytecode (of an interface, or with unlinked libraries?); name that of the contract.`,
    );
  const name =
    file
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\.json$/, "") ?? file;
  return "contractName" in parsed.data
    ? parsed.data
    : { contractName: name, bytecode: parsed.data.bytecode.object };
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file} is not JSON; name the artifact that the compiler wrote.`, { cause });
  }
}

/** Reads an adversary of this package: a contract that attacks. */
export async function readAdversary(source: string, name = source): Promise<Artifact> {
  return await readArtifact(
    join(packageRoot(), "artifacts", "contracts", "adversaries", `${source}.sol`, `${name}.json`),
  );
}
