import type { LocalAccount } from "viem";
import type { WalletName } from "../../chain/genesis/roles.ts";
import type { ChainNode } from "../../chain/start-chain.ts";
import { signingAccount } from "./signing-account.ts";
import type { TestWallet } from "./test-wallet.ts";

/** The wallets of a sandbox, by name. */
export type TestWallets = { [W in WalletName]: TestWallet };

/** Opens a wallet for each named test account. */
export function openWallets(
  { accounts }: ChainNode,
  walletOf: (account: LocalAccount, name: WalletName) => TestWallet,
): TestWallets {
  const open = (name: WalletName) => walletOf(signingAccount(accounts.wallets[name]), name);
  return {
    deployer: open("deployer"),
    merchant: open("merchant"),
    buyer: open("buyer"),
    beneficiary: open("beneficiary"),
    stranger: open("stranger"),
    other_merchant: open("other_merchant"),
    other_buyer: open("other_buyer"),
  };
}
