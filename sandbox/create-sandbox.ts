import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Hex, type LocalAccount, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { awaitAutomine } from "../relayer/mining.ts";
import { connect as connectNode } from "../relayer/node.ts";
import type { Relayer } from "../relayer/relayer.ts";
import { discoveryResources } from "../server/discovery.ts";
import { createDocumentationHost } from "../server/documentation/host.ts";
import { createApp } from "../server/http/app.ts";
import { problemRefusals } from "../server/http/refusal-form.ts";
import { type KeyUse, keyUses } from "../server/key-use.ts";
import { once } from "../server/once.ts";
import { receiveNotification } from "../server/operations/receive-notification.ts";
import { operations } from "../server/operations/table.ts";
import { apiPages } from "../server/pages/api-pages.ts";
import { openDirectoryStore } from "../server/store/directory.ts";
import { openEphemeralStore } from "../server/store/journaled-store.ts";
import type { Store } from "../server/store/store.ts";
import { requireReorgDepth } from "./chain/anvil/reorg-depth.ts";
import type { SandboxClock } from "./chain/clock/clock.ts";
import { mineBlocks, miningPart } from "./chain/clock/mining.ts";
import { followHeads } from "./chain/follow-heads.ts";
import type { WalletName } from "./chain/genesis/roles.ts";
import { type Chain, startChain } from "./chain/genesis/start-chain.ts";
import { RpcFront, rpcRefusal } from "./chain/rpc/front.ts";
import { createControlHost } from "./hosts/control/host.ts";
import { explainTransaction } from "./hosts/explain/explain-transaction.ts";
import type { Explanation } from "./hosts/explain/explanation.ts";
import { openExplorer } from "./hosts/explorer/explorer.ts";
import { Watch } from "./hosts/explorer/live/watch.ts";
import { openListeners, urlsOf } from "./hosts/open-listeners.ts";
import { Recorder } from "./hosts/recorder/recorder.ts";
import type { Scenario } from "./hosts/recorder/scenario.ts";
import { ClosingStack } from "./lib/closing-stack.ts";
import { pinReceiver } from "./lib/http/pin-receiver.ts";
import { RequestGate } from "./lib/http/request-gate.ts";
import { type Part, requireDistinctNames, restoreParts } from "./lib/part.ts";
import { type SandboxOptions, type SandboxSettings, settle } from "./options/options.ts";
import { StartDeadline } from "./options/start-deadline.ts";
import { type ApiClient, createApiClient } from "./service/client/api-client.ts";
import { lazyAccess } from "./service/client/lazy-access.ts";
import { openShared } from "./service/cluster/shared-store.ts";
import { connectService } from "./service/connect-service.ts";
import { describe, describeRotating } from "./service/describe.ts";
import { DeliveryFaults } from "./service/receiver/delivery-fault.ts";
import { SandboxReceiver } from "./service/receiver/receiver.ts";
import { relayerFaultsPart } from "./service/relayer-faults-part.ts";
import { signingAccount } from "./service/wallets/signing-account.ts";
import { TestWallet } from "./service/wallets/test-wallet.ts";
import type { Enter } from "./service/wallets/wallet.ts";
import { lockDataDirectory } from "./state/data-directory/lock.ts";
import { publish, unpublish } from "./state/data-directory/sandbox-file.ts";
import { confirmSettings, keepSettings } from "./state/data-directory/settings-file.ts";
import type { SandboxDescription } from "./state/description.ts";
import { type Fingerprint, takeFingerprint } from "./state/fingerprint.ts";
import { RequestCounter } from "./state/request-counter.ts";
import { type Snapshot, type SnapshotSources, Snapshots } from "./state/snapshot.ts";
import { placeState, requireEqual } from "./state/snapshot-file/place-state.ts";
import { savedParts, saveSandbox } from "./state/snapshot-file/save-sandbox.ts";
import { completeOptions } from "./state/snapshot-file/saved-options.ts";
import type { SavedSandbox } from "./state/snapshot-file/saved-sandbox.ts";
import { encodeSnapshot, writeSnapshot } from "./state/snapshot-file/snapshot-file.ts";
import { storePart } from "./state/store-part.ts";

