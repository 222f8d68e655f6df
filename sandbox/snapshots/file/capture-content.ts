import { messageOf } from "../../../protocol/coded-error.ts";
import type { Relayer } from "../../../relayer/relayer.ts";
import { anvilVersion } from "../../chain/anvil/anvil-binary.ts";
import { canonicalState } from "../../chain/client/canonical-state.ts";
import { dumpChain } from "../../chain/client/dump-chain.ts";
import type { ChainNode } from "../../chain/start-chain.ts";
import { keptRegistrar } from "../../data-directory/beginning.ts";
import { needsOwnChain } from "../../lib/errors/needs-own-chain.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import type { RequestGate } from "../../lib/http/request-gate.ts";
import { captureParts, decodeParts, encodeParts, type Part, type PartStates } from "../../lib/part.ts";
import type { SandboxSettings } from "../../options/settings.ts";
import { takeFingerprint } from "../fingerprint.ts";
import type { LoadedSnapshot, SnapshotContent } from "./snapshot-content.ts";
import { mostContentBytes, tooLong } from "./snapshot-file.ts";

/** Everything that a snapshot file holds or has to hold still. */
export interface ContentSources {
  settings: SandboxSettings;
  gate: RequestGate;
  chain: ChainNode;
  relayer: Relayer;
  parts: readonly Part[];
}

/**
 * Takes everything that a snapshot file holds once everything in progress has ended; requests that come meanwhile wait.
 *
 * @throws SandboxError snapshot_timeout when something in progress does not end in time.
 */
export async function captureContent(sources: ContentSources): Promise<SnapshotContent> {
  const { settings, gate, chain, relayer, parts } = sources;
  if (!chain.isOwn) throw needsOwnChain("A snapshot file");
  return await gate.runExclusive(async () => {
    await relayer.drain();
    const { client, clock, deployment, accounts } = chain;
    const pending = await client.getBlock({ blockTag: "pending" });
    const dump = await dumpChain(client, true);
    if (dump.length > mostContentBytes) throw tooLong();
    const state = canonicalState(dump.toString());
    const { seed, mode, programs, contracts, confirmations, gasBudgetWei } = settings;
    return {
      settings: {
        version: 1,
        seed,
        mode,
        programs: [...programs],
        ...keptRegistrar(contracts),
        confirmations,
        gas_budget_wei: gasBudgetWei,
      },
      chain: { deployment, accounts },
      base_fee: pending.baseFeePerGas ?? 0n,
      offset: clock.offset(),
      parts: encodeParts(await captureParts(parts)),
      fingerprint: await takeFingerprint(chain, parts),
      anvil: anvilVersion(),
      state,
    };
  });
}

/**
 * Reads the states of a snapshot file's parts.
 *
 * @throws SandboxError snapshot_refused when the file holds other parts than the sandbox that loads it, or a state of another shape.
 */
export function decodeSnapshotParts(
  { file, parts: encoded }: LoadedSnapshot,
  parts: readonly Part[],
): PartStates {
  try {
    return decodeParts(parts, encoded);
  } catch (cause) {
    throw new SandboxError(
      "snapshot_refused",
      `${file} cannot be loaded: ${messageOf(cause)}. Load it with the parts that it was saved with, or save it again.`,
      { cause },
    );
  }
}
