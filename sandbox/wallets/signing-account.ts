import type { Address, Hex, LocalAccount, PrivateKeyAccount } from "viem";
import { privateKeyToAccount, toAccount } from "viem/accounts";
import { once } from "../../server/lib/once.ts";
import { endOfTurn } from "../lib/time/timers.ts";

/**
 * Signs as an account whose address is known; what its curve needs is computed at the first signature, not at a start. `sign` waits for the end of
 * the turn of the event loop, so that the node computes its answers to messages of this turn at the same time.
 */
export function signingAccount({ address, privateKey }: { address: Address; privateKey: Hex }) {
  const signer = once(() => privateKeyToAccount(privateKey));
  const sign: PrivateKeyAccount["sign"] = async (parameters) => {
    await endOfTurn();
    return await signer().sign(parameters);
  };
  const account: LocalAccount = toAccount({
    address,
    sign,
    signMessage: async (parameters) => await signer().signMessage(parameters),
    signTransaction: async (...parameters) => await signer().signTransaction(...parameters),
    signTypedData: async (parameters) => await signer().signTypedData(parameters),
  });
  return { ...account, sign };
}