/** A running sandbox: chain, relayer, API and documentation, which share one clock, one reset and one data directory. */
export interface Sandbox extends AsyncDisposable {
  /** URLs, accounts, addresses and test keys; the content of `sandbox.json`. */
  description: SandboxDescription;
  chain: Chain;
  clock: SandboxClock;
  relayer: Relayer;
  store: Store;
  wallets: { [W in WalletName]: TestWallet };
  /** What arrives at the service's own receiver, and what shall go wrong there. */
  receiver: SandboxReceiver;
  /** A typed client of the API, with the first account's access, which is issued when it is first needed. */
  client: ApiClient;
  /** Takes a snapshot of everything as one. */
  snapshot(): Promise<Snapshot>;
  /** Gives notifications, receipts and reviewers, or those named, new keys from now on; the old public ones stay published. */
  rotateKeys(...uses: KeyUse[]): Promise<void>;
  /**
   * Writes everything, as a snapshot has it, to a file that another machine can go on from: `createSandbox({ from: file })`. What
   * waits in the chain's pool is not in it.
   *
   * @throws SandboxError snapshot_refused when the file cannot be written.
   */
  save(file: string): Promise<void>;
  /**
   * Writes down what is done from now on: requests, transactions of wallets, time and blocks, and the control API. The sandbox must
   * be fresh. What is called on this object beside (`relayer.fault()`, `receiver.failNext()`, `rotateKeys()`) is not seen.
   *
   * @throws SandboxError scenario_refused
   */
  record(title: string): Promise<void>;
  /**
   * Ends the recording and returns it, to be written with `writeScenario` and repeated with `playScenario`.
   *
   * @throws SandboxError scenario_refused when something was done that cannot be repeated.
   */
  stopRecording(): Promise<Scenario>;
  /** A wallet with any test key, beside those in {@link Sandbox.wallets}. */
  openWallet(privateKey: Hex): TestWallet;
  /** Says of any transaction whether it would be accepted and for what, and if not why. */
  explain(hash: Hex): Promise<Explanation>;
  /** What two equal runs have in common, in one digest. */
  fingerprint(): Promise<Fingerprint>;
  /** Ends everything; what is kept is on disk afterwards. */
  close(): Promise<void>;
}

