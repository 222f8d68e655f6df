import type { Address, Hex, LocalAccount } from "viem";
import { privateKeyToAccount, toAccount } from "viem/accounts";
import { once } from "../../../server/lib/once.ts";

/**
 * Signs as an account whose address is known; what its curve needs is computed at the first signature, not at a start.
 *
 * @example signingAccount(accounts.wallets.buyer)
 */
export function signingAccount({ address, privateKey }: { address: Address; privateKey: Hex }): LocalAccount {
  const signer = once(() => privateKeyToAccount(privateKey));
  return toAccount({
    address,
    sign: async (parameters) => await signer().sign(parameters),
    signMessage: async (parameters) => await signer().signMessage(parameters),
    signTransaction: async (...parameters) => await signer().signTransaction(...parameters),
    signTypedData: async (parameters) => await signer().signTypedData(parameters),
  });
}
