import type { Address } from "viem";
import { z } from "zod";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { RelayerContext } from "../context.ts";
import { RpcRefusedError } from "../errors.ts";
import { currentTransaction, type RelayOperationRecord } from "../journal/relay-operation.ts";
import { askNode, type Node, readNonce, sendRaw } from "../node/node.ts";

const poolSchema = z.object({
  queued: z.record(z.string(), z.record(z.string(), z.object({ hash: z.string() }))),
});

/**
 * Frees a signer whose next transaction the node has and will never mine, so that all behind it wait in vain.
 *
 * Anvil takes a transaction that arrives while its predecessor is mined for one with a gap before it, and keeps it
 * so. The signer's transactions are taken out of the pool and sent again in order, as the same bytes.
 *
 * @returns whether the signer was stranded.
 */
export function freeStranded(
  context: RelayerContext,
  { from, epoch, nonce }: RelayOperationRecord,
): Promise<boolean> {
  const { node, journal } = context;
  return context.locks.run(`free:${from}`, async () => {
    const next = await readNonce(node, from);
    if (nonce === null || nonce < next) return false;
    const queued = await queuedHashes(node, from);
    if (queued === null) return false;
    const waiting = (await journal.claimed(from, next, epoch)).filter(
      ({ hash }) => hash !== null && queued.has(hash),
    );
    if (waiting[0]?.nonce !== next) return false;
    await askNode(node, "anvil_removePoolTransactions", [from], z.unknown());
    // One that has just been mined is refused, which is as good.
    for (const { raw } of waiting.map(currentTransaction))
      await sendRaw(node, raw).catch((error: unknown) => {
        if (!(error instanceof RpcRefusedError)) throw error;
      });
    return true;
  });
}

/** Returns null for a node that does not show its pool: only Anvil has stranded transactions. */
async function queuedHashes(node: Node, from: Address): Promise<Set<string> | null> {
  const pool = await askNode(node, "txpool_content", [], poolSchema).catch((error: unknown) => {
    if (!(error instanceof RpcRefusedError)) throw error;
  });
  if (pool === undefined) return null;
  const { queued } = pool;
  const own = Object.entries(queued).filter(([address]) => sameAddress(address, from));
  return new Set(own.flatMap(([, waiting]) => Object.values(waiting).map(({ hash }) => hash)));
}
