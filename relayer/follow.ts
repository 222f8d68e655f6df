import type { Address, Hex } from "viem";
import { readIdentity } from "./chain-epoch.ts";
import type { RelayerContext } from "./context.ts";
import { driveAlone, type Patience } from "./drive.ts";
import { RelayerError } from "./errors.ts";
import { readBlockHash } from "./node.ts";
import type { OperationRecord } from "./operation.ts";

/** How many operations are read at a time on the way down to one that still stands. */
const stride = 8;

/**
 * Looks at everything that a new head may have changed, in the order of nonces; one such look at a time.
 *
 * A node that does not answer, or is in another life of the chain, leaves everything as the journal has it.
 */
export function follow(context: RelayerContext, patience: Patience): Promise<void> {
  return context.locks.run("follow", async () => {
    try {
      for (const { operation_id } of await affected(context)) {
        // Whoever holds it looks at it too.
        if (context.locks.isHeld(`operation:${operation_id}`)) continue;
        await driveAlone(context, operation_id, patience);
      }
    } catch (error) {
      if (!(error instanceof RelayerError)) throw error;
    }
  });
}

async function affected(context: RelayerContext): Promise<OperationRecord[]> {
  const { journal } = context;
  // What needs attention waits for a person, and what has no nonce yet for whoever wants it.
  const waiting = (await journal.unsettled()).filter(
    ({ nonce, status }) => nonce !== null && status !== "needs_attention",
  );
  const { epoch } = await readIdentity(context);
  const found = new Map(waiting.filter((one) => one.epoch === epoch).map((one) => [one.operation_id, one]));
  for (const signer of context.accounts.keys())
    for (const operation of await unfounded(context, signer, epoch))
      found.set(operation.operation_id, operation);
  return [...found.values()].sort((left, right) => (left.nonce ?? 0) - (right.nonce ?? 0));
}

/**
 * The signer's operations that are on no block of the chain. Transactions of one signer are mined in the order of their
 * nonces, so that below one that stands all others stand too.
 */
async function unfounded(context: RelayerContext, signer: Address, epoch: Hex): Promise<OperationRecord[]> {
  const { journal, node } = context;
  const found: OperationRecord[] = [];
  const newest = await journal.lastNonce(signer, epoch);
  for (let below = (newest ?? -1) + 1; below > 0; ) {
    const page = await journal.claimedBelow(signer, below, epoch, stride);
    for (const operation of page) {
      const { block_number: number, block_hash: hash } = operation;
      if (number !== null && (await readBlockHash(node, number)) === hash) return found;
      found.push(operation);
    }
    below = page.at(-1)?.nonce ?? 0;
  }
  return found;
}
