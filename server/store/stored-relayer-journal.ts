import { attemptKey, type RelayOperationRecord } from "../../relayer/journal/relay-operation.ts";
import type { RelayerJournal } from "../../relayer/journal/relayer-journal.ts";
import type { Change, OrderedPage, Store } from "./store.ts";

/** The methods of a store that the journal needs. */
export interface RelayerJournalStore extends Pick<Store, "get" | "list" | "ordered" | "commit"> {
  /**
   * The records as they will be once every commit that was called is durable, for writes that build on those. A commit here is
   * refused when one of them is.
   */
  ahead(): Pick<Store, "get" | "ordered" | "commit">;
}

/** Keeps the relayer's journal in the one store of the sandbox. */
export function relayerJournal(store: RelayerJournalStore): RelayerJournal {
  return {
    async read(operationId) {
      const stored = await store.get("operations", operationId);
      return stored?.value;
    },

    async reread(attempt) {
      const stored = await store.get(collectionOf(attempt), attemptKey(attempt));
      return stored?.value;
    },

    superseded: async (current) => await readSuperseded(store, current),

    async unsettled() {
      const open = ["accepted", "signed", "broadcast", "mined", "needs_attention"] as const;
      const found = await Promise.all(
        open.flatMap((status) => [store.list("operations", { status }), store.list("attempts", { status })]),
      );
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
      return await byNonce(store, signer, epoch, { from: nonce - 1, reverse: true, limit });
    },

    async claimed(signer, fromNonce, epoch) {
      return await byNonce(store, signer, epoch, { from: fromNonce });
    },

    ahead() {
      const ahead = store.ahead();
      return { ...numbersOf(ahead), write: async (step) => await write(step, ahead) };
    },

    write: async (step) => await write(step, store),
  };
}

/** Reads the attempts of an operation before the current one, the first one first. */
export async function readSuperseded(
  store: Pick<Store, "get">,
  { operation_id, attempt }: Pick<RelayOperationRecord, "operation_id" | "attempt">,
): Promise<RelayOperationRecord[]> {
  const keys = Array.from({ length: attempt - 1 }, (_, index) =>
    attemptKey({ operation_id, attempt: index + 1, superseded: true }),
  );
  const found = await Promise.all(keys.map(async (key) => await store.get("attempts", key)));
  return found.flatMap((stored) => (stored === undefined ? [] : [stored.value]));
}

type Numbers = Pick<RelayerJournal, "budget" | "lastNonce">;

function numbersOf(store: Pick<Store, "get" | "ordered">): Numbers {
  return {
    async budget(program) {
      return (await store.get("budgets", program))?.value;
    },

    async lastNonce(signer, epoch) {
      const [last] = await byNonce(store, signer, epoch, { reverse: true, limit: 1 });
      return last?.nonce ?? undefined;
    },
  };
}

/** The attempts of a signer in an epoch, current and superseded ones, in the order of their nonces. */
async function byNonce(
  store: Pick<Store, "ordered">,
  signer: string,
  epoch: string,
  page: OrderedPage,
): Promise<RelayOperationRecord[]> {
  const both = await Promise.all([
    store.ordered("operations_by_nonce", [signer, epoch], page),
    store.ordered("attempts_by_nonce", [signer, epoch], page),
  ]);
  const direction = page.reverse === true ? -1 : 1;
  return both
    .flat()
    .map(({ value }) => value)
    .sort((left, right) => direction * ((left.nonce ?? 0) - (right.nonce ?? 0)))
    .slice(0, page.limit);
}

async function write(
  { operation, superseded, budget }: Parameters<RelayerJournal["write"]>[0],
  store: Pick<Store, "commit">,
): Promise<void> {
  const changes = [operation, ...(superseded ? [superseded] : [])].map((value): Change => {
    return { kind: "put", collection: collectionOf(value), key: attemptKey(value), value };
  });
  if (budget) changes.push({ kind: "put", collection: "budgets", key: budget.program, value: budget });
  await store.commit([], () => changes);
}

/** Current attempts are kept by the id of their operation, so that those are found and listed whatever their number. */
function collectionOf({ superseded }: Pick<RelayOperationRecord, "superseded">) {
  return superseded ? "attempts" : "operations";
}
