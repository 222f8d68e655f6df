import type { Address, Hex } from "viem";
import type { Journal } from "../../relayer/journal.ts";
import type { OperationRecord } from "../../relayer/operation.ts";
import type { Store } from "./store.ts";

/**
 * Keeps the relayer's journal in the one store of the sandbox.
 *
 * @example createRelayer({ journal: relayerJournal(store), … })
 */
export function relayerJournal(store: Store): Journal {
  return {
    async read(operationId) {
      return (await store.get("operations", operationId))?.value;
    },

    async unsettled() {
      const open = ["accepted", "signed", "broadcast", "mined", "needs_attention"] as const;
      const found = await Promise.all(open.map((status) => store.list("operations", { status })));
      return found
        .flat()
        .map(({ value }) => value)
        .sort((left, right) => left.sequence - right.sequence);
    },

    async list(program, page) {
      const { after, limit, status } = page;
      const filter = status === undefined ? { program } : { program, status };
      const found = await store.list("operations", filter, { after, limit });
      return found.map(({ value }) => value);
    },

    async budget(program) {
      return (await store.get("budgets", program))?.value;
    },

    async lastNonce(signer, epoch) {
      const nonces = (await claimedBy(signer, epoch)).map(({ nonce }) => nonce ?? -1);
      const highest = Math.max(-1, ...nonces);
      return highest < 0 ? undefined : highest;
    },

    async claimed(signer, fromNonce, epoch) {
      const operations = await claimedBy(signer, epoch);
      return operations
        .filter(({ nonce }) => nonce !== null && nonce >= fromNonce)
        .sort((left, right) => (left.nonce ?? 0) - (right.nonce ?? 0));
    },

    write({ operation, budget }) {
      return store.commit([], () => [
        { kind: "put", collection: "operations", key: operation.operation_id, value: operation },
        ...(budget
          ? [{ kind: "put", collection: "budgets", key: budget.program, value: budget } as const]
          : []),
      ]);
    },
  };

  async function claimedBy(signer: Address, epoch: Hex): Promise<OperationRecord[]> {
    const operations = await store.list("operations", { from: signer });
    return operations
      .map(({ value }) => value)
      .filter((value) => value.epoch === epoch && value.nonce !== null);
  }
}
