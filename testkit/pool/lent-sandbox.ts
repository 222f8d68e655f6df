import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxReceiver } from "../../sandbox/service/receiver/receiver.ts";
import { openWallets } from "../../sandbox/service/wallets/open-wallets.ts";
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
      wallets: openWallets(sandbox.chain, (account, name) => walletOf(sandbox.wallets[name], account)),
      openWallet: (privateKey) => walletOf(sandbox.openWallet(privateKey), privateKeyToAccount(privateKey)),
      get client() {
        return lend(sandbox.client, term);
      },
    },
  });
}

/** Whoever waits for a delivery that does not come must not hold the loan up, nor be given one of a later test. */
function lentReceiver(receiver: SandboxReceiver, term: LoanTerm): SandboxReceiver {
  const next: SandboxReceiver["next"] = async (matches = () => true, timeoutMs) =>
    await receiver.next((arrival) => !term.isOver && matches(arrival), timeoutMs);
  return lend(receiver, term, { own: { next } });
}