/**
 * Starts a sandbox on ports of 127.0.0.1 and returns when everything answers.
 *
 * A start that takes longer than `startTimeoutMs` fails with `start_timeout` and leaves nothing behind.
 *
 * @throws SandboxError, AnvilError, GenesisError, StoreDamagedError: each with a sentence that says what to do.
 * @example
 * await using sandbox = await createSandbox({ seed: "checkout" });
 * await fetch(`${sandbox.description.urls.api}/v1/routing/capabilities`);
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { options: completed, saved } = await completeOptions(options);
  const settings = settle(completed);
  if (saved !== null && settings.store !== undefined)
    throw new RangeError("A saved sandbox goes on in a directory; leave out --store or --from.");
  const deadline = new StartDeadline(settings.startTimeoutMs);
  return await deadline.run(async () => await openSandbox(settings, saved, deadline));
}

async function openSandbox(
  settings: SandboxSettings,
  saved: SavedSandbox | null,
  deadline: StartDeadline,
): Promise<Sandbox> {
  const { receiverUrl: named } = settings;
  const foreign =
    named === undefined
      ? null
      : await deadline.within("the receiver's address", pinReceiver(named, settings.resolveHost));
  // What was opened last is closed first, also when the start fails half way.
  await using opened = new ClosingStack();
  const { dataDirectory } = settings;
  let isStarted = false;
  if (dataDirectory !== undefined) {
    const isNew = !existsSync(dataDirectory);
    opened.defer(async () => {
      if (isNew && !isStarted) await rm(dataDirectory, { recursive: true, force: true });
    });
    const locking = lockDataDirectory(dataDirectory);
    opened.defer(await deadline.within("the lock of the data directory", locking, (unlock) => unlock()));
  }
  // Before anything is written: a port that is taken changes nothing.
  await using bound = new ClosingStack();
  const listeners = await openListeners(settings, bound);
  if (dataDirectory !== undefined) {
    await unpublish(dataDirectory);
    const { seed, mode, programs } = settings;
    const kept = { seed, mode, programs: [...programs], in_database: settings.store !== undefined };
    await keepSettings(dataDirectory, { version: 1, ...kept }, settings.fresh);
  }
  deadline.waitsFor("Anvil to start");
  const started = opened.use(await openChain(settings, saved, deadline.signal));
  const chain = await deadline.within("adaptChain", settings.adaptChain(started));
  const watch = new Watch();
  const shared = await deadline.within(
    "the database to answer",
    openShared(settings, chain),
    async (late) => await late?.[Symbol.asyncDispose](),
  );
  if (shared !== null) opened.use(shared);
  const kept = shared ?? (await openEmbedded(settings));
  const store = watch.store(kept.store);
  if (shared === null) opened.defer(async () => await store.close());
  const urls = urlsOf(listeners);
  const ownReceiver = `${urls.api}${receiveNotification.path}`;
  const pinned = foreign ?? (await pinReceiver(ownReceiver));
  const receiverUrl = pinned.url.href;
  const closing = new AbortController();
  const requests = new RequestCounter();
  const gate = new RequestGate({ timeoutMs: settings.snapshotTimeoutMs });
  const deliveryFaults = new DeliveryFaults();
  const { services, relayer, keys, keyRing } = connectService({
    settings,
    log: settings.log,
    chain,
    store,
    journal: watch.journal(kept.journal),
    urls,
    receiver: pinned,
    ownReceiver,
    deliveryFaults,
    closing: closing.signal,
    gate,
    requests,
    wrapRelayer: (own) => shared?.leading(watch.relayer(own)) ?? watch.relayer(own),
    handOver: shared?.handOver(urls.api) ?? (async () => null),
    refused: watch.refused,
  });
  // Closed after the listeners: what their last requests began is brought to its end.
  opened.defer(async () => await relayer.drain());
  opened.use(bound.move());
  opened.defer(() => closing.abort());
  if (shared !== null)
    await deadline.within(
      "the database and Anvil to answer",
      shared.stand(urls.api, relayer, watch.elsewhere),
    );
  else if (saved === null) await deadline.within("Anvil to answer", relayer.recover());
  const receiver = new SandboxReceiver({
    url: receiverUrl,
    own: ownReceiver,
    isPinned: services.settings.receivesNotifications,
    keys: keyRing,
    faults: deliveryFaults,
  });
  const [account] = keys.accounts;
  const access = lazyAccess(urls.api, account?.key ?? "");
  const parts: readonly Part[] = [
    relayerFaultsPart(relayer),
    miningPart(chain.client),
    storePart(store),
    requests,
    access,
    receiver,
    ...settings.parts,
  ];
  requireDistinctNames(parts);
  if (saved !== null) await deadline.within("Anvil to answer", restoreParts(savedParts(saved, parts)));
  const following = followHeads({
    url: chain.anvil.url,
    relayer,
    gate,
    log: settings.log,
    announce: watch.head,
  });
  opened.defer(await deadline.within("Anvil to answer", following, async (unfollow) => await unfollow()));
  // Loading what fetches takes as long as anything here, and many sandboxes are never asked for their client.
  const client = once(() => {
    const made = createApiClient(urls.api);
    made.use(access.middleware);
    return made;
  });
  const alone: SnapshotSources["alone"] = (step) => shared?.alone(step) ?? step();
  const snapshots = new Snapshots({ gate, chain, relayer, parts, alone });
  const describeKeys = async () => await describeRotating(keyRing, keys.accounts, receiverUrl);
  const { seed, mode } = settings;
  const description = describe({ seed, mode, urls, chain, keys, rotating: await describeKeys() });
  // A restore between a nonce that is read and its transaction would leave that waiting for one which never comes.
  const enter: Enter = async (send) => await gate.runShared("the transaction of a wallet", send);
  const walletOf = (signer: LocalAccount) =>
    new TestWallet(signer, chain.client, description.contracts, enter);
  const encoded = async () =>
    await encodeSnapshot(await saveSandbox({ settings, gate, chain, relayer, parts }));
  const api = createApp(services, operations, discoveryResources(services, operations), apiPages(services));
  const explain = async (hash: Hex) => await explainTransaction(hash, services, chain.client);
  const recorder = new Recorder({ settings, gate, chain, store, parts, relayer, description });
  const refusals = problemRefusals(services);
  const guarded = receiver.guard(recorder.guard(api));
  listeners.api.serve({ handle: guarded, refusals });
  listeners.docs.serve({ handle: createDocumentationHost(services, operations), refusals });
  const front = new RpcFront(chain.anvil.url, gate, {
    settle: async () => await awaitAutomine(connectNode(chain.request)),
    mine: async (blocks) => await mineBlocks(chain.client, blocks),
    requireReorgDepth: async (depth) =>
      await requireReorgDepth(connectNode(chain.request), chain.anvil.loadedBlock, depth),
  });
  opened.defer(() => front.close());
  listeners.rpc.serve({
    handle: (request, response) => front.handle(request, response),
    upgrade: (request, socket, head) => front.upgrade(request, socket, head),
    refusals: rpcRefusal,
  });
  const rotateKeys = async (...uses: KeyUse[]) => {
    for (const use of uses.length === 0 ? keyUses : uses) await keyRing.rotate(use);
    await publishKeys();
  };
  // A rotation, or the restore of a moment before one, changes what receivers and reviewers have to know.
  const publishKeys = async () => {
    const now = await describeKeys();
    const { reviewer, receiver: known } = description;
    if (now.receiver.hmac_secret === known.hmac_secret && now.reviewer.key_id === reviewer.key_id) return;
    Object.assign(description, now);
    if (dataDirectory !== undefined) await publish(dataDirectory, description);
  };
  const snapshot = async (): Promise<Snapshot> => {
    const { restore } = await snapshots.take();
    return {
      restore: async () => {
        await restore();
        await publishKeys();
      },
    };
  };
  const explorer = openExplorer({ description, services, chain, receiver, watch });
  opened.defer(() => explorer.close());
  const shown = { services, recorder, description, rotateKeys, explain, explorer, encoded, snapshot };
  listeners.control.serve({ handle: createControlHost({ gate, chain, relayer, receiver, ...shown }) });
  if (shared !== null)
    await deadline.within(
      "the database to answer",
      shared.publish({ settings, chain, urls, receiver: pinned }),
    );
  if (saved !== null)
    requireEqual(saved, await deadline.within("Anvil to answer", takeFingerprint(chain, parts)));
  if (dataDirectory !== undefined) {
    await confirmSettings(dataDirectory);
    opened.defer(await publish(dataDirectory, description));
  }
  // Closed first: what is under way could not end.
  opened.defer(() => chain.anvil.run());
  // From here on nothing is waited for, so that it cannot pass any more.
  deadline.signal.throwIfAborted();
  isStarted = true;
  const all = opened.move();
  let closed: Promise<void> | undefined;
  const close = () => {
    closing.abort();
    closed ??= all[Symbol.asyncDispose]();
    return closed;
  };
  return {
    description,
    chain,
    clock: chain.clock,
    relayer,
    store,
    wallets: openWallets(chain, walletOf),
    openWallet: (privateKey) => walletOf(privateKeyToAccount(privateKey)),
    get client() {
      return client();
    },
    receiver,
    rotateKeys,
    snapshot,
    record: async (title) => await recorder.start(title),
    stopRecording: async () => await recorder.stop(),
    explain,
    fingerprint: async () => await takeFingerprint(chain, parts),
    save: async (file) => await writeSnapshot(file, await encoded()),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function openChain(
  settings: SandboxSettings,
  saved: SavedSandbox | null,
  signal: AbortSignal,
): Promise<Chain> {
  const { mode, seed, programs, dataDirectory, fresh } = settings;
  await using state = saved === null ? null : await placeState(saved);
  return await startChain({
    mode,
    seed,
    programs,
    fresh,
    signal,
    ...(state === null ? {} : { saved: state }),
    ...(mode === "live" ? { random: toHex(randomBytes(32)) } : {}),
    ...(dataDirectory === undefined ? {} : { folder: join(dataDirectory, "chain") }),
  });
}

/** The store of one process, which has the relayer's journal in it. */
async function openEmbedded({ dataDirectory }: SandboxSettings) {
  const store =
    dataDirectory === undefined
      ? openEphemeralStore()
      : await openDirectoryStore(join(dataDirectory, "store"));
  return { store, journal: store };
}

function openWallets(
  { accounts }: Chain,
  walletOf: (account: LocalAccount) => TestWallet,
): Sandbox["wallets"] {
  const open = (name: WalletName) => walletOf(signingAccount(accounts.wallets[name]));
  return {
    deployer: open("deployer"),
    merchant: open("merchant"),
    buyer: open("buyer"),
    beneficiary: open("beneficiary"),
    stranger: open("stranger"),
    other_merchant: open("other_merchant"),
    other_buyer: open("other_buyer"),
  };
}
