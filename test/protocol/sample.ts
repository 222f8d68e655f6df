import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Claim } from "../../protocol/messages/claim.ts";
import type { Commitment } from "../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import type { FundingAuthorization } from "../../protocol/messages/funding-authorization.ts";
import { type Permit, tokenDomain } from "../../protocol/messages/permit.ts";
import type { Decision } from "../../protocol/signatures/decision.ts";
import { hashId } from "../../protocol/values/id.ts";

/** Values in which every field can be distinguished; the vectors in these tests were made from them. */
export const registrar: Address = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
export const token: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
export const merchant: Address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const buyer: Address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const beneficiary: Address = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
export const domain = registrarDomain(31_337, registrar);
export const word = (byte: string): Hex => `0x${byte.repeat(32)}`;

export const commitment: Commitment = {
  program: hashId("prg_demo"),
  purchaseRef: hashId("pur_aaaaaaaaaaaaaaaaaaaa"),
  merchant,
  buyer,
  beneficiary,
  token,
  amount: 25_000_000n,
  termsHash: word("11"),
  offerDeadline: 1_767_830_400n,
  payDeadline: 1_768_435_200n,
  claimDeadline: 1_769_040_000n,
  salt: word("22"),
};

export const authorization: FundingAuthorization = {
  program: hashId("prg_demo"),
  merchantRef: hashId("mer_aaaaaaaaaaaaaaaaaaaa"),
  wallet: merchant,
  token,
  cap: 2n ** 128n - 1n,
  validUntil: 2n ** 64n - 1n,
  salt: word("33"),
};

export const claim: Claim = {
  commitment: word("44"),
  beneficiary,
  requestedAmount: 9_007_199_254_740_993n,
  reasonHash: word("55"),
};

export const permitDomain = tokenDomain(31_337, token);

export const permit: Permit = {
  owner: buyer,
  spender: registrar,
  value: 2n ** 256n - 1n,
  nonce: 9_007_199_254_740_993n,
  deadline: 2n ** 64n,
};

export const decision: Decision = {
  award: "12000000",
  chain_id: 31_337,
  claim_hash: word("66"),
  claim_id: "clm_aaaaaaaaaaaaaaaaaaaa",
  commitment_hash: word("77"),
  decided_at: "2026-01-08T00:00:00Z",
  outcome: "approved",
  program: "prg_demo",
  purchase: "pur_aaaaaaaaaaaaaaaaaaaa",
  reviewer_key_id: "reviewer",
};

/** Account 1 of the standard test mnemonic. */
export const merchantAccount = privateKeyToAccount(
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
);
