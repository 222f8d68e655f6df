import type { EIP1193RequestFn } from "viem";
import type { Log, Services } from "../../server/services.ts";
import type { Store } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { Observer } from "../service/start-service.ts";
import { tellRefusals } from "./refusals.ts";

/**
 * The observer in a process that joined: the explorer is in the first process, which the database tells of commits;
 * refusals are sent to it here.
 */
export class MemberObserver implements Observer {
  readonly refused: Services["refused"];

  constructor(controlUrl: string, log: Log) {
    this.refused = tellRefusals(controlUrl, log);
  }

  store(store: Store): Store {
    return store;
  }

  relayerJournal(journal: RelayerJournalStore): RelayerJournalStore {
    return journal;
  }

  /** The request log is in the first process, and has only the requests of that one. */
  answered(): void {}

  noteCalls(request: EIP1193RequestFn): EIP1193RequestFn {
    return request;
  }

  watchDeliver(deliver: Services["deliver"]): Services["deliver"] {
    return deliver;
  }

  faultsChanged(): void {}

  changedElsewhere(): void {}

  head(): void {}
}
