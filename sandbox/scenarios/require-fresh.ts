import type { Store } from "../../server/store/store.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { needsOwnChain } from "../lib/errors/needs-own-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { SandboxSettings } from "../options/settings.ts";
import { readNewestBlock, type SeenBlock } from "./read-steps.ts";

/** The remedy for a recording on a sandbox that has been used. */
const startFresh =
  "and a scenario starts from a fresh one. Start it with the option fresh and the option mode deterministic, or start one in another directory (the option dataDirectory).";

/**
 * Refuses a sandbox on which a scenario could not begin.
 *
 * @param remedy - ends the sentence "The sandbox has been used already, …".
 * @returns the newest block.
 * @throws SandboxError scenario_refused when the sandbox is live or not fresh.
 */
export async function requireFresh(
  sandbox: { settings: Pick<SandboxSettings, "mode">; chain: ChainNode; store: Store },
  remedy = startFresh,
): Promise<SeenBlock> {
  const { settings, chain, store } = sandbox;
  if (!chain.isOwn) throw needsOwnChain("A recording");
  if (settings.mode !== "deterministic")
    throw refusal(
      "Time runs with the wall clock here. Start the sandbox with the option fresh and the option mode deterministic, or start one in another directory (the option dataDirectory).",
    );
  const head = await readNewestBlock(chain.client);
  const { collections } = await store.export();
  const isUsed = Object.values(collections).some((records) => Object.keys(records).length > 0);
  if (isUsed || head.hash !== chain.deployment.epochBlock.hash)
    throw refusal(`The sandbox has been used already, ${remedy}`);
  return head;
}

function refusal(message: string): SandboxError {
  return new SandboxError("scenario_refused", message);
}
