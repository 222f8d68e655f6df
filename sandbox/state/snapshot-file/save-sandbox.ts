import { gunzipSync } from "node:zlib";
import { hexToBytes } from "viem";
import type { Relayer } from "../../../relayer/relayer.ts";
import type { Store } from "../../../server/store/store.ts";
import { readMining, restoreMining } from "../../chain/clock/mining.ts";
import type { Chain } from "../../chain/genesis/start-chain.ts";
import type { RequestGate } from "../../lib/http/request-gate.ts";
import type { SandboxSettings } from "../../options/options.ts";
import type { LazyAccess } from "../../service/client/lazy-access.ts";
import type { SandboxReceiver } from "../../service/receiver/receiver.ts";
import { takeFingerprint } from "../fingerprint.ts";
import type { RequestCounter } from "../request-counter.ts";
import type { SavedSandbox } from "./saved-sandbox.ts";

/** Everything that a snapshot file holds or has to hold still. */
export interface SavedParts {
  settings: SandboxSettings;
  gate: RequestGate;
  chain: Chain;
  store: Store;
  relayer: Relayer;
  requests: RequestCounter;
  access: LazyAccess;
  receiver: SandboxReceiver;
}

/**
 * Takes everything that a snapshot file holds once everything under way has ended; requests that come meanwhile wait.
 *
 * @throws SandboxError snapshot_timeout when something under way does not end in time.
 */
export async function saveSandbox(parts: SavedParts): Promise<SavedSandbox> {
  const { settings, gate, chain, store, relayer, requests, access, receiver } = parts;
  return await gate.runExclusive(async () => {
    await relayer.drain();
    const { client, clock, deployment, accounts } = chain;
    const pending = await client.getBlock({ blockTag: "pending" });
    const dump = await client.request({ method: "anvil_dumpState", params: [true] });
    const { seed, mode, programs, confirmations, gasBudgetWei } = settings;
    return {
      settings: {
        version: 1,
        seed,
        mode,
        programs: [...programs],
        confirmations,
        gas_budget_wei: gasBudgetWei,
      },
      chain: { deployment, accounts },
      base_fee: pending.baseFeePerGas ?? 0n,
      offset: clock.offset(),
      mining: await readMining(client),
      store: await store.export(),
      faults: relayer.snapshotFaults(),
      receiver: receiver.snapshot(),
      requests: requests.count,
      access: access.snapshot(),
      fingerprint: await takeFingerprint(chain, store),
      state: gunzipSync(hexToBytes(dump)).toString(),
    };
  });
}

/**
 * Brings a sandbox that started from a saved chain to the moment of the file.
 *
 * @throws what the store and the node throw.
 */
export async function restoreSaved(
  saved: SavedSandbox,
  { chain, store, relayer, requests, access, receiver }: Omit<SavedParts, "settings" | "gate">,
): Promise<void> {
  await restoreMining(chain.client, saved.mining);
  await store.import(saved.store);
  await relayer.restoreFaults(saved.faults);
  requests.count = saved.requests;
  access.restore(saved.access);
  receiver.restore(saved.receiver);
}
