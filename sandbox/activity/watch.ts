import type { EIP1193RequestFn } from "viem";
import type { Deliver, Refusal, Services } from "../../server/services.ts";
import type { Store } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { Fault } from "../faults/fault.ts";
import { ChangeFeed } from "./change-feed.ts";
import { FaultLog } from "./fault-log.ts";
import { Metrics } from "./metrics.ts";
import { RefusalLog } from "./refusal-log.ts";
import { RequestLog } from "./request-log.ts";
import { RequestTracing } from "./request-tracing.ts";
import { type Watcher, watchRelayerJournal, watchStore } from "./watch-store.ts";

/** Sees what happens in a sandbox where it happens, and tells a feed. */
export class Watch {
  readonly feed = new ChangeFeed();
  readonly refusals = new RefusalLog(this.feed);
  readonly requests = new RequestLog(this.feed);
  readonly faultLog = new FaultLog();
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

  /** Sends a change for a new head of the chain. */
  readonly head = (): void => this.feed.note("blocks");
}
