import type { Address } from "viem";

/** Where a signature counts: one registrar contract on one chain (EIP-712 domain). */
export interface RegistrarDomain {
  name: "PurchaseRegistrar";
  version: "1";
  chainId: number;
  verifyingContract: Address;
}

/**
 * The EIP-712 domain of a registrar contract, shared by commitments, funding authorizations and claims.
 *
 * @example registrarDomain(31337, "0x5FbDB2315678afecb367f032d93F642f64180aa3")
 */
export function registrarDomain(chainId: number, registrar: Address): RegistrarDomain {
  return { name: "PurchaseRegistrar", version: "1", chainId, verifyingContract: registrar };
}
