import { Mutex } from "async-mutex";
import type { LocalAccount } from "viem";
import { CodedError, messageOf } from "../protocol/coded-error.ts";
import { AbortController, AbortSignal } from "../protocol/globals.ts";
import type { KeyUse } from "../server/keys/key-ring.ts";
import { once } from "../server/lib/once.ts";
import type { FaultLog } from "./activity/fault-log.ts";
import type { RefusalLog } from "./activity/refusal-log.ts";
import type { RequestLog } from "./activity/request-log.ts";
import type { ChainNode } from "./chain/start-chain.ts";
import { unloadable } from "./chain/unloadable.ts";
import { lazyAccess } from "./client/access/lazy-access.ts";
import { type OpenClientUntil, openApiClient, type SendRequest } from "./client/api-client.ts";
import { retryPolicy } from "./client/retry-policy.ts";
import type { ControlledSandbox } from "./control/controlled-sandbox.ts";
import type { DataDirectory } from "./data-directory/open-data-directory.ts";
import { AddressLabels } from "./explain/address-labels.ts";
import { openExplain } from "./explain/explain.ts";
import { GivenAccess } from "./given/actors/access.ts";
import { openMerchantReads } from "./given/actors/merchant-reads.ts";
import { Given, type GivenMeans } from "./given/given.ts";
import { UndoableCalls } from "./lib/control/undoable-calls.ts";
import { closedError } from "./lib/errors/closed-error.ts";
import { fetchDirect } from "./lib/http/direct/fetch-direct.ts";
import { restoreParts } from "./lib/part.ts";
import type { SandboxDescription } from "./options/description.ts";
import { SandboxReceiver } from "./receiver/receiver.ts";
import { openResend } from "./receiver/resend-event.ts";
import { listParts } from "./restored-state.ts";
import { Recorder } from "./scenarios/recorder.ts";
import { describeSandbox } from "./service/describe-sandbox.ts";
import { clientAccount, givenAccounts } from "./service/keys.ts";
import { type PublishedKeys, publishKeys } from "./service/published-keys.ts";
import {
  followChain,
  type SandboxProcess,
  type StartedService,
  type StartingProcess,
} from "./service/start-service.ts";
import { captureContent, decodeSnapshotParts } from "./snapshots/file/capture-content.ts";
import type { LoadedSnapshot } from "./snapshots/file/snapshot-content.ts";
import { requireEqual } from "./snapshots/file/snapshot-content.ts";
import { encodeSnapshot } from "./snapshots/file/snapshot-file.ts";
import { takeFingerprint } from "./snapshots/fingerprint.ts";
import { RpcSnapshots } from "./snapshots/rpc-snapshots.ts";
import { Snapshots } from "./snapshots/snapshot.ts";
import { newestStoredTime } from "./snapshots/store-part.ts";
import { openWallets, type TestWallets } from "./wallets/open-wallets.ts";
import { TestWallet } from "./wallets/test-wallet.ts";
import type { SendRunner } from "./wallets/wallet.ts";

/** The settings of a start, and what it has opened before its tools. */
interface ToolsStart extends StartingProcess {
  saved: LoadedSnapshot | null;
  directory: DataDirectory;
}

/** A process with the logs of what it has observed. */
type ObservedProcess = SandboxProcess & {
  refusals: RefusalLog;
  requestLog: RequestLog;
  faultLog: FaultLog;
};

/** Everything of a sandbox besides its service. */
export type OpenedTools = Awaited<ReturnType<typeof openTools>>;

/**
 * Opens all state but the chain's, as it was saved if it was, has the relayer follow the chain, and opens the tools on top.
 *
 * @throws SandboxError snapshot_refused when what was loaded is not what was saved.
 */
export async function openTools(process: ObservedProcess, service: StartedService, start: ToolsStart) {
  const { saved } = start;
  const opening = openAll(process, service, start);
  if (saved === null) return await opening;
  return await opening.catch((cause: unknown) => {
    // Of the parts of a file, only their kinds are checked before they are restored.
    throw cause instanceof CodedError ? cause : unloadable(saved, messageOf(cause), cause);
  });
}

async function openAll(process: ObservedProcess, service: StartedService, start: ToolsStart) {
  const { chain, receiver } = process;
  const { saved, directory, deadline } = start;
  const description = await describeSandbox({ ...process, ...service, receiverUrl: receiver.url });
  const published = publishKeys(description, process, service, directory.republish);
  const state = openState(process, service, published);
  if (saved !== null) {
    const { all } = state.parts;
    const states = decodeSnapshotParts(saved, all);
    await deadline.within("Anvil to respond", restoreParts(all, states));
    await chain.clock.continueFrom(newestStoredTime(states));
    process.requestLog.restoredTo = Number(await chain.client.getBlockNumber());
    await published.describe();
  }
  const heads = await followChain(chain.watchHeads.bind(chain), service, process, start);
  const calls = new UndoableCalls(process.gate);
  const tools = openSnapshots(process, service, { ...state, calls }, { description, published });
  const wallets = walletsOf(chain, description, service);
  const given = openGiven(chain, wallets.named, description, { ...service, ...state });
  if (saved !== null) requireEqual(saved, await deadline.within("Anvil to respond", tools.fingerprint()));
  return { ...state, ...tools, description, heads, wallets, given, calls };
}

