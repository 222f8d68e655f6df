import { concatHex, getAbiItem, type Hex, keccak256, pad, toFunctionSelector, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";

/** The key of a commitment signer whose account has code. */
export const keyWithCode = keccak256(toHex("the key of a commitment signer with code"));

/** The key of a commitment signer that delegates to code. */
export const delegatingKey = keccak256(toHex("the key of a commitment signer that delegates"));

/** The value by which a contract says that a signature is valid (ERC-1271). */
const magic = "0x1626ba7e";

/** Returns code that ends every call with one word. */
export function codeWith(word: Hex, end: "f3" | "fd" = "f3"): Hex {
  return concatHex(["0x7f", word, "0x5f5260205f", `0x${end}`]);
}

const withCode = { address: privateKeyToAccount(keyWithCode).address, code: "0x00" } as const;
const acceptsAll = {
  address: "0x00000000000000000000000000000000000c0de1",
  code: codeWith(pad(magic, { dir: "right" })),
} as const;

/** Returns the code of an account that delegates to the code of another one (EIP-7702). */
function delegationTo({ address }: { address: Hex }): Hex {
  return concatHex(["0xef0100", address]);
}

/** Commitment signers with code, as they are in every simulation. */
export const signersWithCode = {
  "whose account has code": withCode,
  "that delegates to code": {
    address: privateKeyToAccount(delegatingKey).address,
    code: delegationTo(withCode),
  },
  "that delegates to code and accepts every signature": {
    address: "0x00000000000000000000000000000000000c0de6",
    code: delegationTo(acceptsAll),
  },
  "that accepts every signature": acceptsAll,
  "that accepts signatures of 1,000 bytes": {
    address: "0x00000000000000000000000000000000000c0de7",
    // The magic value, multiplied by whether the signature's length is right.
    code: concatHex(["0x6044356103e8147f", pad(magic, { dir: "right" }), "0x025f5260205ff3"]),
  },
  "that answers two words and accepts every signature": {
    address: "0x00000000000000000000000000000000000c0de8",
    code: concatHex(["0x7f", pad(magic, { dir: "right" }), "0x5f5260405ff3"]),
  },
  "that uses 200,000 gas and accepts every signature": {
    address: "0x00000000000000000000000000000000000c0de5",
    // Counts down from 8,000, with 26 gas for each number.
    code: concatHex(["0x611f405b600190038060035750", codeWith(pad(magic, { dir: "right" }))]),
  },
  "that reads the registrar contract and accepts every signature": {
    address: "0x00000000000000000000000000000000000c0de9",
    // The magic value, multiplied by whether the call of a view succeeds.
    code: (registrar: Hex) =>
      concatHex([
        "0x63",
        toFunctionSelector(getAbiItem({ abi: purchaseRegistrarAbi, name: "programState" })),
        "0x5f525f5f6024601c73",
        registrar,
        "0x5afa7f",
        pad(magic, { dir: "right" }),
        "0x025f5260205ff3",
      ]),
  },
  "that answers one": {
    address: "0x00000000000000000000000000000000000c0de2",
    code: codeWith(pad("0x01")),
  },
  "that answers the magic value with other bytes": {
    address: "0x00000000000000000000000000000000000c0de3",
    code: codeWith(concatHex([magic, `0x${"ff".repeat(28)}`])),
  },
  "that reverts with the magic value": {
    address: "0x00000000000000000000000000000000000c0de4",
    code: codeWith(pad(magic, { dir: "right" }), "fd"),
  },
} as const satisfies { [signer: string]: { address: Hex; code: Hex | ((registrar: Hex) => Hex) } };

/** Returns the code of each, by its address. */
export function codeOfSigners(registrar: Hex): { [address: Hex]: { code: Hex } } {
  return Object.fromEntries(
    Object.values(signersWithCode).map(({ address, code }) => [
      address,
      { code: typeof code === "string" ? code : code(registrar) },
    ]),
  );
}

/** The rule about their signatures. */
export const askedByCode =
  "a commitment signer with code is asked by its code, and only its magic value is accepted";

/** The rule that only the present signer signs, which says why code is asked that is not the signer's. */
export const formerSigner = "a signature of the former commitment signer is refused";

/** The rule about programs without a signer; one that is not open has none. */
export const noSigner = "every signature is refused without a commitment signer";

/** A commitment signer with code. */
export type SignerWithCode = keyof typeof signersWithCode;
