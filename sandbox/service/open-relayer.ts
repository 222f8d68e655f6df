import type { LocalAccount } from "viem";
import { createRelayer, type Relayer, type RelayerFaults } from "../../relayer/relayer.ts";
import { openChainReader } from "../../server/chain/open-chain-reader.ts";
import { effectOfRefunds, preconditionOfRefunds } from "../../server/refunds/collection-precondition.ts";
import { recordDueRefund } from "../../server/refunds/record-due-refund.ts";
import { type RelayerJournalStore, relayerJournal } from "../../server/store/stored-relayer-journal.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { crashProcess } from "../lib/processes/processes.ts";
import { sharedReading } from "../lib/reading.ts";
import { wait } from "../lib/time/timers.ts";
import type { Waits } from "../lib/time/waits.ts";
import type { SandboxSettings } from "../options/settings.ts";

/** Fixed, so that equal operations are equal bytes, and enough on every chain; in gas units. */
export const relayGas = { offer: 600_000n, collect_refund: 400_000n } as const;

/** Makes the relayer of a sandbox, on its store and its chain. */
export function openRelayer(parts: {
  settings: Pick<SandboxSettings, "seed" | "confirmations" | "gasBudgetWei" | "receiptTimeoutMs">;
  chain: Pick<ChainNode, "request" | "deployment" | "terms"> & { clock: Pick<ChainNode["clock"], "now"> };
  store: RelayerJournalStore;
  /** The wallets that it signs with. */
  signers: readonly LocalAccount[];
  faults: RelayerFaults;
  waits: Waits;
}): Relayer {
  const { settings, chain, store, signers, faults, waits } = parts;
  const { confirmations, gasBudgetWei, receiptTimeoutMs } = settings;
  const { request } = chain;
  const reader = openChainReader(request, chain.deployment);
  return createRelayer({
    journal: relayerJournal(store),
    request,
    chain: { identity: sharedReading(reader.identity) },
    signers,
    clock: { now: sharedReading(async () => await chain.clock.now()) },
    wait,
    skipsWaits: () => waits.end.aborted,
    confirmations,
    gasBudgetWei,
    ...chain.terms,
    gasLimits: relayGas,
    preconditions: { collect_refund: preconditionOfRefunds({ chain: reader, store }) },
    beforeNonce: {
      collect_refund: async (operation, at) => await recordDueRefund(operation, at, { store, settings }),
    },
    effectChecks: { collect_refund: effectOfRefunds({ store }) },
    receiptTimeoutMs,
    faults,
    // The fault is a real one.
    crash: crashProcess,
  });
}
