import { type AbiParameter, encodeAbiParameters, type Hex } from "viem";
import { messageOf } from "../../../protocol/coded-error.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";

/**
 * Encodes arguments by their types. A number, a bool, an array or a struct may be text, as on the command line.
 *
 * @param option - the option that has them, as in `contracts.registrar.constructorArguments`.
 * @param whose - what takes them, as in `the constructor of MyRegistrar`.
 * @throws SandboxError registrar_unusable for other arguments than the types say.
 * @example encodeArguments([{ type: "uint256" }], ["5"], "contracts.registrar.constructorArguments", "the constructor of MyRegistrar")
 */
export function encodeArguments(
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
