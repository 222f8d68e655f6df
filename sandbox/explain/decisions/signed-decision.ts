import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64, base64url, base64urlnopad } from "@scure/base";
import { hexToBytes, isHex, keccak256 } from "viem";
import { type Decision, decisionBytes, hashDecision } from "../../../protocol/signatures/decision.ts";
import { verifyEd25519 } from "../../../protocol/signatures/ed25519.ts";
import { decodeExact } from "../../../protocol/signatures/exact-encoding.ts";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import type { Services } from "../../../server/http/services.ts";
import type { PublicKey } from "../../../server/keys/key-ring.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import type { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { wrongOption } from "../read-option.ts";
import type { Signed } from "../signatures/find-signed.ts";
import {
  type SignatureMistake,
  type SignatureMistakeName,
  signatureMistake,
  signedMember,
} from "../signatures/mistakes.ts";

/** The signature of a decision. */
export interface DecisionSignature {
  given: string;
  /** The 64 bytes of an Ed25519 signature; null for a signature of another scheme. */
  bytes: Uint8Array | null;
  /** The bytes in base64url without padding. */
  canonical: string | null;
  /** How the given form differs from base64url without padding. */
  mistakes: SignatureMistake[];
}

/**
 * Reads the signature of a decision, in any encoding.
 *
 * @throws SandboxError argument_invalid for anything but 64 bytes of Ed25519 or 65 bytes of ECDSA.
 */
export function readDecisionSignature(given: unknown): DecisionSignature {
  if (typeof given !== "string") throw wrongSignature(`is ${showValue(given)}`);
  const exact = decodeExact(base64urlnopad, given);
  const hex = /^(0x)?([0-9a-fA-F]{2})+$/.test(given) ? hexToBytes(isHex(given) ? given : `0x${given}`) : null;
  if (hex?.length === 65) return { given, bytes: null, canonical: null, mistakes: [ecdsaSignature] };
  const expected = "base64url without padding";
  const decoded = [
    { encoding: expected, bytes: exact },
    { encoding: "hex", bytes: hex },
    { encoding: "base64url with padding", bytes: decodeExact(base64url, given) },
    { encoding: "base64", bytes: decodeExact(base64, given) },
  ];
  for (const { encoding, bytes } of decoded) {
    if (bytes?.length !== 64) continue;
    const canonical = base64urlnopad.encode(bytes);
    const detail = `The signature is in ${encoding}; ${expected} was expected. Send ${canonical}.`;
    const mistake = signatureMistake("wrong_encoding", expected, encoding, detail);
    return { given, bytes, canonical, mistakes: encoding === expected ? [] : [mistake] };
  }
  const length = (exact ?? hex)?.length;
  throw wrongSignature(length === undefined ? `is ${showValue(given)}` : `has ${length} bytes`);
}

const ecdsaSignature = signatureMistake(
  "ecdsa_signature",
  "Ed25519, 64 bytes",
  "ECDSA, 65 bytes",
  "The signature was made by a wallet (ECDSA); an Ed25519 signature of the reviewer's key was expected.",
);

function wrongSignature(wrong: string): SandboxError {
  const remedy = "Pass the reviewer's Ed25519 signature: 64 bytes in base64url without padding.";
  return wrongOption("signature", wrong, remedy);
}

/** The decision that the service would make of a given one, and the key that has to sign it. */
export interface KnownDecision {
  purchase: PurchaseRecord;
  statement: Decision;
  reviewer: PublicKey;
}

/** A signature that is compared with a decision. */
interface ComparedDecision {
  /** The decision as it was given: programs sign its JSON in the order of its members. */
  raw: unknown;
  given: Decision;
  known: KnownDecision;
  /** The 64 bytes of the signature. */
  bytes: Uint8Array;
}

/** Bytes that could have been signed instead of the decision bytes. */
type OtherBytes = [name: SignatureMistakeName, actual: string, bytes: Uint8Array];

/** Finds out what the reviewer's key has signed, and otherwise which key has signed the decision. */
export async function findSignedDecision(compared: ComparedDecision, services: Services): Promise<Signed> {
  const { raw, given, known, bytes } = compared;
  const { publicKey } = known.reviewer;
  if (verifyEd25519(publicKey, decisionBytes(given), bytes)) return { over: "given", mistake: null };
  if (verifyEd25519(publicKey, decisionBytes(known.statement), bytes))
    return { over: "known", mistake: null };
  const mistake =
    (await findOtherBytes(compared, raw, given)) ??
    (await findOtherBytes(compared, known.statement, known.statement)) ??
    (await findOtherClaim(compared, services)) ??
    (await findOtherKey(compared, services)) ??
    otherKey(known, null);
  return { over: "other", mistake };
}

async function findOtherBytes(
  { known, bytes }: ComparedDecision,
  raw: unknown,
  decision: Decision,
): Promise<SignatureMistake | null> {
  const { publicKey } = known.reviewer;
  const others = otherBytesOf(raw, decision);
  const [name, actual] = others.find(([, , other]) => verifyEd25519(publicKey, other, bytes)) ?? [];
  if (name !== undefined) return signedOther(name, `${actual}`);
  return (await verifiesPrehashed(publicKey, decisionBytes(decision), bytes))
    ? signedOther("prehashed", "the SHA-512 of the decision bytes, by Ed25519ph")
    : null;
}

