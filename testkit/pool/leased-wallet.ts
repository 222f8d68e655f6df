import type { Hex, LocalAccount } from "viem";
import type { ChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { TestWallet, type WalletContracts } from "../../sandbox/wallets/test-wallet.ts";
import type { WalletTransaction } from "../../sandbox/wallets/wallet.ts";
import type { LeaseGuard } from "./lease-guard.ts";

/**
 * A wallet that sends as the sandbox's own does, from the nonce to the transaction as one, and looks for transaction receipts through the leased
 * client: that one refuses the next look once the lease is over, as a transaction that is never mined would be waited for without end.
 */
export class LeasedWallet extends TestWallet {
  readonly #own: TestWallet;
  readonly #guard: LeaseGuard;

  constructor(wallet: {
    own: TestWallet;
    account: LocalAccount;
    client: ChainClient;
    contracts: WalletContracts;
    guard: LeaseGuard;
  }) {
    super(wallet.account, wallet.client, wallet.contracts);
    this.#own = wallet.own;
    this.#guard = wallet.guard;
  }

  override async submit(transaction: WalletTransaction, gas?: bigint): Promise<Hex> {
    const submitted = this.#own.submit(transaction, gas);
    this.#guard.note(submitted);
    return await submitted;
  }

  override async submitOrMine(transaction: WalletTransaction): ReturnType<TestWallet["submitOrMine"]> {
    const submitted = this.#own.submitOrMine(transaction);
    this.#guard.note(submitted);
    return await submitted;
  }
}
