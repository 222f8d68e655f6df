import type { Relayer } from "../../relayer/relayer.ts";
import type { Services } from "../../server/http/services.ts";
import { type JournaledStore, openEphemeralStore } from "../../server/store/journaled/journaled-store.ts";
import type { Store } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { StartDeadline } from "../options/start-deadline.ts";
import type { Cluster } from "../service/cluster.ts";

/** A process that shares its store with no other. */
class ClusterOfOne implements Cluster {
  readonly store: Store;
  readonly recordsId: string;
  readonly relayerJournal: RelayerJournalStore;
  readonly awaited = "the chain to respond";

  constructor(store: JournaledStore, recordsId: string) {
    this.store = store;
    this.recordsId = recordsId;
    this.relayerJournal = store;
  }

  leading(relayer: Relayer): Relayer {
    return relayer;
  }

  forwarding(): Services["forwardToLeader"] {
    return async () => null;
  }

  async lead(_apiUrl: string, relayer: Relayer): Promise<void> {
    await relayer.recover();
  }

  async runAsOnlyProcess<T>(step: () => Promise<T>): Promise<T> {
    return await step();
  }

  async publish(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/**
 * Opens the store that the settings name, in memory, a directory or PostgreSQL, and takes a place among the processes that share it.
 *
 * @param kept - where a data directory keeps chain and records, null in memory, and the id of these records.
 * @throws SandboxError database_mismatch, database_in_use; StoreUnavailableError, DatabaseUrlError.
 */
export async function openCluster(
  settings: SandboxSettings,
  chain: ChainNode,
  { store: journal, recordsId }: { store: JournaledStore | null; recordsId: string },
  deadline: StartDeadline,
): Promise<Cluster> {
  const { store } = settings;
  if (store === undefined) return new ClusterOfOne(journal ?? openEphemeralStore(), recordsId);
  // Without a database, nothing of its client is loaded.
  const { openShared } = await import("./shared-store.ts");
  const opening = openShared({ ...settings, store }, chain, journal);
  return await deadline.within(
    "the database to respond",
    opening,
    async (late) => await late[Symbol.asyncDispose](),
  );
}
