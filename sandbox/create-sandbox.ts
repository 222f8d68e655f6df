import type { Hex } from "viem";
import { messageOf } from "../protocol/coded-error.ts";
import type { Relayer } from "../relayer/relayer.ts";
import type { KeyUse } from "../server/keys/key-ring.ts";
import { receiveNotification } from "../server/notifications/receive-notification.ts";
import type { Store } from "../server/store/store.ts";
import type { RequestLog } from "./activity/request-log.ts";
import { Watch } from "./activity/watch.ts";
import { AnvilError } from "./chain/anvil/anvil-error.ts";
import type { SandboxClock } from "./chain/clock/clock.ts";
import { publicRpcUrl, readNetwork } from "./chain/connection/network.ts";
import type { ChainNode } from "./chain/start-chain.ts";
import type { ApiClient, components, OpenClientUntil } from "./client/api-client.ts";
import { openCluster } from "./cluster/open-cluster.ts";
import { openHosts, openListeners, urlsOf } from "./control/open-hosts.ts";
import { type OpenedChain, openChain } from "./data-directory/open-chain.ts";
import { type DataDirectory, openDataDirectory } from "./data-directory/open-data-directory.ts";
import type { Explain } from "./explain/explain.ts";
import type { Faults } from "./faults/faults.ts";
import type { Reviewer } from "./given/actors/reviewer.ts";
import type { Given } from "./given/given.ts";
import { ClosingStack } from "./lib/closing-stack.ts";
import { refuseOnceClosed } from "./lib/errors/closed-error.ts";
import { SandboxError } from "./lib/errors/sandbox-error.ts";
import { type PinnedReceiver, pinReceiver } from "./lib/http/pin-receiver.ts";
import { RequestGate } from "./lib/http/request-gate.ts";
import { withMethods } from "./lib/with-methods.ts";
import { type OpenedTools, openTools } from "./open-tools.ts";
import type { SandboxDescription, SandboxUrls } from "./options/description.ts";
import { checkOptions, type SandboxOptions } from "./options/options.ts";
import { optionsOf } from "./options/options-of-network.ts";
import { resolveOptions, type SandboxSettings } from "./options/settings.ts";
import { StartDeadline } from "./options/start-deadline.ts";
import { AutoDelivery } from "./receiver/auto-delivery.ts";
import type { SandboxReceiver } from "./receiver/receiver.ts";
import { type InterceptDelivery, ReceiverPin } from "./receiver/receiver-pin.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { RequestCounter } from "./service/request-counter.ts";
import {
  publishProcess,
  type StartedService,
  type StartingProcess,
  startService,
} from "./service/start-service.ts";
import { completeOptions } from "./snapshots/file/complete-options.ts";
import type { LoadedSnapshot } from "./snapshots/file/snapshot-content.ts";
import { writeSnapshot } from "./snapshots/file/snapshot-file.ts";
import type { Fingerprint } from "./snapshots/fingerprint.ts";
import type { Snapshot } from "./snapshots/snapshot.ts";
import type { MakeTrace } from "./trace/make-trace.ts";
import type { TraceSubject } from "./trace/trace-view.ts";
import { type TraceFiles, writeTrace } from "./trace/write-trace.ts";
import type { TestWallets } from "./wallets/open-wallets.ts";
import type { TestWallet } from "./wallets/test-wallet.ts";
import { accountOf } from "./wallets/wallet.ts";

