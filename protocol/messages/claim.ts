import { type Address, type Hex, hashTypedData, keccak256, stringToHex } from "viem";
import type { RegistrarDomain } from "./domain.ts";

/** EIP-712 type of the claim, in the order of the Solidity struct. */
export const claimTypes = {
  Claim: [
    { name: "commitment", type: "bytes32" },
    { name: "beneficiary", type: "address" },
    { name: "requestedAmount", type: "uint256" },
    { name: "reasonHash", type: "bytes32" },
  ],
} as const;

/** A beneficiary's claim; the amount in base units of the token. */
export interface Claim {
  /** The purchase's commitment hash. */
  commitment: Hex;
  beneficiary: Address;
  requestedAmount: bigint;
  /** keccak256 of the UTF-8 reason: see {@link hashReason}. */
  reasonHash: Hex;
}

/**
 * Returns keccak256 of the UTF-8 bytes of a claim's reason.
 *
 * @throws TypeError for a text with an unpaired surrogate, which has no UTF-8 form.
 * @example hashReason("arrived broken")
 */
export function hashReason(reason: string): Hex {
  if (!reason.isWellFormed())
    throw new TypeError("The reason has a lone surrogate, so it has no UTF-8 form.");
  return keccak256(stringToHex(reason));
}

/**
 * Returns the typed data that the beneficiary signs (EIP-712).
 *
 * @example await account.signTypedData(claimTypedData(domain, claim))
 */
export function claimTypedData(domain: RegistrarDomain, message: Claim) {
  return { domain, types: claimTypes, primaryType: "Claim", message } as const;
}

/**
 * Returns the EIP-712 digest of a claim: the claim hash in the claim transaction.
 *
 * @example hashClaim(domain, claim) // equals registrar.hashClaim(claim)
 */
export function hashClaim(domain: RegistrarDomain, claim: Claim): Hex {
  return hashTypedData(claimTypedData(domain, claim));
}
