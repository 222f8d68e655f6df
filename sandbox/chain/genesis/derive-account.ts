import { toHex } from "viem";
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import type { TestAccount } from "./deployment-record.ts";
import { derivationPath, testMnemonic } from "./roles.ts";

/**
 * Derives test accounts of the standard mnemonic by their index; to be made once, as stretching the mnemonic takes a while.
 *
 * @example
 * const accountAt = accountDeriver();
 * accountAt(0).address; // "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
 */
export function accountDeriver(): (index: number) => TestAccount {
  const parent = mnemonicToAccount(testMnemonic, { path: derivationPath }).getHdKey();
  return (index) => {
    const { privateKey } = parent.deriveChild(index);
    if (privateKey === null || privateKey === undefined)
      throw new Error(`The test account ${index} has no private key.`);
    const key = toHex(privateKey);
    return { address: privateKeyToAccount(key).address, privateKey: key };
  };
}
