import type { Hex, LocalAccount } from "viem";
import type { ChainClient } from "../../sandbox/chain/anvil/chain-client.ts";
import { TestWallet, type WalletContracts } from "../../sandbox/service/wallets/test-wallet.ts";
import type { WalletTransaction } from "../../sandbox/service/wallets/wallet.ts";
import type { LoanTerm } from "./loan-term.ts";

/**
 * A wallet that sends as the sandbox's own does, from the nonce to the transaction as one, and looks for receipts through the lent
 * client: that one refuses the next look once the loan is over, as a transaction that nobody mines would be waited for without end.
 */
export class LentWallet extends TestWallet {
  readonly #own: TestWallet;
  readonly #term: LoanTerm;

  constructor(wallet: {
    own: TestWallet;
    account: LocalAccount;
    client: ChainClient;
    contracts: WalletContracts;
    term: LoanTerm;
  }) {
    super(wallet.account, wallet.client, wallet.contracts);
    this.#own = wallet.own;
    this.#term = wallet.term;
  }

  override async submit(transaction: WalletTransaction): Promise<Hex> {
    const submitted = this.#own.submit(transaction);
    this.#term.note(submitted);
    return await submitted;
  }
}
