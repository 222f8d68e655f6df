import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import type { Hex } from "viem";
import { canonicalJson, sha256Hex } from "../values/canonical-json.ts";
import { signEd25519, verifyEd25519 } from "./ed25519.ts";
import { decodeExact } from "./exact-encoding.ts";

/** A reviewer's decision; every field is signed. */
export interface Decision {
  /** Base units of the token, as a decimal string. */
  award: string;
  chain_id: number;
  claim_hash: Hex;
  claim_id: string;
  commitment_hash: Hex;
  /** RFC 3339, UTC. */
  decided_at: string;
  outcome: "approved" | "denied";
  program: string;
  purchase: string;
  reviewer_key_id: string;
}

const prefix = utf8ToBytes("routing-sandbox/decision/v1\n");

/**
 * Returns the exact bytes that a reviewer signs: a domain line and the RFC 8785 form of the decision.
 *
 * @example decisionBytes(decision)
 */
export function decisionBytes(decision: Decision): Uint8Array {
  const { award, chain_id, claim_hash, claim_id, commitment_hash } = decision;
  const { decided_at, outcome, program, purchase, reviewer_key_id } = decision;
  const signed = {
    award,
    chain_id,
    claim_hash,
    claim_id,
    commitment_hash,
    decided_at,
    outcome,
    program,
    purchase,
    reviewer_key_id,
  };
  return concatBytes(prefix, utf8ToBytes(canonicalJson(signed)));
}

/**
 * Returns SHA-256 of the signed bytes: the decision hash in the refund transaction.
 *
 * @example hashDecision(decision) // "0x…"
 */
export function hashDecision(decision: Decision): Hex {
  return sha256Hex(decisionBytes(decision));
}

/**
 * Signs a decision with the reviewer's Ed25519 key; the approval is base64url without padding.
 *
 * @example signDecision(reviewer.privateKey, decision)
 */
export function signDecision(privateKey: Uint8Array, decision: Decision): string {
  return base64urlnopad.encode(signEd25519(privateKey, decisionBytes(decision)));
}

/**
 * Verifies an approval strictly (RFC 8032; canonical base64url).
 *
 * @example verifyDecision(reviewer.publicKey, decision, approval)
 */
export function verifyDecision(publicKey: Uint8Array, decision: Decision, approval: string): boolean {
  const signature = decodeExact(base64urlnopad, approval);
  return signature !== null && verifyEd25519(publicKey, decisionBytes(decision), signature);
}
