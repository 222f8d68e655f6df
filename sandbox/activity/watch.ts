import type { EIP1193RequestFn } from "viem";
import type { BlockPoint } from "../../server/chain/chain-reader.ts";
import type { Deliver, Refusal, Services } from "../../server/http/services.ts";
import type { CollectionName, Collections } from "../../server/store/records.ts";
import type { Change, Store, StoreImage } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { Fault } from "../faults/fault.ts";
import { withMethods } from "../lib/with-methods.ts";
import { ChangeFeed } from "./change-feed.ts";
import { FaultLog } from "./fault-log.ts";
import { HeadLog } from "./head-log.ts";
import { Metrics } from "./metrics.ts";
import { RefusalLog } from "./refusal-log.ts";
import { RequestLog } from "./request-log.ts";
import { RequestTracing } from "./request-tracing.ts";
import type { ChangeTopic } from "./views.ts";

/** Sees what happens in a sandbox where it happens, and tells a feed. */
export class Watch {
  readonly feed = new ChangeFeed();
  readonly refusals = new RefusalLog(this.feed);
  readonly requests = new RequestLog(this.feed);
  readonly faultLog = new FaultLog();
  readonly heads = new HeadLog();
  readonly tracing = new RequestTracing();
  readonly metrics = new Metrics();

  readonly #watcher: Watcher = {
    committed: (topic, purchases) => this.feed.note(topic, purchases),
    replaced: () => this.feed.note("everything"),
    eventWritten: (id) => this.tracing.caused(id),
    operationWritten: (id, operation) => this.metrics.relayed(id, operation),
  };

  /** A store whose commits and restores are seen. */
  store(store: Store): Store {
    return watchStore(store, this.#watcher);
  }

  /** A journal whose commits are seen. */
  relayerJournal(journal: RelayerJournalStore): RelayerJournalStore {
    return watchRelayerJournal(journal, this.#watcher);
  }

  /** Sends a change when faults were set, cleared or restored. */
  readonly faultsChanged = (faults: readonly Fault[]): void => {
    this.faultLog.changed(faults);
    this.feed.note("faults");
  };

  /** Records and sends a refusal of a transaction. */
  readonly refused = async (refusal: Refusal): Promise<void> => this.refusals.record(refusal);

  /** Keeps and sends a request that was answered. */
  readonly answered: Services["answered"] = (request) => {
    this.metrics.answered(request, this.requests.answered(request));
  };

  /** Returns a delivery with the trace of the request that caused the event, and counts its attempts. */
  readonly watchDeliver =
    (deliver: Deliver): Deliver =>
    async (headers, body, releaseGate) => {
      const traced = { ...headers, ...this.tracing.headersOf(headers["webhook-id"]) };
      const outcome = await deliver(traced, body, releaseGate);
      this.metrics.delivered(outcome);
      return outcome;
    };

  /** Returns a node whose calls are noted at the request that needs them. */
  readonly noteCalls = (request: EIP1193RequestFn): EIP1193RequestFn => this.requests.noteCalls(request);

  /** Sends a change when a database says that a process has committed. */
  readonly changedElsewhere = (): void => this.feed.note("everything");

  /** Notes and sends a new head of the chain; null for the one of now. */
  readonly head = (head: BlockPoint | null): void => {
    if (head !== null) this.heads.note(head.number);
    this.feed.note("blocks");
  };
}

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
interface Watcher {
  /** Records of a topic were changed; which purchases they are about, where that is known. */
  committed: (topic: ChangeTopic, purchases: readonly string[]) => void;
  /** Everything was replaced. */
  replaced: () => void;
  /** An event was written. */
  eventWritten: (id: string) => void;
  /** A relay operation was written. */
  operationWritten: (id: string, operation: Collections["operations"]) => void;
}

/** Returns a store whose commits are reported once they are durable. */
function watchStore(store: Store, watcher: Watcher): Store {
  return withMethods(store, {
    commit: watchCommits(store, watcher),
    async import(image: StoreImage) {
      await store.import(image);
      watcher.replaced();
    },
  });
}

/** Returns the relayer's journal with its commits told as {@link watchStore} tells them. */
function watchRelayerJournal(journal: RelayerJournalStore, watcher: Watcher): RelayerJournalStore {
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
