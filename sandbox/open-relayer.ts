import { setTimeout as pause } from "node:timers/promises";
import type { EIP1193RequestFn } from "viem";
import { createRelayer, type Relayer } from "../relayer/relayer.ts";
import type { Chain as ChainReader } from "../server/chain/chain.ts";
import { relayerJournal } from "../server/store/relayer-journal.ts";
import type { Store } from "../server/store/store.ts";
import type { Chain } from "./genesis/start-chain.ts";
import type { SandboxKeys } from "./keys.ts";
import { killProcess } from "./kill-process.ts";
import type { SandboxSettings } from "./options.ts";

/** Fixed, so that equal operations are equal bytes; in gas units. */
const gasLimits = { offer: 600_000n, collect_refund: 400_000n } as const;

/** Fixed for the same reason; in wei. */
const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** Makes the relayer of a sandbox, on its store and its chain. */
export function openRelayer(parts: {
  settings: SandboxSettings;
  chain: Chain;
  reader: ChainReader;
  store: Store;
  keys: SandboxKeys;
}): Relayer {
  const { settings, chain, reader, store, keys } = parts;
  const { confirmations, gasBudgetWei, patienceMs } = settings;
  const request: EIP1193RequestFn = chain.client.request;
  return createRelayer({
    journal: relayerJournal(store),
    request,
    chain: reader,
    signers: keys.registrars,
    clock: chain.clock,
    wait: async (milliseconds) => await pause(milliseconds),
    confirmations,
    gasBudgetWei,
    fees,
    gasLimits,
    patienceMs,
    // The fault is a real one.
    crash: killProcess,
  });
}