function signedOther(name: SignatureMistakeName, actual: string): SignatureMistake {
  const expected = "Ed25519 over the decision bytes";
  const detail = `The signature is over ${actual}; ${expected} was expected.`;
  return signatureMistake(name, expected, actual, detail);
}

function otherBytesOf(raw: unknown, decision: Decision): OtherBytes[] {
  const signed = decisionBytes(decision);
  const hash = hashDecision(decision);
  const start = signed.indexOf("\n".charCodeAt(0)) + 1;
  const [line, json] = [signed.slice(0, start), signed.slice(start)];
  const others = [JSON.stringify(raw), JSON.stringify(raw, null, 2)].map(utf8ToBytes);
  const text = (name: string, value: string): OtherBytes => [
    "hex_text_signed",
    `${name}, as a text`,
    utf8ToBytes(value),
  ];
  return [
    text("the decision bytes in hex", bytesToHex(signed)),
    text("the decision bytes in hex with 0x", `0x${bytesToHex(signed)}`),
    text("the decision bytes in base64", base64.encode(signed)),
    text("the decision bytes in base64url", base64urlnopad.encode(signed)),
    text("the decision hash in hex", hash),
    text("the decision hash in hex without 0x", hash.slice(2)),
    ["prehashed", "the SHA-256 of the decision bytes", hexToBytes(hash)],
    ["prehashed", "the SHA-512 of the decision bytes", sha512(signed)],
    ["prehashed", "the Keccak-256 of the decision bytes", hexToBytes(keccak256(signed))],
    ["prehashed", "the SHA-256 of the JSON", hexToBytes(sha256Hex(json))],
    ...[json, ...others].map(
      (bytes): OtherBytes => ["missing_domain_line", "the JSON without the line before it", bytes],
    ),
    [
      "missing_domain_line",
      "line and JSON without the line feed between them",
      joined(line.slice(0, -1), json),
    ],
    ...others.map(
      (bytes): OtherBytes => [
        "not_canonical_json",
        "JSON that is not in the form of RFC 8785",
        joined(line, bytes),
      ],
    ),
    // Editors and commands such as echo end a text with a line feed.
    ...["\n", "\r\n"].flatMap((end): OtherBytes[] => {
      const withEnd = joined(line.slice(0, -1), joined(utf8ToBytes(end), json));
      const actual = `the decision bytes with ${JSON.stringify(end)} as line end, also after the JSON`;
      return [
        ["not_canonical_json", "the line with a carriage return, and the JSON", withEnd],
        ["not_canonical_json", actual, joined(withEnd, utf8ToBytes(end))],
      ];
    }),
  ];
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  return Uint8Array.from([...left, ...right]);
}

/** Verifies by Ed25519ph (RFC 8032), which is loaded here alone. */
async function verifiesPrehashed(
  publicKey: Uint8Array,
  message: Uint8Array,
  bytes: Uint8Array,
): Promise<boolean> {
  const { ed25519ph } = await import("@noble/curves/ed25519.js");
  try {
    return ed25519ph.verify(bytes, message, publicKey, { zip215: false });
  } catch {
    // The signature has no point of the curve.
    return false;
  }
}

/** Tries the hashes that are mistaken for the claim hash: those of other claims, and the commitment's. */
async function findOtherClaim(
  { known, bytes }: ComparedDecision,
  { store, deployment }: Services,
): Promise<SignatureMistake | null> {
  const { statement, reviewer } = known;
  const hashes = [statement.commitment_hash];
  for (const { id: program } of deployment.programs)
    for (const { value } of await store.list("purchases", { program })) {
      const claim = value.claim_id === null ? undefined : await store.get("claims", value.claim_id);
      if (claim !== undefined) hashes.push(claim.value.claim_hash);
    }
  const claim_hash = hashes.find((hash) =>
    verifyEd25519(reviewer.publicKey, decisionBytes({ ...statement, claim_hash: hash }), bytes),
  );
  if (claim_hash === undefined) return null;
  const member = { name: "decision.claim_hash", expected: statement.claim_hash, actual: claim_hash };
  return signedMember("wrong_claim_hash", member);
}

async function findOtherKey(
  { given, known, bytes }: ComparedDecision,
  { keyRing }: Services,
): Promise<SignatureMistake | null> {
  for (const { use, key } of await keyRing.published())
    for (const statement of [given, known.statement])
      if (use === "reviewer" && verifyEd25519(key.publicKey, decisionBytes(statement), bytes))
        return otherKey(known, key.keyId);
  return null;
}

function otherKey({ reviewer, statement }: KnownDecision, actual: string | null): SignatureMistake {
  const by = actual === null ? "was not made over this decision" : `was made with the key ${actual}`;
  return signatureMistake(
    "wrong_key",
    reviewer.keyId,
    actual,
    `The signature ${by}; the reviewer of ${statement.program} signs with ${reviewer.keyId}. The key or the signed data differs.`,
  );
}