/** A running sandbox: chain, relayer, API and documentation, with one clock, one snapshot and one data directory. */
export interface Sandbox extends AsyncDisposable {
  /** URLs, accounts, addresses and test keys; the content of `sandbox.json`. */
  description: SandboxDescription;
  /** The options on which the results of steps depend, defaults included. */
  settings: Pick<
    SandboxSettings,
    | "seed"
    | "mode"
    | "programs"
    | "accounts"
    | "contracts"
    | "confirmations"
    | "gasBudgetWei"
    | "autoDeliver"
    | "receiverUrl"
    | "rateLimit"
    | "parts"
  >;
  chain: ChainNode;
  clock: SandboxClock;
  relayer: Relayer;
  /** The faults of all layers. */
  faults: Faults;
  store: Store;
  wallets: TestWallets;
  /** The test receiver: the deliveries that it has received. */
  receiver: SandboxReceiver;
  /** The requests since the last restore, with their keys. @internal */
  requestLog: RequestLog;
  /** Waits, for a while, until everything has ended that clients have asked for. @returns whether it has. @internal */
  settle: () => Promise<boolean>;
  /** Passes all deliveries to the client's receiver through a function; null ends this. @internal */
  interceptDeliveries: (intercept: InterceptDelivery | null) => void;
  /**
   * A typed client of the API with a credential for the first program, which is issued at the first request. Its account is its own: it revokes no
   * credential of an account of {@link Sandbox.description}.
   */
  client: ApiClient;
  /** Returns a client of the same account and credential that stops repeating requests when a signal aborts, for a lease. @internal */
  clientUntil: OpenClientUntil;
  /**
   * Ends all waits of requests (delays, slow receivers, missing transaction receipts), and allows no new ones until some work is done, as
   * at the end of a lease. @internal
   */
  skipWaitsDuring: <T>(work: () => Promise<T>) => Promise<T>;
  /** Creates merchants and purchases in any state, through the API and with real transactions. */
  given: Given;
  /** The program's reviewer, who signs and records decisions. */
  reviewer: Reviewer;
  /**
   * Delivers every undelivered event of all programs and returns the notifications, delivered or exhausted.
   *
   * @throws ProblemError when the API refuses; RetryLimitError when responses are lost again and again.
   * @example const [first] = await sandbox.deliverAll()
   */
  deliverAll(): Promise<components["schemas"]["Notification"][]>;
  /**
   * Takes a snapshot of the whole sandbox in memory.
   *
   * @throws SandboxError snapshot_timeout when requests in progress do not end within `snapshotTimeoutMs`.
   * @example
   * const before = await sandbox.snapshot();
   * await before.restore();
   */
  snapshot(): Promise<Snapshot>;
  /**
   * Rotates the keys of notifications, delivery receipts and reviewers, or only the named ones. The old public keys remain published.
   *
   * @example await sandbox.rotateKeys("reviewer")
   */
  rotateKeys(...uses: KeyUse[]): Promise<void>;
  /**
   * Writes a snapshot file, from which `createSandbox({ from: file })` continues on any machine. Transactions in the chain's pool are not
   * included.
   *
   * @throws SandboxError snapshot_refused when the file cannot be written, or when a part's state could not be loaded from it.
   * @example await sandbox.save("paid.snapshot")
   */
  save(file: string): Promise<void>;
  /**
   * Writes a trace: one HTML file that opens in any browser, offline, with everything that has happened since the start or the last
   * restore, and next to it a snapshot file of the current state, for `routing-sandbox start --from`. Returns the names of both; `snapshot`
   * is null when the snapshot could not be taken, and the trace says why. A missing folder of the file is created.
   *
   * @param subject - the test and its errors, which the trace shows first.
   * @throws SandboxError argument_invalid for anything but a file name, trace_refused when the file cannot be written.
   * @example await sandbox.trace("checkout.trace.html")
   */
  trace(file: string, subject?: Partial<Pick<TraceSubject, "test" | "failures">>): Promise<TraceFiles>;
  /**
   * Starts to record a scenario: requests, transactions of wallets, time and blocks, and calls of the control API. The sandbox must be fresh.
   * Other calls on this object (`faults.set()`, `rotateKeys()`) are not recorded.
   *
   * @throws SandboxError scenario_refused when the sandbox is live, not fresh, or already recording.
   * @example
   * await sandbox.record("checkout");
   * await given.purchase({ state: "paid" });
   * await writeScenario("checkout.yaml", await sandbox.stopRecording());
   */
  record(title: string): Promise<void>;
  /**
   * Ends the recording and returns the scenario, for `writeScenario` and `playScenario`.
   *
   * @throws SandboxError scenario_refused when the recording has a step that cannot be repeated.
   * @example const scenario = await sandbox.stopRecording()
   */
  stopRecording(): Promise<Scenario>;
  /**
   * Returns a wallet for any private key, in addition to {@link Sandbox.wallets}.
   *
   * @throws SandboxError argument_invalid when the key is not 32 bytes in hex.
   * @example const wallet = sandbox.openWallet(generatePrivateKey())
   */
  openWallet(privateKey: Hex): TestWallet;
  /**
   * Explains a transaction, or a call, typed data or a decision before it is sent.
   *
   * @example const { accepted, cause } = await sandbox.explain(transaction_hash, { for: purchase.id })
   */
  readonly explain: Explain;
  /**
   * Returns digests of the newest block, the stored records, the faults that can still act, and your own parts. Two equal runs have equal
   * fingerprints.
   *
   * @example expect(await second.fingerprint()).toEqual(await first.fingerprint())
   */
  fingerprint(): Promise<Fingerprint>;
  /**
   * Resolves, with the reason, when the sandbox cannot continue: its Anvil has ended and cannot be replaced, or another process has removed or
   * taken its data directory. Close it then.
   */
  ended: Promise<string>;
  /**
   * Closes the sandbox and its processes. Afterwards the data directory contains the whole state.
   *
   * @example await sandbox.close()
   */
  close(): Promise<void>;
}

