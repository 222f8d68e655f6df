import type { Hex, PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const accounts = new Map<Hex, PrivateKeyAccount>();

/** The account of a private key: its public key takes a millisecond to compute, and tests ask for the same few again and again. */
export function accountOf(privateKey: Hex): PrivateKeyAccount {
  const account = accounts.get(privateKey) ?? privateKeyToAccount(privateKey);
  accounts.set(privateKey, account);
  return account;
}
