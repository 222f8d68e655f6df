import { type Abi, type Hex, isHex } from "viem";
import { z } from "zod";
import { describeFileError } from "../../../server/lib/describe-file-error.ts";
import { readInput } from "../../../server/lib/file-kind.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";

/** The limits of an artifact: one with its syntax tree has a few MiB. */
const mostOfArtifact = { bytes: 16 * 2 ** 20, values: 2_000_000 };

/** A compiled contract, as Hardhat and Foundry write it. */
export interface Artifact {
  contractName: string;
  /** The code that deploys it. */
  bytecode: Hex;
  abi?: Abi;
}

const bytes = z.custom<Hex>((value) => isHex(value) && value.length > 2, "is no complete bytecode");
const abi = z.custom<Abi>(Array.isArray).optional();
const artifactSchema = z.union([
  z.object({ contractName: z.string(), bytecode: bytes, abi }),
  // Foundry nests the code and leaves the name to the file.
  z.object({ bytecode: z.object({ object: bytes }), abi }),
]);

/** The places of libraries in the code, by source file and library. */
const linkReferences = z.record(z.string(), z.record(z.string(), z.unknown()));
const linkedSchema = z.union([
  z.object({ linkReferences }),
  z.object({ bytecode: z.object({ linkReferences }) }),
]);

/**
 * Reads a compiled contract from a file of Hardhat or Foundry.
 *
 * @throws SandboxError registrar_unusable with a sentence that says what is wrong with the file.
 */
export async function readArtifact(file: string): Promise<Artifact> {
  const bytes = await readInput(file, mostOfArtifact).catch((cause: unknown) => {
    throw unusable(
      `The artifact ${file} cannot be read: ${describeFileError(cause)}. Compile the contract and name its JSON file.`,
      cause,
    );
  });
  const content = parseJson(bytes.toString(), file);
  const { data } = artifactSchema.safeParse(content);
  if (data === undefined) throw unusable(describeIncomplete(file, content));
  const name =
    file
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\.json$/, "") ?? file;
  const known = data.abi === undefined ? {} : { abi: data.abi };
  return "contractName" in data
    ? { contractName: data.contractName, bytecode: data.bytecode, ...known }
    : { contractName: name, bytecode: data.bytecode.object, ...known };
}

function describeIncomplete(file: string, content: unknown): string {
  const { data } = linkedSchema.safeParse(content);
  const references =
    data === undefined ? {} : "bytecode" in data ? data.bytecode.linkReferences : data.linkReferences;
  const libraries = Object.entries(references).flatMap(([source, named]) =>
    Object.keys(named).map((library) => `${library} (${source})`),
  );
  if (libraries.length === 0)
    return `${file} has no complete bytecode: it is the artifact of an interface, or has unlinked libraries. Name the artifact of your contract.`;
  return `${file} has unlinked libraries: ${libraries.join(", ")}. Make the libraries' functions internal, or link the libraries before you compile the artifact.`;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unusable(`${file} is not JSON. Name the artifact that the compiler wrote.`, cause);
  }
}

function unusable(message: string, cause?: unknown): SandboxError {
  return new SandboxError("registrar_unusable", message, { cause });
}