/**
 * Starts a sandbox on 127.0.0.1 and returns it when all its hosts answer.
 *
 * A start that takes longer than `startTimeoutMs` fails with `start_timeout` and leaves no process, port, lock or folder.
 *
 * @throws SandboxError, AnvilError, GenesisError, StoreDamagedError, StoreUnavailableError, DatabaseUrlError: each with a `code`, and the remedy
 * in its message.
 * @example
 * await using sandbox = await createSandbox({ seed: "checkout" });
 * await fetch(`${sandbox.description.urls.api}/v1/routing/capabilities`);
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { settings, saved } = await readSettings(options);
  const deadline = new StartDeadline(settings.startTimeoutMs);
  return await deadline.run(async () => await openSandbox(settings, saved, deadline));
}

/**
 * Reads the options of a start, with the files that they name, and changes nothing.
 *
 * @internal
 * @throws SandboxError option_invalid and others: those of a start that do not need the machine.
 */
export async function readSettings(
  options: SandboxOptions,
): Promise<{ settings: SandboxSettings; saved: LoadedSnapshot | null }> {
  checkOptions(options);
  const network = options.network === undefined ? null : await readNetwork(options.network);
  const chosen = network === null ? options : optionsOf(options, network);
  const { options: completed, saved, registrar } = await completeOptions(chosen);
  return { settings: resolveOptions(completed, registrar, network), saved };
}

/** Starts the parts of a sandbox in the order in which they need each other; a start that fails closes what it opened. */
async function openSandbox(
  settings: SandboxSettings,
  saved: LoadedSnapshot | null,
  deadline: StartDeadline,
): Promise<Sandbox> {
  const named = await pinNamedReceiver(settings, deadline);
  // Resources are closed in reverse order of opening, also when the start fails half way.
  await using opened = new ClosingStack();
  const directory = await openDataDirectory(settings, opened, deadline);
  // Before anything is written: a port that is taken changes nothing.
  await using bound = new ClosingStack();
  const listeners = await openListeners(settings, bound);
  await using placed = new ClosingStack();
  const start = { settings, saved, directory, opened, bound, placed, deadline };
  const kept = await openChain(start);
  const urls = urlsOf(listeners, settings.network === null ? null : await publicRpcUrl(settings.network));
  const process = await openProcess(start, kept, urls, named);
  const service = await startService(process, start);
  const tools = await openTools(process, service, start);
  // From here on the sandbox is the one in its directory, whatever happens to this process.
  await kept.begin();
  if (kept.chain.isOwn) requireRunning(kept.chain);
  // Before anything answers: an Anvil that ends is replaced from the first request on.
  kept.started(supervised(process, service, tools, directory));
  const { makeTrace } = openHosts(listeners, { ...process, ...service, ...tools }, opened);
  await publish(process, service, tools, start);
  await directory.keep();
  // Closed first: work in progress could not end.
  if (kept.chain.isOwn) opened.defer(() => kept.chain.anvil.run());
  const lost = directory.lost.then(messageOf);
  const ended = kept.chain.isOwn ? Promise.race([endOf(kept.chain), lost]) : lost;
  return sandboxOf(process, service, { ...tools, makeTrace, ended }, opened.move());
}

async function endOf({ anvil }: ChainNode): Promise<string> {
  const { failure } = await anvil.exited;
  const next = failure === undefined ? "Start the sandbox again." : `The chain cannot be rebuilt: ${failure}`;
  return `Anvil has ended, and the sandbox with it. ${next}`;
}

type OwnProcess = Awaited<ReturnType<typeof openProcess>>;

/** Registers the process with the others that share its store, and opens the other parts that its service needs. */
async function openProcess(
  { settings, opened, deadline }: { settings: SandboxSettings } & StartingProcess,
  kept: OpenedChain,
  urls: SandboxUrls,
  named: PinnedReceiver | null,
) {
  const { chain } = kept;
  const cluster = opened.use(await openCluster(settings, chain, kept, deadline));
  const receiver = await ReceiverPin.open(
    `${urls.api}${receiveNotification.path}`,
    named,
    settings.resolveHost,
  );
  const watch = new Watch();
  return {
    settings,
    log: watch.tracing.log(settings.log),
    chain,
    cluster,
    urls,
    receiver,
    observer: announcing(watch, kept),
    watch,
    refusals: watch.refusals,
    requestLog: watch.requests,
    faultLog: watch.faultLog,
    gate: new RequestGate({ timeoutMs: settings.snapshotTimeoutMs }),
    requests: new RequestCounter(),
  };
}

