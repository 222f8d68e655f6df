import { randomInt } from "node:crypto";
import type { EIP1193RequestFn } from "viem";
import { z } from "zod";
import { toNode } from "../../relayer/node/node.ts";
import { createApp } from "../../server/app.ts";
import { ChainUnavailableError } from "../../server/chain/chain-reader.ts";
import { discoveryResources } from "../../server/documentation/discovery.ts";
import { problemRefusals } from "../../server/http/answers/refusal-form.ts";
import type { Log, Services } from "../../server/http/services.ts";
import { receiveNotification } from "../../server/notifications/receive-notification.ts";
import { operations } from "../../server/operations.ts";
import { apiPages } from "../../server/pages/api-pages.ts";
import type { Store } from "../../server/store/store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import { RequestTracing } from "../activity/request-tracing.ts";
import { createChainClient } from "../chain/client/chain-client.ts";
import { nodeSocket } from "../chain/client/node-socket.ts";
import { guardReorgs, MiningGate } from "../chain/client/reorg.ts";
import { watchAnvil } from "../chain/client/watch-heads.ts";
import type { ClockMode, SandboxClock } from "../chain/clock/clock.ts";
import { toSeconds } from "../chain/clock/duration.ts";
import { connectChain } from "../chain/connection/connect-chain.ts";
import { type Network, readNetwork } from "../chain/connection/network.ts";
import type { NetworkOption } from "../chain/connection/network-option.ts";
import { ownTerms } from "../chain/sending-terms.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { ClosingStack } from "../lib/closing-stack.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { listen } from "../lib/http/listen.ts";
import { RequestGate } from "../lib/http/request-gate.ts";
import { defaultStartTimeoutMs } from "../options/defaults.ts";
import { checkOptions } from "../options/options.ts";
import { pagesOf } from "../options/pages-of-ports.ts";
import { StartDeadline } from "../options/start-deadline.ts";
import { ReceiverPin } from "../receiver/receiver-pin.ts";
import { askControl, type ControlMethod } from "../service/ask-control.ts";
import type { ServiceProcess } from "../service/connect-service.ts";
import { RequestCounter } from "../service/request-counter.ts";
import { followChain, type Observer, startService } from "../service/start-service.ts";
import { keptByFirst } from "./kept-chain.ts";
import { tellRefusals } from "./refusals.ts";
import { type SharedSandbox, SharedStore } from "./shared-store.ts";

/** A process that answers the API of a sandbox which another one runs. */
export interface JoinedSandbox extends AsyncDisposable {
  /** The URL of its API. */
  apiUrl: string;
  /** Resolves when the chain has ended. */
  ended: Promise<void>;
}

/**
 * Joins the sandbox that runs on a database: the API on a port of its own, on the same chain, the same records and the same clock.
 *
 * @param options - `store`, the URL of the database; `apiPort`, 0 for any free one; `startTimeoutMs`, how long this may take, 30,000 by
 * default; `network`, the node of a sandbox that is connected to one.
 * @throws SandboxError option_invalid, database_mismatch, port_in_use, start_timeout; StoreUnavailableError, DatabaseUrlError.
 * @example await using joined = await joinSandbox({ store: "postgres://localhost/sandbox", apiPort: 0, log });
 */
export async function joinSandbox(options: {
  store: string;
  apiPort: number;
  startTimeoutMs?: number;
  network?: NetworkOption;
  log: Log;
}): Promise<JoinedSandbox> {
  const { startTimeoutMs = defaultStartTimeoutMs } = options;
  checkOptions({ startTimeoutMs });
  const deadline = new StartDeadline(startTimeoutMs);
  return await deadline.run(async () => await openJoined(options, deadline));
}

async function openJoined(
  options: { store: string; apiPort: number; network?: NetworkOption; log: Log },
  deadline: StartDeadline,
): Promise<JoinedSandbox> {
  const tracing = new RequestTracing();
  const log = tracing.log(options.log);
  await using opened = new ClosingStack();
  const { shared, sandbox } = await openRunning(options.store, log, opened, deadline);
  const { urls } = sandbox;
  const { chain, settings } = await reachChain(shared, sandbox, options.network, opened, deadline);
  await using bound = new ClosingStack();
  const listener = await listen({
    port: options.apiPort,
    option: "apiPort",
    pages: pagesOf.api,
    limits: settings.connectionLimits,
    docsUrl: urls.docs,
  });
  bound.defer(async () => await listener.close());
  const requests = new RequestCounter();
  // Far from the counts of the other processes, so that no id is given twice.
  requests.count = randomInt(2 ** 40);
  const observer = new MemberObserver(urls.control, log);
  const starting = { opened, bound, deadline };
  const process = {
    settings,
    log,
    chain,
    cluster: shared,
    urls: { ...urls, api: listener.url },
    // Pinned by the first process, while no other one is in.
    receiver: new ReceiverPin(`${urls.api}${receiveNotification.path}`, sandbox.receiver),
    observer,
    // No snapshot is taken while another process than the first one is in.
    gate: new RequestGate({ timeoutMs: 0 }),
    requests,
  };
  const service = await startService(process, starting);
  const { services, stopDeliveries } = service;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const watchHeads: ChainNode["watchHeads"] = async (watcher) => await chain.watchHeads(watcher);
  await followChain(watchHeads, service, { observer, ended: end }, starting);
  listener.serve({
    handle: tracing.guard(
      createApp(services, operations, discoveryResources(services, operations), apiPages),
    ),
    refusals: tracing.refusals(problemRefusals(services)),
  });
  deadline.signal.throwIfAborted();
  const parts = opened.move();
  return {
    apiUrl: listener.url,
    ended,
    [Symbol.asyncDispose]: async () => {
      stopDeliveries();
      await parts[Symbol.asyncDispose]();
    },
  };
}

