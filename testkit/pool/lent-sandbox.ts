import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { WalletName } from "../../sandbox/chain/genesis/roles.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxReceiver } from "../../sandbox/service/receiver/receiver.ts";
import { signingAccount } from "../../sandbox/service/wallets/signing-account.ts";
import type { TestWallet } from "../../sandbox/service/wallets/test-wallet.ts";
import { lend } from "./lend.ts";
import { lentChain } from "./lent-chain.ts";
import { LentWallet } from "./lent-wallet.ts";
import type { LoanTerm } from "./loan-term.ts";

/**
 * A sandbox that refuses whoever still uses it when the loan is over, and notes what is begun before: what a test leaves under way
 * must not reach the next one. Only what is asked of the URLs themselves, and middleware that the client is given, go past this.
 */
export function lentSandbox(sandbox: Sandbox, term: LoanTerm): Sandbox {
  const clock = lend(sandbox.clock, term);
  const chain = lentChain(sandbox.chain, clock, term);
  const { contracts } = sandbox.description;
  const walletOf = (own: TestWallet, account: LocalAccount): TestWallet =>
    lend(new LentWallet({ own, account, client: chain.client, contracts, term }), term, { isStepwise: true });
  return lend(sandbox, term, {
    own: {
      chain,
      clock,
      relayer: lend(sandbox.relayer, term),
      store: lend(sandbox.store, term),
      receiver: lentReceiver(sandbox.receiver, term),
      wallets: lentWallets(sandbox, walletOf),
      openWallet: (privateKey) => walletOf(sandbox.openWallet(privateKey), privateKeyToAccount(privateKey)),
      get client() {
        return lend(sandbox.client, term);
      },
    },
  });
}

function lentWallets(
  { wallets, chain }: Sandbox,
  walletOf: (own: TestWallet, account: LocalAccount) => TestWallet,
): Sandbox["wallets"] {
  const open = (name: WalletName) => walletOf(wallets[name], signingAccount(chain.accounts.wallets[name]));
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

/** Whoever waits for a delivery that does not come must not hold the loan up, nor be given one of a later test. */
function lentReceiver(receiver: SandboxReceiver, term: LoanTerm): SandboxReceiver {
  const next: SandboxReceiver["next"] = async (matches = () => true, timeoutMs) =>
    await receiver.next((arrival) => !term.isOver && matches(arrival), timeoutMs);
  return lend(receiver, term, { own: { next } });
}
