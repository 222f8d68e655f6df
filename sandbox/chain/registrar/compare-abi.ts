import type { Abi, AbiEvent, AbiFunction, AbiParameter } from "viem";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";

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
