import { type Address, type Hex, hashTypedData } from "viem";
import type { RegistrarDomain } from "./domain.ts";

/** EIP-712 type of the funding authorization, in the order of the Solidity struct. */
export const fundingAuthorizationTypes = {
  FundingAuthorization: [
    { name: "program", type: "bytes32" },
    { name: "merchantRef", type: "bytes32" },
    { name: "wallet", type: "address" },
    { name: "token", type: "address" },
    { name: "cap", type: "uint256" },
    { name: "validUntil", type: "uint64" },
    { name: "salt", type: "bytes32" },
  ],
} as const;

/** The authorization of a merchant's wallet to fund refunds up to `cap` base units until `validUntil` (Unix seconds). */
export interface FundingAuthorization {
  /** keccak256 of the program's id. */
  program: Hex;
  /** keccak256 of the merchant's id. */
  merchantRef: Hex;
  wallet: Address;
  token: Address;
  cap: bigint;
  validUntil: bigint;
  salt: Hex;
}

/**
 * Returns the typed data that the program's commitment signer signs for a merchant (EIP-712).
 *
 * @example await account.signTypedData(fundingAuthorizationTypedData(domain, authorization))
 */
export function fundingAuthorizationTypedData(domain: RegistrarDomain, message: FundingAuthorization) {
  return { domain, types: fundingAuthorizationTypes, primaryType: "FundingAuthorization", message } as const;
}

/**
 * Returns the EIP-712 digest of a funding authorization.
 *
 * @example hashFundingAuthorization(domain, authorization) // equals registrar.hashFunding(authorization)
 */
export function hashFundingAuthorization(domain: RegistrarDomain, authorization: FundingAuthorization): Hex {
  return hashTypedData(fundingAuthorizationTypedData(domain, authorization));
}