/** All state but the chain's. */
function openState(
  { settings, chain, urls, receiver: pin, refusals, requestLog, faultLog }: ObservedProcess,
  service: StartedService,
  published: PublishedKeys,
) {
  const { keys, keyRing, faults, waits } = service;
  const stopped = new AbortController();
  const { deliveryTimeoutMs: timeoutMs } = settings;
  const { signal } = stopped;
  const resendEvent = openResend({ ...service, pin, clock: chain.clock, timeoutMs, signal });
  const receiver = new SandboxReceiver({
    pin,
    pinned: published.pinReceiver,
    keys: keyRing,
    faults,
    waits,
    resendEvent,
  });
  let isClosed = false;
  const send: SendRequest = async (request) => {
    if (isClosed) throw closedError();
    return await fetchDirect(request);
  };
  const access = lazyAccess(urls.api, clientAccount("client", settings.seed, keys.accounts).key);
  const accounts = givenAccounts(settings.seed, keys.accounts);
  const given = new GivenAccess(urls.api, accounts, send);
  const parts = listParts(
    chain,
    service,
    { access, given, receiver, pin, refusals, requestLog, faultLog },
    settings.parts,
  );
  const clientUntil: OpenClientUntil = (end) => {
    const policy = retryPolicy(chain.clock, settings.confirmations);
    const options = {
      ...policy,
      nextKey: access.nextKey,
      fetch: send,
      signal: AbortSignal.any([end, signal]),
    };
    const made = openApiClient(urls.api, options, access.authorize);
    made.use(access.middleware);
    return made;
  };
  // Loading what fetches takes as long as anything here, and many sandboxes are never asked for their client.
  const client = once(() => clientUntil(signal));
  const untilStopped: Pick<GivenMeans, "signal"> = { signal };
  const stop = () => {
    isClosed = true;
    stopped.abort(closedError());
    receiver.close();
  };
  const sendAsClient: ControlledSandbox["sendAsClient"] = (ended) =>
    access.authorize(async (request) => {
      ended.throwIfAborted();
      return await send(request);
    });
  return { parts, receiver, client, clientUntil, sendAsClient, givenAccess: given, untilStopped, stop };
}

/** Opens the tools that read, capture or restore the whole sandbox. */
function openSnapshots(
  { settings, chain, cluster, gate, refusals, requestLog }: ObservedProcess,
  { services, withoutFaults, relayer, store }: StartedService,
  { parts, calls }: Pick<ReturnType<typeof openState>, "parts"> & { calls: UndoableCalls },
  { description, published }: { description: SandboxDescription; published: PublishedKeys },
) {
  const recorder = new Recorder({ settings, gate, chain, store, parts: parts.all, relayer, description });
  const snapshots = new Snapshots({
    gate,
    chain,
    relayer,
    parts,
    endCalls: async () => await calls.end(),
    runAsOnlyProcess: async (step) => await cluster.runAsOnlyProcess(step),
    // A restore may bring back the keys and the receiver from before a rotation.
    restored: async (head, isReset) => {
      if (isReset) rpcSnapshots.reset();
      services.chain.expect(head);
      recorder.restored();
      requestLog.restoredTo = head.number;
      await published.refresh();
    },
  });
  const rpcSnapshots = new RpcSnapshots(async () => await snapshots.takeOnce());
  return {
    snapshot: async () => await snapshots.take(),
    rpcSnapshots,
    forgetSnapshots: () => snapshots.forget(),
    rotateKeys: async (...uses: KeyUse[]) => await published.rotate(...uses),
    recorder,
    explain: openExplain({
      services: withoutFaults,
      client: chain.client,
      refusals: () => refusals.newest(),
      labels: new AddressLabels(chain),
      isOwnRegistrar: settings.contracts.registrar === null,
    }),
    fingerprint: async () => await takeFingerprint(chain, parts.all),
    encodeSnapshot: async () =>
      await encodeSnapshot(await captureContent({ settings, gate, chain, relayer, parts: parts.all })),
  };
}

/** The wallets of the named test accounts, and what opens one for any other. */
function walletsOf(chain: ChainNode, { contracts }: SandboxDescription, { gate }: StartedService) {
  // A restore between a nonce that is read and its transaction would leave that waiting for one which never comes.
  const runSend: SendRunner = async (send) => await gate.runShared("the transaction of a wallet", send);
  const open = (signer: LocalAccount) =>
    new TestWallet(signer, chain.client, contracts, runSend, chain.terms);
  return { named: openWallets(chain, open), open };
}

function openGiven(
  chain: ChainNode,
  wallets: TestWallets,
  description: SandboxDescription,
  {
    withoutFaults: services,
    givenAccess: access,
    untilStopped,
  }: Pick<StartedService, "withoutFaults"> &
    Pick<ReturnType<typeof openState>, "givenAccess" | "untilStopped">,
): Given {
  const sources = {
    description,
    services,
    access,
    merchants: openMerchantReads(services),
    turns: new Mutex(),
    deliveryTurns: new Mutex(),
  };
  return new Given(sources, {
    wallets,
    clock: chain.clock,
    chain,
    guard: (calls) => calls,
    ...untilStopped,
  });
}
