import type { EIP1193RequestFn } from "viem";
import { AbortController } from "../../protocol/globals.ts";
import type { BlockPoint } from "../../server/chain/chain-reader.ts";
import type { Services } from "../../server/http/services.ts";
import type { Store } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { Fault } from "../faults/fault.ts";
import { SandboxFaults } from "../faults/faults.ts";
import type { ClosingStack } from "../lib/closing-stack.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import { Waits } from "../lib/time/waits.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { StartDeadline } from "../options/start-deadline.ts";
import type { Cluster } from "./cluster.ts";
import { type ConnectedService, connectService, type ServiceProcess } from "./connect-service.ts";
import { followHeads, type HeadFollower } from "./follow-heads.ts";
import type { RequestCounter } from "./request-counter.ts";

/** Sees what one process of a sandbox does. */
export interface Observer {
  /** Returns a store whose commits and restores are seen. */
  store(store: Store): Store;
  /** Returns a journal whose commits are seen. */
  relayerJournal(journal: RelayerJournalStore): RelayerJournalStore;
  /** Called with all faults when some were set, cleared or restored. */
  faultsChanged(faults: readonly Fault[]): void;
  refused: Services["refused"];
  answered: Services["answered"];
  /** Returns a node whose calls are noted at the request that needs them. */
  noteCalls: (request: EIP1193RequestFn) => EIP1193RequestFn;
  /** Returns a delivery that is observed. */
  watchDeliver: (deliver: Services["deliver"]) => Services["deliver"];
  /** Called when another process has committed. */
  changedElsewhere(): void;
  /** Called with a new head of the chain; null for the one of now. */
  head(head: BlockPoint | null): void;
}

/**
 * The resources that a start has opened: `opened` is closed in the end, `bound` (the ports) when no further request
 * shall come.
 */
export interface StartingProcess {
  opened: ClosingStack;
  bound: ClosingStack;
  deadline: StartDeadline;
}

/** A process of a sandbox that is about to answer. */
export type ProcessParts = Pick<ServiceProcess, "settings" | "log" | "chain" | "urls" | "receiver"> & {
  cluster: Cluster;
  observer: Observer;
  gate: RequestGate;
  requests: RequestCounter;
};

/** The first process of a sandbox, with its chain. */
export type SandboxProcess = ProcessParts & { settings: SandboxSettings; chain: ChainNode };

/** The service of one process, which leads or follows. */
export interface StartedService extends ConnectedService {
  store: Store;
  faults: SandboxFaults;
  gate: RequestGate;
  requests: RequestCounter;
  waits: Waits;
  /** Has the process begin no further delivery attempt. */
  stopDeliveries: () => void;
}

/**
 * Connects the service, equally in the process that owns the chain and in those that join it, and waits until a process leads.
 *
 * Closing `opened` ends the deliveries, then closes the ports, and then the relayer, once it is done with the last requests.
 */
export async function startService(
  { cluster, observer, ...process }: ProcessParts,
  { opened, bound, deadline }: StartingProcess,
): Promise<StartedService> {
  const { gate, requests, urls } = process;
  const store = observer.store(cluster.store);
  const closing = new AbortController();
  const waits = new Waits();
  const faults: SandboxFaults = new SandboxFaults({
    programs: process.settings.programs.map(({ id }) => id),
    request: process.chain.request,
    isOwnChain: process.chain.isOwn,
    receiver: process.receiver,
    changed: () => observer.faultsChanged(faults.list()),
  });
  const connected = connectService({
    ...process,
    store,
    recordsId: cluster.recordsId,
    relayerJournal: observer.relayerJournal(cluster.relayerJournal),
    faults,
    waits,
    closing: closing.signal,
    wrapRelayer: (own) => cluster.leading(own),
    forwardToLeader: cluster.forwarding(urls.api),
    refused: observer.refused,
    answered: observer.answered,
    noteCalls: observer.noteCalls,
    watchDeliver: observer.watchDeliver,
  });
  const { relayer } = connected;
  opened.defer(async () => await relayer.drain());
  // The service continues requests whose client has gone.
  opened.defer(async () => void (await gate.settle()));
  opened.use(bound.move());
  const stopDeliveries = () => closing.abort();
  opened.defer(stopDeliveries);
  await deadline.within(
    cluster.awaited,
    cluster.lead(urls.api, relayer, () => observer.changedElsewhere()),
  );
  return { ...connected, store, faults, gate, requests, waits, stopDeliveries };
}

/** Publishes what processes that join have to know. */
export async function publishProcess(process: SandboxProcess): Promise<void> {
  await process.cluster.publish({ ...process, receiver: process.receiver.receiver });
}

/** Has the relayer of a started service follow the chain until the process closes. */
export async function followChain(
  watchHeads: ChainNode["watchHeads"],
  { relayer, gate, services }: StartedService,
  { observer, ended }: { observer: Observer; ended?: () => void },
  { opened, deadline }: StartingProcess,
): Promise<HeadFollower> {
  const following = followHeads({
    watchHeads,
    relayer,
    gate,
    log: services.log,
    announce: (head) => {
      if (head !== null) services.chain.expect(head);
      observer.head(head);
    },
    ...(ended === undefined ? {} : { ended }),
  });
  const follower = await deadline.within("the chain to respond", following, async (late) => await late.end());
  opened.defer(async () => await follower.end());
  return follower;
}
