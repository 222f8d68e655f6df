import type { CollectionName, Collections } from "../../server/store/records.ts";
import type { Change, Store, StoreImage } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { ChangeTopic } from "../explorer/views.ts";
import { withMethods } from "../lib/with-methods.ts";

/** The topic of the explorer for each collection that it shows; credentials and idempotency keys are never shown. */
const topics: { readonly [C in CollectionName]?: ChangeTopic } = {
  merchants: "merchants",
  purchases: "purchases",
  claims: "purchases",
  decisions: "purchases",
  refunds: "purchases",
  submissions: "purchases",
  events: "events",
  notifications: "events",
  receipts: "events",
  key_generations: "keys",
  operations: "operations",
  attempts: "operations",
  budgets: "operations",
};

/** Called with what became of a store. */
export interface Watcher {
  /** Records of a topic were changed; which purchases they are about, where that is known. */
  committed: (topic: ChangeTopic, purchases: readonly string[]) => void;
  /** Everything was replaced. */
  replaced: () => void;
  /** An event was written. */
  eventWritten: (id: string) => void;
  /** A relay operation was written. */
  operationWritten: (id: string, operation: Collections["operations"]) => void;
}

/**
 * Returns a store whose commits are reported once they are durable.
 *
 * @example const watched = watchStore(store, { committed: (topic) => feed.note(topic), replaced: () => feed.note("everything"), … })
 */
export function watchStore(store: Store, watcher: Watcher): Store {
  return withMethods(store, {
    commit: watchCommits(store, watcher),
    async import(image: StoreImage) {
      await store.import(image);
      watcher.replaced();
    },
  });
}

/** Returns the relayer's journal with its commits told as {@link watchStore} tells them. */
export function watchRelayerJournal(journal: RelayerJournalStore, watcher: Watcher): RelayerJournalStore {
  return withMethods(journal, {
    commit: watchCommits(journal, watcher),
    ahead() {
      const ahead = journal.ahead();
      return withMethods(ahead, { commit: watchCommits(ahead, watcher) });
    },
  });
}

function watchCommits(store: Pick<Store, "commit">, watcher: Watcher): Store["commit"] {
  return async (counters, build) => {
    let written: readonly Change[] = [];
    await store.commit(counters, (numbers) => {
      written = build(numbers);
      return written;
    });
    tell(written, watcher);
  };
}

function tell(changes: readonly Change[], { committed, eventWritten, operationWritten }: Watcher): void {
  for (const change of changes) {
    if (change.collection === "events" && change.kind === "insert") eventWritten(change.key);
    if (change.collection === "operations" && change.kind !== "delete")
      operationWritten(change.key, change.value);
    const topic = topics[change.collection];
    if (topic !== undefined) committed(topic, purchasesOf(change));
  }
}

/** The purchases whose timeline a change is part of. */
function purchasesOf(change: Change): string[] {
  if (change.kind === "delete") return [];
  switch (change.collection) {
    case "purchases":
      return [change.key];
    case "claims":
    case "refunds":
      return [change.value.purchase_id];
    case "decisions":
      return [change.value.statement.purchase];
    case "operations":
    case "attempts":
    case "events":
    case "submissions": {
      const { subject } = change.value;
      const id = typeof subject === "string" ? subject : subject.id;
      return id.startsWith("pur_") ? [id] : [];
    }
    default:
      return [];
  }
}
