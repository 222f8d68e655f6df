import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { SandboxReceiver } from "../../sandbox/receiver/receiver.ts";
import { openWallets } from "../../sandbox/wallets/open-wallets.ts";
import type { TestWallet } from "../../sandbox/wallets/test-wallet.ts";
import { once } from "../../server/lib/once.ts";
import type { ExplorableSandbox } from "../explore/explorable-sandbox.ts";
import { type Explorations, refuseWhileExplored } from "../explore/explorations.ts";
import { guardCalls } from "./guard-calls.ts";
import type { LeaseGuard } from "./lease-guard.ts";
import { leasedChain } from "./leased-chain.ts";
import { LeasedWallet } from "./leased-wallet.ts";

/**
 * A sandbox that refuses callers that still use it when the lease is over, and notes what is begun before: what a test leaves in progress
 * must not reach the next one. Only what is asked of the URLs themselves, and middleware that the client is given, go past this.
 */
export function leasedSandbox(
  sandbox: ExplorableSandbox,
  explorations: Explorations,
  guard: LeaseGuard,
): ExplorableSandbox {
  const clock = guardCalls(sandbox.clock, "clock", guard);
  const chain = leasedChain(sandbox.chain, clock, guard);
  const { contracts } = sandbox.description;
  const walletOf = (own: TestWallet, path: string, account: LocalAccount): TestWallet =>
    guardCalls(new LeasedWallet({ own, account, client: chain.client, contracts, guard }), path, guard, {
      isStepwise: true,
    });
  const wallets = openWallets(sandbox.chain, (account, name) =>
    walletOf(sandbox.wallets[name], `wallets.${name}`, account),
  );
  const given = sandbox.given.using({
    wallets,
    clock,
    chain,
    guard: (calls) => guardCalls(calls, "", guard),
    signal: guard.over,
  });
  const client = once(() => sandbox.clientUntil(guard.over));
  const reviewer = guardCalls(given.reviewer, "reviewer", guard);
  const leased = guardCalls(sandbox, "", guard, {
    own: {
      chain,
      clock,
      relayer: guardCalls(sandbox.relayer, "relayer", guard),
      faults: guardCalls(sandbox.faults, "faults", guard),
      store: guardCalls(sandbox.store, "store", guard),
      receiver: leasedReceiver(sandbox.receiver, guard),
      wallets,
      openWallet(privateKey) {
        const own = sandbox.openWallet(privateKey);
        return walletOf(own, `openWallet(${own.address})`, privateKeyToAccount(privateKey));
      },
      // Each step notes for itself; a transaction that is never mined would be waited for without end.
      given: guardCalls(given, "given", guard, { isStepwise: true, own: { reviewer } }),
      reviewer,
      deliverAll: async () => await given.deliveries.all(),
      async snapshot() {
        const taking = sandbox.snapshot();
        guard.note(taking);
        return guardCalls(await taking, "snapshot", guard);
      },
      get client() {
        const own = client();
        const retrying = guardCalls(own.retrying, "client.retrying", guard);
        return guardCalls(own, "client", guard, { own: { retrying } });
      },
      async explore(options) {
        const exploring = explorations.run(options, guard.over);
        guard.note(exploring);
        return await exploring;
      },
    },
  });
  return refuseWhileExplored(leased, explorations);
}

/** A caller that waits for a delivery that does not come must not hold the lease up, nor get one of a later test. */
function leasedReceiver(receiver: SandboxReceiver, guard: LeaseGuard): SandboxReceiver {
  const next: SandboxReceiver["next"] = async (matches = () => true, timeoutMs) =>
    await receiver.next(
      // The receiver refuses what is no function.
      typeof matches === "function" ? (arrival) => !guard.isOver && matches(arrival) : matches,
      timeoutMs,
    );
  return guardCalls(receiver, "receiver", guard, { own: { next } });
}