/** Publishes a sandbox whose hosts answer: first to joining processes, then in `sandbox.json`. */
async function publish(
  process: OwnProcess,
  { services }: StartedService,
  { description, given }: OpenedTools,
  { directory, opened, deadline }: { directory: DataDirectory } & StartingProcess,
): Promise<void> {
  const { settings, cluster, watch } = process;
  await deadline.within(cluster.awaited, publishProcess(process));
  if (settings.autoDeliver) opened.use(new AutoDelivery(given.deliveries, watch.feed, services));
  // From here on nothing else is waited for, so that the deadline can no longer pass.
  await directory.publish(description);
}

/** @throws AnvilError start_failed when the node has ended since it started; one that ends later is replaced. */
function requireRunning({ anvil }: ChainNode): void {
  if (anvil.isRunning) return;
  throw new AnvilError(
    "start_failed",
    "Anvil ended during the start. Start again; if that fails too, run routing-sandbox doctor.",
  );
}

/** Returns the steps to run when the chain was rebuilt after its Anvil had ended. */
function supervised(
  process: OwnProcess,
  { faults }: StartedService,
  { heads, forgetSnapshots }: OpenedTools,
  directory: DataDirectory,
): Parameters<OpenedChain["started"]>[0] {
  const { gate, watch, chain, log } = process;
  return {
    gate,
    async chainReplaced() {
      // A disk that refuses this does not end the sandbox.
      await directory
        .nameAnvil(chain.anvil.pid)
        .catch((error: unknown) => log.error({ causes: String(error) }, "naming Anvil in the lock"));
      forgetSnapshots();
      // A pause of mining that they had caused.
      await faults.restore(faults.capture());
      // Processes that have joined end with their Anvil; those that come find this one.
      await publishProcess(process);
      await heads.reconnect();
      watch.changedElsewhere();
    },
  };
}

/** Resolves the receiver's host that the settings name, once. */
async function pinNamedReceiver({ receiverUrl, resolveHost }: SandboxSettings, deadline: StartDeadline) {
  if (receiverUrl === undefined) return null;
  return await deadline.within("the receiver's address", pinReceiver(receiverUrl, resolveHost));
}

/** Returns an observer that also writes new heads to the journal. */
function announcing(watch: Watch, kept: OpenedChain): Watch {
  return withMethods(watch, {
    head: (head: Parameters<Watch["head"]>[0]) => {
      watch.head(head);
      kept.announce();
    },
  });
}

function sandboxOf(
  { settings, chain, requestLog, receiver: pin }: OwnProcess,
  service: StartedService,
  tools: OpenedTools & { makeTrace: MakeTrace } & Pick<Sandbox, "ended">,
  opened: ClosingStack,
): Sandbox {
  const { relayer, store, faults } = service;
  const { description, wallets, given, recorder, encodeSnapshot, makeTrace, ended } = tools;
  const { receiver, rotateKeys, snapshot, explain, fingerprint } = tools;
  let closed: Promise<void> | undefined;
  const close = () => {
    service.stopDeliveries();
    tools.stop();
    closed ??= opened[Symbol.asyncDispose]();
    return closed;
  };
  const members: Sandbox = {
    description,
    settings,
    chain,
    clock: chain.clock,
    relayer,
    faults,
    store,
    wallets: wallets.named,
    openWallet: (privateKey) => wallets.open(accountOf("openWallet", privateKey)),
    given,
    reviewer: given.reviewer,
    deliverAll: async () => await given.deliveries.all(),
    get client() {
      return tools.client();
    },
    clientUntil: tools.clientUntil,
    skipWaitsDuring: async (work) => await service.waits.skipDuring(work),
    receiver,
    requestLog,
    settle: async () => await service.gate.settle(),
    interceptDeliveries: (intercept) => pin.intercept(intercept),
    rotateKeys,
    snapshot,
    record: async (title) => await recorder.start(title),
    stopRecording: async () => await recorder.stop(),
    explain,
    fingerprint,
    save: async (file) =>
      await writeSnapshot(requireFileName("save", file, "snapshot.gz"), await encodeSnapshot()),
    trace: async (file, subject) =>
      await writeTrace(requireFileName("trace", file, "checkout.trace.html"), {
        makeTrace,
        encodeSnapshot,
        ...subject,
      }),
    ended,
    close,
    [Symbol.asyncDispose]: close,
  };
  const staying = ["description", "ended", "close", Symbol.asyncDispose];
  return refuseOnceClosed(members, () => closed !== undefined, staying);
}

/** @throws SandboxError argument_invalid for anything but a file name. */
function requireFileName(method: string, file: unknown, example: string): string {
  if (typeof file === "string" && file !== "") return file;
  throw new SandboxError("argument_invalid", `${method} takes a file name. Pass one such as "${example}".`);
}
