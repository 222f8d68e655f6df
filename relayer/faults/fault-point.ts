import type { Address } from "viem";
import { z } from "zod";
import type { RelayerContext } from "../context.ts";
import { FaultInvalidError, RpcUnavailableError, SignerUnknownError } from "../errors.ts";
import { isAutomining, startAutomine } from "../node/mining.ts";
import { ask, type Node, readNonce, readReceipt, sendRaw } from "../node/node.ts";
import type { FaultPoint, FaultState, FaultSubject } from "./fault.ts";
import { lookUntil } from "./look-until.ts";
import { reorganize } from "./reorg.ts";

/** A fault holds the operation here; it stays as the journal has it. */
export class HeldError extends Error {}

/** Lets the faults act that are set at a point of the path. */
export async function reach(
  context: RelayerContext,
  point: FaultPoint,
  subject: FaultSubject,
): Promise<void> {
  const { faults } = context;
  if (faults.take(point, "pause_mining", subject)) await changeMining(context, () => pauseMining(context));
  const reorg = faults.take(point, "reorg", subject);
  if (reorg) await changeMining(context, () => reorganize(context, reorg.depth));
  if (faults.take(point, "crash", subject)) {
    if (!context.crash) throw new FaultInvalidError("This relayer was not given a way to crash.");
    await context.crash(point);
  }
  if (faults.take(point, "hold", subject))
    throw new HeldError(`${subject.operation_id} is held at ${point}.`);
}

/** Another program with the signer's key sends a transaction of its own, and it is mined. */
export async function useForeignNonce(context: RelayerContext, signer: Address): Promise<void> {
  const { node } = context;
  const account = context.accounts.get(signer);
  if (!account) throw new SignerUnknownError(signer);
  const { chainId } = await context.chain.identity();
  const nonce = await readNonce(node, signer);
  const { maxFeePerGas, maxPriorityFeePerGas } = context.fees;
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId,
    nonce,
    to: signer,
    value: 0n,
    gas: 21_000n,
    maxFeePerGas: maxFeePerGas * 2n,
    maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
  });
  const hash = await sendRaw(node, raw);
  // Foreign use counts once it is mined, and exactly one block may be made for it.
  if (!(await isAutomining(node))) await ask(node, "evm_mine", [], z.unknown());
  const isMined = await lookUntil(async () => (await readReceipt(node, hash)) !== null, context);
  if (!isMined) throw new RpcUnavailableError("The foreign transaction", new Error("it was not mined"));
}

/** One at a time: each reads how the node mines and puts that back later. */
function changeMining(context: RelayerContext, change: () => Promise<void>): Promise<void> {
  return context.locks.run("mining", change);
}

async function pauseMining(context: RelayerContext): Promise<void> {
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

/** Puts faults back as they were; a pause of mining that they had caused is there again. */
export async function restoreFaults(context: RelayerContext, state: FaultState): Promise<void> {
  await changeMining(context, async () => {
    await clear(context);
    context.faults.restore(state);
    if (state.mining !== null) await stopMining(context.node);
  });
}

/** Takes every fault away; the node mines as it did, and has mined what waited when this returns. */
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
