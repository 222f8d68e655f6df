import { z } from "zod";
import type { RelayerContext } from "../context.ts";
import { isAutomining, startAutomine } from "../node/mining.ts";
import { ask, type Node } from "../node/node.ts";
import type { FaultState } from "./fault.ts";

/** Runs one change of how the node mines at a time: each reads how it mines, and puts that back later. */
export function changeMining(context: RelayerContext, change: () => Promise<void>): Promise<void> {
  return context.locks.run("mining", change);
}

/** Pauses mining, and keeps how the node mined. */
export async function pauseMining(context: RelayerContext): Promise<void> {
  const { node, faults } = context;
  const automine = await isAutomining(node);
  const interval = await ask(node, "anvil_getIntervalMining", [], z.number().nullable());
  faults.rememberMining({ automine, interval });
  await stopMining(node);
}

async function stopMining(node: Node): Promise<void> {
  await ask(node, "evm_setAutomine", [false], z.unknown());
  await ask(node, "evm_setIntervalMining", [0], z.unknown());
}

/** Restores faults, and the pause of mining that one of them has caused. */
export async function restoreFaults(context: RelayerContext, state: FaultState): Promise<void> {
  await changeMining(context, async () => {
    await clear(context);
    context.faults.restore(state);
    if (state.mining !== null) await stopMining(context.node);
  });
}

/** Clears all faults and resumes mining; what waited is mined when this returns. */
export async function clearFaults(context: RelayerContext): Promise<void> {
  await changeMining(context, async () => await clear(context));
}

async function clear(context: RelayerContext): Promise<void> {
  const mining = context.faults.clear();
  if (mining === null) return;
  if (mining.interval !== null)
    await ask(context.node, "evm_setIntervalMining", [mining.interval], z.unknown());
  if (mining.automine) await startAutomine(context.node);
}
