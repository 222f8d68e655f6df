import { createHash } from "node:crypto";
import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  concatHex,
  encodeAbiParameters,
  type Hex,
  toFunctionSelector,
} from "viem";
import { z } from "zod";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { messageOf } from "../../../protocol/coded-error.ts";
import { knowErrors } from "../../../relayer/node/decode-revert.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { flagged, flags, listOf, objectOf, oneOf, text } from "../../lib/option-schemas.ts";
import { readArtifact } from "./artifact.ts";

/** The entries that OpenZeppelin's EIP712 adds to the sandbox's own registrar contract; the interface does not have them. */
const ofEip712 = ["eip712Domain", "EIP712DomainChanged", "InvalidShortString", "StringTooLong"];

/** The functions, events and errors that a registrar contract must have. */
const required = namedOf(purchaseRegistrarAbi).filter(({ name }) => !ofEip712.includes(name));

/** A function, an event or an error. */
type Named = Extract<Abi[number], { type: "function" | "event" | "error" }>;

/**
 * Compares an ABI with the interface `IPurchaseRegistrar`.
 *
 * @returns each missing or different function, event and error, by name; empty if there is none.
 * @example compareAbi(artifact.abi) // { missing: ["error ZeroValue()"], different: [] }
 */
export function compareAbi(abi: Abi): { missing: string[]; different: string[] } {
  const named = namedOf(abi);
  const missing: string[] = [];
  const different: string[] = [];
  for (const expected of required) {
    const wanted = describeEntry(expected);
    const found = named.filter(({ type, name }) => type === expected.type && name === expected.name);
    if (found.some((entry) => describeEntry(entry) === wanted)) continue;
    const [actual] = found;
    if (actual === undefined) missing.push(wanted);
    else different.push(`${describeEntry(actual)}, which must be ${wanted}`);
  }
  return { missing, different };
}

function namedOf(abi: Abi): Named[] {
  return abi.filter((entry) => entry.type === "function" || entry.type === "event" || entry.type === "error");
}

/** Returns an entry as Solidity declares it, without names of parameters. */
function describeEntry(entry: Named): string {
  if (entry.type === "function") return describeFunction(entry);
  if (entry.type === "event") return describeEvent(entry);
  return `error ${entry.name}(${typesOf(entry.inputs)})`;
}

function describeFunction({ name, inputs, outputs, stateMutability }: AbiFunction): string {
  const mutability = { pure: " view", view: " view", payable: " payable", nonpayable: "" }[stateMutability];
  const returned = outputs.length === 0 ? "" : ` returns (${typesOf(outputs)})`;
  return `function ${name}(${typesOf(inputs)})${mutability}${returned}`;
}

function describeEvent({ name, inputs, anonymous }: AbiEvent): string {
  const types = inputs.map((input) => `${typeOf(input)}${input.indexed ? " indexed" : ""}`);
  return `event ${name}(${types.join(",")})${anonymous ? " anonymous" : ""}`;
}

function typesOf(parameters: readonly AbiParameter[]): string {
  return parameters.map(typeOf).join(",");
}

function typeOf(parameter: AbiParameter): string {
  if (!("components" in parameter)) return parameter.type;
  return parameter.type.replace("tuple", `(${typesOf(parameter.components)})`);
}

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
 * Reads a registrar contract from its artifact, compares it with the interface, and has its errors decoded from then on.
 *
 * @throws SandboxError registrar_unusable when the artifact cannot be read, a function, event or error is missing or different, or the
 * arguments do not match; option_invalid when arguments of `initialize` are given without a proxy.
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
  knowErrors(abi);
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

/**
 * Encodes arguments by their types. A number, a bool, an array or a struct may be text, as on the command line.
 *
 * @param option - the option that has them, as in `contracts.registrar.constructorArguments`.
 * @param whose - what takes them, as in `the constructor of MyRegistrar`.
 * @throws SandboxError registrar_unusable for other arguments than the types say.
 */
function encodeArguments(
  inputs: readonly AbiParameter[],
  values: readonly unknown[],
  option: string,
  whose: string,
): Hex {
  const wanted = `(${inputs.map(({ type, name }) => `${type} ${name ?? ""}`.trim()).join(", ")})`;
  const refused = (cause?: unknown) =>
    new SandboxError(
      "registrar_unusable",
      `The option ${option} is ${showValue(values)}${cause === undefined ? "" : `: ${firstLine(cause)}`}. Pass the arguments of ${whose}: ${wanted}.`,
      { cause },
    );
  if (values.length !== inputs.length) throw refused();
  try {
    return encodeAbiParameters(
      inputs,
      inputs.map((input, index) => readArgument(input, values[index])),
    );
  } catch (cause) {
    throw refused(cause);
  }
}

/** Reads an argument that may be text: viem takes numbers as bigints, and arrays and structs as such. */
function readArgument(parameter: AbiParameter, value: unknown): unknown {
  const { type } = parameter;
  const isList = type.endsWith("]");
  const isStruct = type === "tuple";
  if (isList || isStruct) {
    const read: unknown = typeof value === "string" ? JSON.parse(value) : value;
    if (isList && Array.isArray(read)) {
      const entry = { ...parameter, type: type.slice(0, type.lastIndexOf("[")) };
      return read.map((one) => readArgument(entry, one));
    }
    return isStruct && "components" in parameter ? readStruct(parameter.components, read) : read;
  }
  if (typeof value !== "string") return value;
  if (/^u?int/.test(type)) return BigInt(value);
  if (type === "bool" && (value === "true" || value === "false")) return value === "true";
  return value;
}

function readStruct(components: readonly AbiParameter[], value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const fields = components.map((component, index) =>
    readArgument(component, Array.isArray(value) ? value[index] : Reflect.get(value, component.name ?? "")),
  );
  const names = components.map(({ name = "" }) => name);
  // viem takes a struct by the names of its fields, if all have one.
  return names.includes("") ? fields : Object.fromEntries(names.map((name, index) => [name, fields[index]]));
}

function firstLine(cause: unknown): string {
  return (messageOf(cause).split("\n")[0] ?? "").replace(/\.$/, "");
}
