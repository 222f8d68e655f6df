import type { Hex } from "viem";
import { readIdentity } from "./chain-epoch.ts";
import type { RelayerContext } from "./context.ts";
import { driveAlone } from "./drive.ts";
import { readNonce } from "./node.ts";
import type { OperationRecord } from "./operation.ts";

/**
 * Takes up what an earlier process left: first every claimed nonce in order, from receipts to rebroadcast, then what was
 * only accepted. Operations of another epoch are left alone.
 */
export async function recover(context: RelayerContext): Promise<void> {
  const { epoch } = await readIdentity(context);
  const unsettled = (await context.journal.unsettled()).filter((operation) => operation.epoch === epoch);
  const unmined = await claimedButUnmined(context, epoch);

  const inOrder = [...unsettled, ...unmined].sort(byNonce).map(({ operation_id }) => operation_id);
  const ids = [...new Set(inOrder)];
  for (const id of ids) await driveAlone(context, id, "never");
  await Promise.all(ids.map((id) => driveAlone(context, id, "always")));
}

// Settled operations can be among these: their blocks may have left the chain while nobody looked.
async function claimedButUnmined(context: RelayerContext, epoch: Hex): Promise<OperationRecord[]> {
  const found: OperationRecord[] = [];
  for (const signer of context.accounts.keys()) {
    const chainNonce = await readNonce(context.node, signer);
    found.push(...(await context.journal.claimed(signer, chainNonce, epoch)));
  }
  return found;
}

// Without a nonce last: they will claim higher ones.
function byNonce(left: OperationRecord, right: OperationRecord): number {
  const order = (left.nonce ?? Number.MAX_SAFE_INTEGER) - (right.nonce ?? Number.MAX_SAFE_INTEGER);
  return order === 0 ? left.sequence - right.sequence : order;
}
