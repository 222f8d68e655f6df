import type { Journal } from "../../relayer/journal.ts";
import type { Store } from "./store.ts";

/** What the journal needs of a store. */
export interface JournalStore extends Pick<Store, "get" | "list" | "ordered" | "commit"> {
  /**
   * The records as they will be once every commit that was called is durable, for writes that build on those. What is committed here is
   * refused when one of them is.
   */
  ahead(): Pick<Store, "get" | "ordered" | "commit">;
}

/**
 * Keeps the relayer's journal in the one store of the sandbox.
 *
 * @example createRelayer({ journal: relayerJournal(store), … })
 */
export function relayerJournal(store: JournalStore): Journal {
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

    async list(program, { after, limit, status }) {
      const last = after === undefined ? undefined : (await store.get("operations", after))?.value;
      const page = { from: (last?.sequence ?? 0) + 1, limit };
      const found =
        status === undefined
          ? await store.ordered("operations_by_sequence", [program], page)
          : await store.ordered("operations_by_status", [program, status], page);
      return found.map(({ value }) => value);
    },

    ...numbersOf(store),

    async claimedBelow(signer, nonce, epoch, limit) {
      const page = { from: nonce - 1, reverse: true, limit };
      const found = await store.ordered("operations_by_nonce", [signer, epoch], page);
      return found.map(({ value }) => value);
    },

    async claimed(signer, fromNonce, epoch) {
      const found = await store.ordered("operations_by_nonce", [signer, epoch], { from: fromNonce });
      return found.map(({ value }) => value);
    },

    ahead() {
      const ahead = store.ahead();
      return { ...numbersOf(ahead), write: async (step) => await write(step, ahead) };
    },

    write: async (step) => await write(step, store),
  };
}

type Numbers = Pick<Journal, "budget" | "lastNonce">;

function numbersOf(store: Pick<Store, "get" | "ordered">): Numbers {
  return {
    async budget(program) {
      return (await store.get("budgets", program))?.value;
    },

    async lastNonce(signer, epoch) {
      const [last] = await store.ordered("operations_by_nonce", [signer, epoch], { reverse: true, limit: 1 });
      return last?.value.nonce ?? undefined;
    },
  };
}

async function write(
  { operation, budget }: Parameters<Journal["write"]>[0],
  store: Pick<Store, "commit">,
): Promise<void> {
  await store.commit([], () => [
    { kind: "put", collection: "operations", key: operation.operation_id, value: operation },
    ...(budget ? [{ kind: "put", collection: "budgets", key: budget.program, value: budget } as const] : []),
  ]);
}
