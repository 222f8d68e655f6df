import type { Address } from "viem";

/**
 * EIP-712 type of the domain. viem derives it, but `eth_signTypedData_v4` does not: without it in `types`, a wallet hashes an empty domain.
 */
export const domainTypes = {
  EIP712Domain: [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ],
} as const;

/** The EIP-712 domain of a registrar contract: signatures are valid for one contract on one chain. */
export interface RegistrarDomain {
  name: "PurchaseRegistrar";
  version: "1";
  chainId: number;
  verifyingContract: Address;
}

/**
 * Returns the EIP-712 domain of a registrar contract, for commitments, funding authorizations and claims.
 *
 * @example registrarDomain(31337, "0x5FbDB2315678afecb367f032d93F642f64180aa3")
 */
export function registrarDomain(chainId: number, registrar: Address): RegistrarDomain {
  return { name: "PurchaseRegistrar", version: "1", chainId, verifyingContract: registrar };
}
