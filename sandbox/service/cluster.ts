import type { Relayer } from "../../relayer/relayer.ts";
import type { Services } from "../../server/http/services.ts";
import type { Store } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { PinnedReceiver } from "../lib/http/pin-receiver.ts";
import type { SandboxUrls } from "../options/description.ts";
import type { SandboxSettings } from "../options/settings.ts";

/** The processes that answer for one sandbox, as one of them sees the others, and the store that they share. */
export interface Cluster extends AsyncDisposable {
  readonly store: Store;
  /** Tells these records from earlier ones about the chain of the same node, so that none gets an id that the chain has; empty on its own chain. */
  readonly recordsId: string;
  /** The store of the relayer's journal. */
  readonly relayerJournal: RelayerJournalStore;
  /** The event that a start waits for here, as in "the chain to respond". */
  readonly awaited: string;
  /** Returns a relayer that follows the chain only while this process leads. */
  leading(relayer: Relayer): Relayer;
  /** Forwards requests with an effect to the leader; `ownUrl` is where this process answers. */
  forwarding(ownUrl: string): Services["forwardToLeader"];
  /** Has this process lead whenever no other one does; resolves when one leads. `changed` is called when another process has committed. */
  lead(apiUrl: string, relayer: Relayer, changed: () => void): Promise<void>;
  /** Runs a step while no other process is in the cluster. @throws SandboxError sandbox_shared */
  runAsOnlyProcess<T>(step: () => Promise<T>): Promise<T>;
  /** Tells the processes that join what they need to know. */
  publish(sandbox: {
    settings: SandboxSettings;
    chain: ChainNode;
    urls: SandboxUrls;
    receiver: PinnedReceiver;
  }): Promise<void>;
}
