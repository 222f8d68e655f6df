import { z } from "zod";
import { hashJson } from "../../../protocol/values/canonical-json.ts";
import { latestTime } from "../../chain/clock/clock.ts";
import { chainRecord } from "../../chain/start-chain.ts";
import { unloadable } from "../../chain/unloadable.ts";
import { keptSettings } from "../../data-directory/beginning.ts";
import { confirmationsSchema } from "../../options/defaults.ts";
import { type Fingerprint, fingerprintSchema } from "../fingerprint.ts";

/** A decimal number of at most as many bits. */
const uint = (bits: bigint) =>
  z.codec(z.string().regex(/^\d{1,78}$/), z.bigint().max(2n ** bits - 1n), {
    decode: (text) => BigInt(text),
    encode: (value) => value.toString(),
  });

/** The content of a snapshot file besides the chain's state; test keys only. */
export const snapshotContent = z.object({
  settings: keptSettings
    .omit({ in_database: true })
    .extend({ confirmations: confirmationsSchema, gas_budget_wei: uint(256n) }),
  chain: chainRecord,
  /** Of the block after the latest one, in wei. */
  base_fee: uint(64n),
  /** Seconds by which travel moved a live clock ahead of the wall clock. */
  offset: z.int().min(-latestTime).max(latestTime),
  /** The states of all parts, by their names. */
  parts: z.record(z.string(), z.unknown()),
  fingerprint: fingerprintSchema,
});

/** A sandbox as a snapshot file has it. */
export type SnapshotContent = z.infer<typeof snapshotContent> & {
  /** The version of the Anvil that dumped the chain's state. */
  anvil: string;
  /** The chain's state, as Anvil dumped it: JSON, which is never parsed here, as its numbers may be larger than JavaScript's. */
  state: string | Uint8Array;
};

/** The content of a snapshot file, and where it was read. */
export type LoadedSnapshot = SnapshotContent & {
  /** The file, as it was named. */
  file: string;
};

/**
 * Makes sure that a loaded sandbox is the saved one.
 *
 * @throws SandboxError snapshot_refused
 */
export function requireEqual(saved: LoadedSnapshot, loaded: Fingerprint): void {
  const { fingerprint } = saved;
  const { digest: _, ...counted } = loaded;
  // Earlier versions saved the root of the block, also if calls had changed the state since; the hash of the block is compared.
  const block = { ...loaded.block, state_root: fingerprint.block.state_root };
  if (fingerprint.digest === hashJson({ ...counted, block })) return;
  const { number, hash } = loaded.block;
  const difference =
    hash === fingerprint.block.hash
      ? "the chain is the same, but records, clock or another part of the sandbox are not"
      : `block ${number} is ${hash} and was ${fingerprint.block.hash}`;
  throw unloadable(saved, `the loaded state differs from the saved state: ${difference}`);
}
