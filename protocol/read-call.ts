import { type Abi, type AbiParameter, type Hex, isHex } from "viem";
import { type DecodedCall, decodeCall, functionOf } from "./call.ts";

/** Zeros after calldata that was cut off, in bytes: more than the arguments of a call that a person sends. */
const missingBytes = 4_096;
const word = 64;

/**
 * Decodes calldata as far as it can be read, to say what it was meant to be: bytes that are missing are read as zeros, and bits that the type
 * of an argument does not have are left out. Calldata that only decodes so is not canonical.
 *
 * @returns null when no function of the ABI has this selector.
 * @example readCall(purchaseRegistrarAbi, truncated)?.function // "payWithPermit"
 */
export function readCall(abi: Abi, data: Hex): DecodedCall | null {
  const decoded = decodeCall(abi, data);
  const item = isHex(data) ? functionOf(abi, data) : undefined;
  if (decoded !== null || item === undefined) return decoded;
  const given = data.slice(10) + "00".repeat(missingBytes);
  let head = "";
  for (const type of headTypes(item.inputs))
    head += withinType(type, given.slice(head.length, head.length + word));
  const repaired = decodeCall(abi, `0x${data.slice(2, 10)}${head}${given.slice(head.length)}`);
  return repaired && { ...repaired, canonical: false };
}

/** The types of the words that arguments begin with: one for each value, and an offset where its size is not fixed. */
function headTypes(inputs: readonly AbiParameter[]): string[] {
  return inputs.flatMap((input) => {
    const components = "components" in input && input.type === "tuple" ? headTypes(input.components) : null;
    if (components === null) return [isDynamic(input.type) ? "offset" : input.type];
    return components.includes("offset") ? ["offset"] : components;
  });
}

function isDynamic(type: string): boolean {
  return type === "bytes" || type === "string" || type.endsWith("]");
}

/** Leaves out the bits of a word that its type does not have. */
function withinType(type: string, value: string): string {
  const [, name, size] = /^(uint|address|bool|bytes)(\d*)$/.exec(type) ?? [];
  if (name === "bytes") return value.slice(0, Number(size) * 2).padEnd(word, "0");
  const bits = name === "address" ? 160 : name === "bool" ? 1 : Number(size ?? 256);
  return BigInt.asUintN(bits, BigInt(`0x${value}`))
    .toString(16)
    .padStart(word, "0");
}
