import type { RelayerContext } from "../context.ts";
import { attemptKey, type RelayOperationRecord } from "../journal/relay-operation.ts";
import { readChainIdentity } from "../node/chain-epoch.ts";
import { readHeadBlock } from "../node/node.ts";
import { driveLocked } from "../submission/drive.ts";
import { findReorged } from "./find-reorged.ts";

/**
 * Takes up what an earlier process left: first every claimed nonce in order, from transaction receipts to rebroadcast, then what was
 * only accepted. Operations of another epoch are left alone.
 */
export async function recover(context: RelayerContext): Promise<void> {
  const { epoch } = await readChainIdentity(context);
  const unsettled = (await context.journal.unsettled()).filter((operation) => operation.epoch === epoch);
  // Settled operations can be among these: a reorg may have removed their blocks while the relayer was not running.
  const head = await readHeadBlock(context.node);
  const elsewhere = await findReorged(context, epoch, await context.trail.fork(context.node, head));

  const found = new Map([...unsettled, ...elsewhere].map((attempt) => [attemptKey(attempt), attempt]));
  const inOrder = [...found.values()].sort(byNonce);
  for (const attempt of inOrder) await driveLocked(context, attempt, "never");
  await Promise.all(inOrder.map((attempt) => driveLocked(context, attempt, "always")));
}

// Without a nonce last: they will claim higher ones.
function byNonce(left: RelayOperationRecord, right: RelayOperationRecord): number {
  const order = (left.nonce ?? Number.MAX_SAFE_INTEGER) - (right.nonce ?? Number.MAX_SAFE_INTEGER);
  return order === 0 ? left.sequence - right.sequence : order;
}