/** Opens the database as one more process, and reads which sandbox runs on it. */
async function openRunning(url: string, log: Log, opened: ClosingStack, deadline: StartDeadline) {
  const database = "the database to respond";
  const opening = SharedStore.open(url, "member", log);
  const close = async (late: SharedStore) => await late[Symbol.asyncDispose]();
  const shared = opened.use(await deadline.within(database, opening, close));
  const sandbox = await deadline.within(database, shared.read());
  if (sandbox.anvil !== null) shared.reliesOn(keptByFirst(sandbox.urls.control));
  return { shared, sandbox };
}

type JoinedChain = ServiceProcess["chain"] & Pick<ChainNode, "watchHeads">;

/** Connects to the chain that the sandbox has; the seed of one on a node's chain is in the file of keys. */
async function reachChain(
  shared: SharedStore,
  sandbox: SharedSandbox,
  option: NetworkOption | undefined,
  opened: ClosingStack,
  deadline: StartDeadline,
): Promise<{ chain: JoinedChain; settings: SharedSandbox["settings"] }> {
  const { anvil, settings } = sandbox;
  if (anvil !== null) return { chain: reachOwnChain(sandbox, anvil, opened, deadline), settings };
  const network = await readSharedNetwork(sandbox, option);
  await deadline.within("the database to respond", shared.requireSeed(network.keys.seed));
  const chain = opened.use(await deadline.within("the node to respond", connectChain(network, true)));
  return { chain, settings: { ...settings, seed: network.keys.seed } };
}

/** Connects to the chain of the first process, and to the clock that it keeps. */
function reachOwnChain(
  { mode, deployment, accounts, urls }: SharedSandbox,
  { url, loadedBlock }: NonNullable<SharedSandbox["anvil"]>,
  opened: ClosingStack,
  deadline: StartDeadline,
): JoinedChain {
  if (accounts === null) throw new Error("The database has no accounts of the sandbox's own chain.");
  const beginning = { loadedBlock, epochBlock: deployment.epochBlock.number };
  const socket = nodeSocket(url);
  opened.defer(() => socket.close());
  deadline.signal.addEventListener("abort", () => socket.close());
  const gate = new MiningGate(toNode(createChainClient(url, socket.transport).request));
  const client = createChainClient(
    url,
    guardReorgs(socket.transport, { beginning: () => beginning, mode, gate }),
  );
  const request: EIP1193RequestFn = client.request;
  return {
    client,
    request,
    deployment,
    accounts,
    isOwn: true,
    network: null,
    terms: ownTerms,
    clock: sharedClock(urls.control, mode),
    watchHeads: async (watcher) => await watchAnvil(() => url, watcher),
  };
}

/** Reads the files of the node that the first process is connected to, or of another one of the same chain: no database has its keys. */
async function readSharedNetwork(
  { deployment: { epoch } }: SharedSandbox,
  option: NetworkOption | undefined,
): Promise<Network> {
  if (option === undefined)
    throw new SandboxError(
      "option_invalid",
      "The sandbox is connected to a node, and its keys are in no database. Name the node and its files with the option network.",
    );
  const network = await readNetwork(option);
  if (network.deployment.epoch !== epoch)
    throw new SandboxError(
      "database_mismatch",
      `The sandbox has the chain with epoch ${epoch}, and ${option.deployment} is of ${network.deployment.epoch}. Name the deployment of the sandbox with the option network.deployment.`,
    );
  return network;
}

/**
 * The observer in a process that joined: the explorer is in the first process, which the database tells of commits;
 * refusals are sent to it here.
 */
class MemberObserver implements Observer {
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

const answer = z.object({ now: z.int() });

/** The clock of a sandbox as a process sees it that has joined: the first process moves it and tells the time. */
function sharedClock(controlUrl: string, mode: ClockMode): Pick<SandboxClock, "mode" | "now" | "travel"> {
  const ask = async (method: ControlMethod, path: string, body?: object) => {
    try {
      const response = await askControl(controlUrl, method, path, body);
      if (!response.ok) throw new Error(`The sandbox's clock responded with ${response.status}.`);
      return answer.parse(await response.json()).now;
    } catch (cause) {
      // It may end at any moment of a request.
      throw new ChainUnavailableError(
        "The first process of the sandbox does not respond, so its clock cannot be read. Send the identical request again.",
        { cause },
      );
    }
  };
  return {
    mode,
    now: async () => await ask("GET", "/status"),
    travel: async (by) =>
      await ask("POST", "/clock", { seconds: typeof by === "number" ? by : toSeconds(by) }),
  };
}
