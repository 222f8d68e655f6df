import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64, base64urlnopad } from "@scure/base";
import { hexToBytes, keccak256 } from "viem";
import { type Decision, decisionBytes, hashDecision } from "../../../protocol/signatures/decision.ts";
import { verifyEd25519 } from "../../../protocol/signatures/ed25519.ts";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import type { Services } from "../../../server/services.ts";
import type { Signed } from "../signatures/find-signed.ts";
import type { SignatureMistake, SignatureMistakeName } from "../signatures/mistakes.ts";
import { decisionMistake } from "./compare-decision.ts";
import type { KnownDecision } from "./known-decision.ts";

/** A signature that is compared with a decision. */
export interface ComparedDecision {
  /** The decision as it was given: programs sign its JSON in the order of its members. */
  raw: object;
  given: Decision;
  known: KnownDecision;
  /** The 64 bytes of the signature. */
  bytes: Uint8Array;
}

/** Bytes that could have been signed instead of the decision bytes. */
interface OtherBytes {
  name: SignatureMistakeName;
  actual: string;
  bytes: Uint8Array;
}

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
  raw: object,
  decision: Decision,
): Promise<SignatureMistake | null> {
  const { publicKey } = known.reviewer;
  const found = otherBytesOf(raw, decision).find((other) => verifyEd25519(publicKey, other.bytes, bytes));
  if (found !== undefined) return signedOther(found.name, found.actual);
  return (await verifiesPrehashed(publicKey, decisionBytes(decision), bytes))
    ? signedOther("prehashed", "the SHA-512 of the decision bytes, by Ed25519ph")
    : null;
}

function signedOther(name: SignatureMistakeName, actual: string): SignatureMistake {
  const expected = "Ed25519 over the decision bytes";
  const detail = `The signature is over ${actual}; ${expected} was expected.`;
  return { name, field: "signature", expected, actual, detail };
}

function otherBytesOf(raw: object, decision: Decision): OtherBytes[] {
  const signed = decisionBytes(decision);
  const hash = hashDecision(decision);
  const start = signed.indexOf("\n".charCodeAt(0)) + 1;
  const [line, json] = [signed.slice(0, start), signed.slice(start)];
  const others = [JSON.stringify(raw), JSON.stringify(raw, null, 2)].map(utf8ToBytes);
  const text = (name: string, value: string): OtherBytes => ({
    name: "hex_text_signed",
    actual: `${name}, as a text`,
    bytes: utf8ToBytes(value),
  });
  const hashed = (name: string, bytes: Uint8Array): OtherBytes => ({
    name: "prehashed",
    actual: name,
    bytes,
  });
  return [
    text("the decision bytes in hex", bytesToHex(signed)),
    text("the decision bytes in hex with 0x", `0x${bytesToHex(signed)}`),
    text("the decision bytes in base64", base64.encode(signed)),
    text("the decision bytes in base64url", base64urlnopad.encode(signed)),
    text("the decision hash in hex", hash),
    text("the decision hash in hex without 0x", hash.slice(2)),
    hashed("the SHA-256 of the decision bytes", hexToBytes(hash)),
    hashed("the SHA-512 of the decision bytes", sha512(signed)),
    hashed("the Keccak-256 of the decision bytes", hexToBytes(keccak256(signed))),
    hashed("the SHA-256 of the JSON", hexToBytes(sha256Hex(json))),
    ...[json, ...others].map((bytes) => ({
      name: "missing_domain_line" as const,
      actual: "the JSON without the line before it",
      bytes,
    })),
    {
      name: "missing_domain_line",
      actual: "line and JSON without the line feed between them",
      bytes: joined(line.slice(0, -1), json),
    },
    ...others.map((bytes) => ({
      name: "not_canonical_json" as const,
      actual: "JSON that is not in the form of RFC 8785",
      bytes: joined(line, bytes),
    })),
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
  return claim_hash === undefined
    ? null
    : decisionMistake("claim_hash", statement.claim_hash, claim_hash, "The signature is over");
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
  return {
    name: "wrong_key",
    field: "signature",
    expected: reviewer.keyId,
    actual,
    detail: `The signature ${by}; the reviewer of ${statement.program} signs with ${reviewer.keyId}. The key or the signed data differs.`,
  };
}
