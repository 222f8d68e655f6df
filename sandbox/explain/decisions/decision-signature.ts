import { base64, base64url, base64urlnopad } from "@scure/base";
import { hexToBytes, isHex } from "viem";
import { decodeExact } from "../../../protocol/signatures/exact-encoding.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import type { SignatureMistake } from "../signatures/mistakes.ts";

/** The signature of a decision. */
export interface DecisionSignature {
  given: string;
  /** The 64 bytes of an Ed25519 signature; null for a signature of another scheme. */
  bytes: Uint8Array | null;
  /** How the given form differs from base64url without padding. */
  mistakes: SignatureMistake[];
}

const encodings = [
  { name: "base64url with padding", encoding: base64url },
  { name: "base64", encoding: base64 },
];

/**
 * Reads the signature of a decision, in any encoding.
 *
 * @throws SandboxError argument_invalid for anything but 64 bytes of Ed25519 or 65 bytes of ECDSA.
 */
export function readDecisionSignature(given: unknown): DecisionSignature {
  if (typeof given !== "string") throw wrongSignature(`is ${showValue(given)}`);
  const exact = decodeExact(base64urlnopad, given);
  if (exact?.length === 64) return { given, bytes: exact, mistakes: [] };
  const hex = /^(0x)?([0-9a-fA-F]{2})+$/.test(given) ? hexToBytes(isHex(given) ? given : `0x${given}`) : null;
  if (hex?.length === 65) return { given, bytes: null, mistakes: [ecdsaSignature] };
  if (hex?.length === 64) return inEncoding(given, hex, "hex");
  for (const { name, encoding } of encodings) {
    const bytes = decodeExact(encoding, given);
    if (bytes?.length === 64) return inEncoding(given, bytes, name);
  }
  const length = (exact ?? hex)?.length;
  throw wrongSignature(length === undefined ? `is ${showValue(given)}` : `has ${length} bytes`);
}

function inEncoding(given: string, bytes: Uint8Array, actual: string): DecisionSignature {
  const expected = "base64url without padding";
  const detail = `The signature is in ${actual}; ${expected} was expected. Send ${base64urlnopad.encode(bytes)}.`;
  return {
    given,
    bytes,
    mistakes: [{ name: "wrong_encoding", field: "signature", expected, actual, detail }],
  };
}

const ecdsaSignature: SignatureMistake = {
  name: "ecdsa_signature",
  field: "signature",
  expected: "Ed25519, 64 bytes",
  actual: "ECDSA, 65 bytes",
  detail:
    "The signature was made by a wallet (ECDSA); an Ed25519 signature of the reviewer's key was expected.",
};

function wrongSignature(wrong: string): SandboxError {
  return new SandboxError(
    "argument_invalid",
    `The option signature ${wrong}. Pass the reviewer's Ed25519 signature: 64 bytes in base64url without padding.`,
  );
}
