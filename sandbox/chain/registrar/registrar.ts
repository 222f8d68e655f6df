import { createHash } from "node:crypto";
import { type Abi, type AbiParameter, concatHex, type Hex, toFunctionSelector } from "viem";
import { z } from "zod";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { flagged, flags, listOf, objectOf, oneOf, text } from "../../lib/option-schemas.ts";
import { readArtifact } from "./artifact.ts";
import { compareAbi } from "./compare-abi.ts";
import { encodeArguments } from "./encode-arguments.ts";

/** The proxies that a registrar contract can be behind. */
export const proxyKinds = ["uups", "transparent"] as const;

/** One of {@link proxyKinds}. */
export type ProxyKind = (typeof proxyKinds)[number];

/** Your own registrar contract, which a sandbox runs on. */
export interface RegistrarOption {
  /** The path of the compiled contract: JSON of Hardhat 3 or Foundry, such as `out/MyRegistrar.sol/MyRegistrar.json`. */
  artifact: string;
  /** The arguments of its constructor; numbers may be bigints or decimal strings. */
  constructorArguments?: readonly unknown[] | undefined;
  /** Deploys it as the implementation of an ERC-1967 proxy, and calls `initialize` through the proxy if the contract has that function. */
  proxy?: ProxyKind | undefined;
  /** The arguments of `initialize`, with `proxy`. */
  initializeArguments?: readonly unknown[] | undefined;
}

/** The check and the flags of the option `contracts.registrar`. */
export const registrarOption = objectOf('such as { artifact: "out/MyRegistrar.sol/MyRegistrar.json" }', {
  artifact: text().register(flags, {
    flag: "--registrar <artifact>",
    description: "use your own registrar contract: the path of its artifact (JSON of Hardhat or Foundry)",
    byDefault: "the sandbox's own contract",
  }),
  constructorArguments: flagged(
    listOf(z.unknown()),
    "--registrar-arguments <value...>",
    "with --registrar, the arguments of the constructor; arrays and structs as JSON",
  ),
  proxy: flagged(
    oneOf(proxyKinds, `one of ${proxyKinds.join(", ")}`),
    "--registrar-proxy <kind>",
    "with --registrar, deploy the contract behind a proxy, which calls initialize if the contract has it",
  ),
  initializeArguments: flagged(
    listOf(z.unknown()),
    "--registrar-initialize <value...>",
    "with --registrar-proxy, the arguments of initialize",
  ),
}) satisfies z.ZodType<RegistrarOption>;

/** Which registrar contract a sandbox was made with. */
export const registrarIdentity = z.object({
  /** The contract's name in its artifact. */
  name: z.string(),
  /** SHA-256 over name, code, arguments and proxy, in hex. */
  digest: z.string(),
});

/** The parsed form of {@link registrarIdentity}. */
export type RegistrarIdentity = z.infer<typeof registrarIdentity>;

/** A registrar contract that can be deployed. */
export interface Registrar extends RegistrarIdentity {
  readonly abi: Abi;
  /** The code that creates it, with the constructor's arguments. */
  readonly creation: Hex;
  /** The proxy that it is the implementation of; null for none. */
  readonly proxy: {
    readonly kind: ProxyKind /** The call of `initialize`, or 0x. */;
    readonly initialize: Hex;
  } | null;
}

/**
 * Reads a registrar contract from its artifact, and compares it with the interface.
 *
 * @throws SandboxError registrar_unusable when the artifact cannot be read, a function, event or error is missing or different, or the
 * arguments do not match; option_invalid when arguments of `initialize` are given without a proxy.
 * @example await readRegistrar({ artifact: "out/MyRegistrar.sol/MyRegistrar.json", proxy: "uups" })
 */
export async function readRegistrar(option: RegistrarOption): Promise<Registrar> {
  const { artifact: file, constructorArguments = [], proxy: kind } = option;
  const { contractName: name, bytecode, abi } = await readArtifact(file);
  if (abi === undefined)
    throw new SandboxError(
      "registrar_unusable",
      `${file} has no abi. Name the artifact that the compiler wrote.`,
    );
  requireInterface(name, abi);
  const inputs = abi.find((entry) => entry.type === "constructor")?.inputs ?? [];
  const encoded = encodeArguments(
    inputs,
    constructorArguments,
    "contracts.registrar.constructorArguments",
    `the constructor of ${name}`,
  );
  const creation = concatHex([bytecode, encoded]);
  const proxy = kind === undefined ? null : { kind, initialize: encodeInitialize(name, abi, option) };
  if (proxy === null && option.initializeArguments !== undefined)
    throw new SandboxError(
      "option_invalid",
      "The option contracts.registrar.initializeArguments is only for a proxy, and the option contracts.registrar.proxy is missing. Pass a proxy, or pass the arguments to the constructor with the option contracts.registrar.constructorArguments.",
    );
  const digest = createHash("sha256").update(JSON.stringify({ name, creation, proxy })).digest("hex");
  return { name, digest, abi, creation, proxy };
}

function requireInterface(name: string, abi: Abi): void {
  const { missing, different } = compareAbi(abi);
  if (missing.length + different.length === 0) return;
  const listed = [
    ...(missing.length === 0 ? [] : [`Missing: ${missing.join("; ")}.`]),
    ...(different.length === 0 ? [] : [`Different: ${different.join("; ")}.`]),
  ];
  throw new SandboxError(
    "registrar_unusable",
    `${name} does not have the interface IPurchaseRegistrar. ${listed.join(" ")} Implement contracts/interfaces/IPurchaseRegistrar.sol of routing-sandbox, and compile again.`,
  );
}

/** The call of `initialize` by the proxy's constructor, or no call if the contract has no such function. */
function encodeInitialize(name: string, abi: Abi, { initializeArguments = [] }: RegistrarOption): Hex {
  const option = "contracts.registrar.initializeArguments";
  const candidates = abi
    .filter((entry) => entry.type === "function")
    .filter((entry) => entry.name === "initialize");
  const initialize =
    candidates.find(({ inputs }) => inputs.length === initializeArguments.length) ?? candidates[0];
  if (initialize === undefined) {
    if (initializeArguments.length === 0) return "0x";
    throw new SandboxError(
      "registrar_unusable",
      `${name} has no function initialize. Leave out the option ${option}.`,
    );
  }
  const inputs: readonly AbiParameter[] = initialize.inputs;
  const encoded = encodeArguments(inputs, initializeArguments, option, `the function initialize of ${name}`);
  return concatHex([toFunctionSelector(initialize), encoded]);
}
