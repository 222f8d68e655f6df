import { z } from "zod";
import type { FaultState, MiningMode } from "../../../relayer/relayer.ts";
import type { StoreImage } from "../../../server/store/store.ts";
import { chainRecord } from "../../chain/genesis/start-chain.ts";
import type { ReceiverState } from "../../service/receiver/receiver.ts";
import { keptSettings } from "../data-directory/settings-file.ts";
import type { Fingerprint } from "../fingerprint.ts";

const wei = z.codec(z.string().regex(/^\d+$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString(),
});

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** What a snapshot file holds beside the chain's state; test keys only. The checksum vouches for what has its type from here. */
export const savedSandbox = z.object({
  settings: keptSettings.omit({ in_database: true }).extend({ confirmations: z.int(), gas_budget_wei: wei }),
  chain: chainRecord,
  /** Of the block after the latest one, in wei. */
  base_fee: wei,
  /** Seconds by which travel moved a live clock ahead of the wall clock. */
  offset: z.int(),
  mining: z.custom<MiningMode>(isObject),
  store: z.custom<StoreImage>(isObject),
  faults: z.custom<FaultState>(isObject),
  receiver: z.custom<ReceiverState>(isObject),
  /** How many requests the API has had. */
  requests: z.int(),
  /** The credential of the typed client. */
  access: z.string().nullable().default(null),
  fingerprint: z.custom<Fingerprint>(isObject),
});

/** A sandbox as a snapshot file has it. */
export type SavedSandbox = z.infer<typeof savedSandbox> & {
  /** The chain's state, as Anvil dumped it: JSON, which is never parsed here, as its numbers may be larger than JavaScript's. */
  state: string;
};
