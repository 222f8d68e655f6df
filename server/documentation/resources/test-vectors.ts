import { getPublicKey } from "@noble/ed25519";
import { bytesToHex } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import { hashMessage } from "viem";
import { claimTypedData, hashClaim, hashReason } from "../../../protocol/messages/claim.ts";
import { registrarDomain } from "../../../protocol/messages/domain.ts";
import { enrollmentMessage } from "../../../protocol/messages/enrollment.ts";
import {
  type Decision,
  decisionBytes,
  hashDecision,
  signDecision,
} from "../../../protocol/signatures/decision.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { viewTypedData } from "../../transactions/views.ts";
import { fictionalMerchant, fictionalPurchase } from "./fictional-purchase.ts";

const reviewerSeed = new Uint8Array(32).fill(7);

/** Values to check a signing client against; they are computed, so they cannot go stale. */
export function testVectors(docsUrl: string): { [name: string]: string } {
  const purchase = fictionalPurchase(docsUrl);
  const { domain, message } = purchase.typed_data;
  const claim = {
    commitment: purchase.commitment_hash,
    beneficiary: domain.verifyingContract,
    requestedAmount: 10n * usdc,
    reasonHash: hashReason("arrived broken"),
  };
  const claimDomain = registrarDomain(domain.chainId, domain.verifyingContract);
  const claimHash = hashClaim(claimDomain, claim);
  const decision: Decision = {
    award: "10000000",
    chain_id: domain.chainId,
    claim_hash: claimHash,
    claim_id: "clm_abcdefghij234567abcd",
    commitment_hash: purchase.commitment_hash,
    decided_at: "2026-01-10T12:00:00Z",
    outcome: "approved",
    program: "prg_fiction",
    purchase: "pur_abcdefghij234567abcd",
    reviewer_key_id: "reviewer",
  };
  const enrollment = enrollmentMessage({
    program: "prg_fiction",
    merchant: "mer_abcdefghij234567abcd",
    wallet: fictionalMerchant,
    chainId: domain.chainId,
    registrar: domain.verifyingContract,
    authorization: hashId("a fictional funding authorization"),
  });
  return {
    vector_enrollment_message: enrollment,
    vector_enrollment_digest: hashMessage(enrollment),
    vector_terms: canonicalJson(purchase.terms),
    vector_terms_hash: String(message["termsHash"]),
    vector_program_hash: String(message["program"]),
    vector_commitment_hash: purchase.commitment_hash,
    vector_claim_typed_data: JSON.stringify(viewTypedData(claimTypedData(claimDomain, claim)), null, 2),
    vector_claim_hash: claimHash,
    vector_reviewer_private_key: bytesToHex(reviewerSeed),
    vector_reviewer_public_key: base64urlnopad.encode(getPublicKey(reviewerSeed)),
    vector_decision_bytes: new TextDecoder().decode(decisionBytes(decision)),
    vector_decision_hash: hashDecision(decision),
    vector_approval: signDecision(reviewerSeed, decision),
  };
}
