import { secp256k1 } from "@noble/curves/secp256k1.js";
import {
  concatHex,
  type Hex,
  hashMessage,
  hexToBigInt,
  numberToHex,
  serializeErc6492Signature,
  slice,
  zeroAddress,
} from "viem";
import { signDigest } from "../fixture/sign-digest.ts";

/** A message of the program, as its digests. */
export interface SignedMessage {
  /** The EIP-712 digest, which the commitment signer signs. */
  digest: Hex;
  /** The hash of the message without a domain. */
  struct: Hex;
  /** The digests in other domains. */
  elsewhere: { chain: Hex; contract: Hex };
}

interface Parts {
  r: Hex;
  s: bigint;
  /** Of the recovery, 0 or 1. */
  parity: number;
}

function partsOf(signature: Hex): Parts {
  return {
    r: slice(signature, 0, 32),
    s: hexToBigInt(slice(signature, 32, 64)),
    parity: hexToBigInt(slice(signature, 64)) === 28n ? 1 : 0,
  };
}

function join({ r, s }: Parts, v?: number): Hex {
  return concatHex([r, numberToHex(s, { size: 32 }), v === undefined ? "0x" : numberToHex(v, { size: 1 })]);
}

const order = secp256k1.Point.Fn.ORDER;
const zeroes = (bytes: number): Hex => `0x${"00".repeat(bytes)}`;

/** Returns another form of the valid signature. */
const reshape = (shape: (parts: Parts, signature: Hex) => Hex) => (message: SignedMessage, key: Hex) => {
  const signature = signDigest(message.digest, key);
  return shape(partsOf(signature), signature);
};

/** Signatures that no function accepts from a key, by what they are. */
export const forgedForms: { readonly [form: string]: (message: SignedMessage, key: Hex) => Hex } = {
  "an empty signature": () => "0x",
  "a signature of 64 zero bytes": () => zeroes(64),
  "a signature of 65 zero bytes": () => zeroes(65),
  "a signature of zeros and v": () => concatHex([zeroes(64), "0x1b"]),
  "a signature with a high s": reshape((parts) => join({ ...parts, s: order - parts.s }, 28 - parts.parity)),
  "a compact signature (EIP-2098)": reshape((parts) =>
    join({ ...parts, s: parts.s | (BigInt(parts.parity) << 255n) }),
  ),
  "a signature with v of 0 or 1": reshape((parts) => join(parts, parts.parity)),
  "a signature with v of 29": reshape((parts) => join(parts, 29)),
  "a signature with the other v": reshape((parts) => join(parts, 28 - parts.parity)),
  "a signature with a byte after it": reshape((_parts, signature) => concatHex([signature, "0x00"])),
  "a signature with a zero word after it": reshape((_parts, signature) => concatHex([signature, zeroes(32)])),
  "a signature with the digest after it": (message, key) =>
    concatHex([signDigest(message.digest, key), message.digest]),
  "a signature in an ERC-6492 wrapper": (message, key) =>
    serializeErc6492Signature({
      address: zeroAddress,
      data: "0x",
      signature: signDigest(message.digest, key),
    }),
  "a signature of the personal_sign digest": ({ digest }, key) =>
    signDigest(hashMessage({ raw: digest }), key),
  "a signature of the message without its domain": ({ struct }, key) => signDigest(struct, key),
  "a signature for another chain": ({ elsewhere }, key) => signDigest(elsewhere.chain, key),
  "a signature for another contract": ({ elsewhere }, key) => signDigest(elsewhere.contract, key),
};
