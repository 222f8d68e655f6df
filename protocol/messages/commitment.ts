import { type Address, type Hex, hashTypedData } from "viem";
import type { RegistrarDomain } from "./domain.ts";

/** EIP-712 type of the purchase commitment, in the order of the Solidity struct. */
export const purchaseTypes = {
  Purchase: [
    { name: "program", type: "bytes32" },
    { name: "purchaseRef", type: "bytes32" },
    { name: "merchant", type: "address" },
    { name: "buyer", type: "address" },
    { name: "beneficiary", type: "address" },
    { name: "token", type: "address" },
    { name: "amount", type: "uint256" },
    { name: "termsHash", type: "bytes32" },
    { name: "offerDeadline", type: "uint64" },
    { name: "payDeadline", type: "uint64" },
    { name: "claimDeadline", type: "uint64" },
    { name: "salt", type: "bytes32" },
  ],
} as const;

/** The immutable commitment of a purchase; amounts in base units of the token, deadlines in Unix seconds. */
export interface Commitment {
  /** keccak256 of the program's id. */
  program: Hex;
  /** keccak256 of the purchase's id. */
  purchaseRef: Hex;
  merchant: Address;
  buyer: Address;
  beneficiary: Address;
  token: Address;
  amount: bigint;
  /** SHA-256 of the RFC 8785 form of the terms. */
  termsHash: Hex;
  offerDeadline: bigint;
  payDeadline: bigint;
  claimDeadline: bigint;
  salt: Hex;
}

/**
 * Returns the typed data that the program's commitment signer signs (EIP-712).
 *
 * @example await account.signTypedData(commitmentTypedData(domain, commitment))
 */
export function commitmentTypedData(domain: RegistrarDomain, message: Commitment) {
  return { domain, types: purchaseTypes, primaryType: "Purchase", message } as const;
}

/**
 * Returns the EIP-712 digest of a commitment: its `commitment_hash`, and the purchase's id on the chain.
 *
 * @example hashCommitment(domain, commitment) // equals registrar.hashPurchase(commitment)
 */
export function hashCommitment(domain: RegistrarDomain, commitment: Commitment): Hex {
  return hashTypedData(commitmentTypedData(domain, commitment));
}
