import { Mutex } from "async-mutex";
import { type Hex, isHash, type LocalAccount } from "viem";
import type { KeyUse } from "../server/keys/key-use.ts";
import { once } from "../server/lib/once.ts";
import type { ChainNode } from "./chain/genesis/start-chain.ts";
import { explainTransaction } from "./hosts/explain/explain-transaction.ts";
import type { RefusalLog } from "./hosts/explorer/live/refusal-log.ts";
import { Recorder } from "./hosts/recorder/recorder.ts";
import { closedError } from "./lib/errors/closed-error.ts";
import { SandboxError } from "./lib/errors/sandbox-error.ts";
import type { SandboxSettings } from "./options/options.ts";
import { listParts } from "./restored-state.ts";
import { createApiClient, type SendRequest } from "./service/client/api-client.ts";
import { lazyAccess } from "./service/client/lazy-access.ts";
import { retryPolicy } from "./service/client/retry-policy.ts";
import { GivenAccess } from "./service/given/actors/access.ts";
import { openMerchantReads } from "./service/given/actors/merchant-reads.ts";
import { Given } from "./service/given/given.ts";
import { givenAccounts } from "./service/keys/keys.ts";
import { publishKeys } from "./service/keys/published-keys.ts";
import { SandboxReceiver } from "./service/receiver/receiver.ts";
import type { ProcessParts, StartedService } from "./service/start-service.ts";
import { openWallets, type TestWallets } from "./service/wallets/open-wallets.ts";
import { TestWallet } from "./service/wallets/test-wallet.ts";
import type { SendRunner } from "./service/wallets/wallet.ts";
import type { SandboxDescription } from "./state/description.ts";
import { takeFingerprint } from "./state/fingerprint.ts";
import { Snapshots } from "./state/snapshot.ts";
import { captureContent } from "./state/snapshot-file/capture-content.ts";
import { encodeSnapshot } from "./state/snapshot-file/snapshot-file.ts";

/** The process that a sandbox runs in, with its chain. */
export type SandboxProcess = ProcessParts & { settings: SandboxSettings; chain: ChainNode };
export type SandboxState = ReturnType<typeof openState>;
export type SandboxWallets = ReturnType<typeof walletsOf>;
export type SandboxTools = ReturnType<typeof openTools>;

/** The parts of the process besides its service. */
interface OwnState {
  refusals: RefusalLog;
  /** The URL of the sandbox's own receiver. */
  ownReceiver: string;
  /** Pins another receiver, and publishes it. */
  pinReceiver: (url: string) => Promise<void>;
}

/** All state but the chain's. */
export function openState(
  { settings, chain, urls, receiver: pin }: SandboxProcess,
  service: StartedService,
  { refusals, ownReceiver, pinReceiver }: OwnState,
) {
  const { keys, keyRing, faults } = service;
  const receiver = new SandboxReceiver({
    pin,
    pinned: pinReceiver,
    own: ownReceiver,
    keys: keyRing,
    faults,
  });
  const [account] = keys.accounts;
  let isClosed = false;
  const send: SendRequest = async (request) => {
    if (isClosed) throw closedError();
    return await fetch(request);
  };
  const access = lazyAccess(urls.api, account?.key ?? "");
  const accounts = givenAccounts(settings.seed, keys.accounts);
  const given = new GivenAccess(urls.api, accounts, send);
  const parts = listParts(chain, service, { access, given, receiver, pin, refusals }, settings.parts);
  // Loading what fetches takes as long as anything here, and many sandboxes are never asked for their client.
  const client = once(() => {
    const made = createApiClient(urls.api, undefined, {
      ...retryPolicy(chain.clock, settings.confirmations),
      nextKey: access.nextKey,
      fetch: send,
    });
    made.use(access.middleware);
    return made;
  });
  const close = () => {
    isClosed = true;
    receiver.close();
  };
  return { parts, receiver, client, givenAccess: given, close };
}

/** Opens the tools that act on the whole sandbox. */
export function openTools(
  process: SandboxProcess,
  { observing, relayer, store, keys, keyRing }: StartedService,
  { parts }: SandboxState,
  published: {
    description: SandboxDescription;
    republish: (description: SandboxDescription) => Promise<void>;
  },
) {
  const { settings, chain, cluster, gate, receiver: pin } = process;
  const { description, republish } = published;
  const publishedKeys = publishKeys(description, { keyRing, keys, pin }, republish);
  const snapshots = new Snapshots({
    gate,
    chain,
    relayer,
    parts,
    runAsOnlyProcess: async (step) => await cluster.runAsOnlyProcess(step),
    // What receivers and reviewers have to know may be that of a time before a rotation again.
    restored: async () => await publishedKeys.refresh(),
  });
  return {
    snapshot: async () => await snapshots.take(),
    async pinReceiver(url: string) {
      await cluster.runAsOnlyProcess(async () => {
        // A receiver that cannot be published is not pinned.
        await republish(description);
        await pin.pin(url);
        await publishedKeys.refresh();
        await publishProcess(process);
      });
    },
    forgetSnapshots: () => snapshots.forget(),
    rotateKeys: async (...uses: KeyUse[]) => await publishedKeys.rotate(...uses),
    recorder: new Recorder({ settings, gate, chain, store, parts, relayer, description }),
    async explain(hash: Hex) {
      if (!isHash(hash))
        throw new SandboxError(
          "argument_invalid",
          `${JSON.stringify(hash)} is not a transaction hash. Pass 0x and 64 hex digits.`,
        );
      return await explainTransaction(hash, observing, chain.client);
    },
    fingerprint: async () => await takeFingerprint(chain, parts),
    encodeSnapshot: async () =>
      await encodeSnapshot(await captureContent({ settings, gate, chain, relayer, parts })),
  };
}

/** Publishes what processes that join have to know. */
export async function publishProcess(process: SandboxProcess): Promise<void> {
  await process.cluster.publish({ ...process, receiver: process.receiver.receiver });
}

/** The wallets of the named test accounts, and what opens one for any other. */
export function walletsOf(chain: ChainNode, { contracts }: SandboxDescription, { gate }: StartedService) {
  // A restore between a nonce that is read and its transaction would leave that waiting for one which never comes.
  const runSend: SendRunner = async (send) => await gate.runShared("the transaction of a wallet", send);
  const open = (signer: LocalAccount) => new TestWallet(signer, chain.client, contracts, runSend);
  return { named: openWallets(chain, open), open };
}

export function openGiven(
  chain: ChainNode,
  wallets: TestWallets,
  description: SandboxDescription,
  {
    observing: services,
    givenAccess: access,
  }: Pick<StartedService, "observing"> & Pick<SandboxState, "givenAccess">,
): Given {
  const sources = {
    description,
    services,
    access,
    merchants: openMerchantReads(services),
    turns: new Mutex(),
    deliveryTurns: new Mutex(),
  };
  return new Given(sources, { wallets, clock: chain.clock, chain, guard: (calls) => calls });
}
