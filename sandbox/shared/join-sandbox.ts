import { randomInt } from "node:crypto";
import type { EIP1193RequestFn } from "viem";
import { nodeChain } from "../../server/chain/node-chain.ts";
import { discoveryResources } from "../../server/discovery.ts";
import { createApp } from "../../server/http/app.ts";
import { KeyRing } from "../../server/key-ring.ts";
import { receiveNotification } from "../../server/operations/receive-notification.ts";
import { operations } from "../../server/operations/table.ts";
import { apiPages } from "../../server/pages/api-pages.ts";
import type { Services } from "../../server/services.ts";
import { createChainClient } from "../anvil/chain-client.ts";
import { nodeSocket } from "../anvil/node-socket.ts";
import { ClosingStack } from "../closing-stack.ts";
import { followHeads } from "../follow-heads.ts";
import { Admission } from "../http/admission.ts";
import { localPagesWrite } from "../http/callers.ts";
import { listen } from "../http/listen.ts";
import { isPinnedAs, pinReceiver } from "../http/pin-receiver.ts";
import { deriveKeys, hideKey } from "../keys.ts";
import { openRelayer } from "../open-relayer.ts";
import type { Log } from "../options.ts";
import { DeliveryFaults } from "../receiver/delivery-fault.ts";
import { openOutlet } from "../receiver/open-outlet.ts";
import { RequestCounter } from "../request-counter.ts";
import { wait } from "../wait.ts";
import { sharedClock } from "./shared-clock.ts";
import { SharedStore } from "./shared-store.ts";

/** How long a delivery may take and a request waits for a receipt, in milliseconds; as in the first process. */
const deliveryTimeoutMs = 5_000;
const patienceMs = 2_000;

/** A process that answers the API of a sandbox which another one runs. */
export interface JoinedSandbox extends AsyncDisposable {
  /** Where it answers. */
  apiUrl: string;
  /** Resolves when the chain has ended. */
  ended: Promise<void>;
}

/**
 * Joins the sandbox that runs on a database: the API on a port of its own, on the same chain, the same records and the same clock.
 *
 * @param options - `store`, the URL of the database; `apiPort`, 0 for any free one.
 * @throws SandboxError database_mismatch, port_in_use; StoreUnavailableError, DatabaseUrlError.
 * @example await using joined = await joinSandbox({ store: "postgres://localhost/sandbox", apiPort: 0, log });
 */
export async function joinSandbox(options: {
  store: string;
  apiPort: number;
  log: Log;
}): Promise<JoinedSandbox> {
  const { log } = options;
  await using opened = new ClosingStack();
  const shared = opened.use(await SharedStore.open(options.store, "member", log));
  const { store, seat } = shared;
  const sandbox = await shared.read();
  const { seed, mode, confirmations, deployment, anvil_url, receiver_url } = sandbox;
  const keys = deriveKeys(seed, sandbox.accounts, sandbox.programs);
  const clock = sharedClock(sandbox.urls.control, mode);
  const socket = nodeSocket(anvil_url);
  opened.defer(() => socket.close());
  const request: EIP1193RequestFn = createChainClient(anvil_url, socket.transport).request;
  const relayer = shared.leading(
    openRelayer({
      settings: { confirmations, gasBudgetWei: BigInt(sandbox.gas_budget_wei), patienceMs },
      chain: { request, deployment, clock },
      store: seat.journal,
      signers: keys.registrars,
    }),
  );
  opened.defer(async () => await relayer.drain());
  const listener = await listen({ port: options.apiPort, option: "--api-port", pages: localPagesWrite });
  opened.defer(async () => await listener.close());
  await shared.stand(listener.url, relayer, () => {});
  const closing = new AbortController();
  opened.defer(() => closing.abort());
  const receiver = await pinReceiver(receiver_url);
  const outlet = openOutlet({
    receiver,
    timeoutMs: deliveryTimeoutMs,
    clock,
    faults: new DeliveryFaults(),
    signal: closing.signal,
  });
  const urls = { ...sandbox.urls, api: listener.url };
  const programs = keys.accounts.map(({ program }) => program);
  const requests = new RequestCounter();
  // Far from those of the other processes, so that no id is given twice.
  requests.count = randomInt(2 ** 40);
  const services: Services = {
    settings: {
      seed,
      confirmations,
      accounts: keys.accounts.map(hideKey),
      urls,
      receiverUrl: receiver_url,
      receivesNotifications: isPinnedAs(receiver, `${sandbox.urls.api}${receiveNotification.path}`),
      patienceMs,
    },
    deployment,
    chain: nodeChain(request, deployment),
    store,
    clock,
    relayer,
    keys: keys.service,
    keyRing: new KeyRing(seed, programs, store),
    ...outlet,
    requests,
    wait,
    log,
    handOver: shared.handOver(listener.url),
    refused: () => {},
  };
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const unfollow = await followHeads({
    url: anvil_url,
    relayer,
    admission: new Admission(),
    log,
    announce: () => {},
    ended: end,
  });
  opened.defer(unfollow);
  listener.serve(
    createApp(services, operations, discoveryResources(services, operations), apiPages(services)),
  );
  const parts = opened.move();
  return {
    apiUrl: listener.url,
    ended,
    [Symbol.asyncDispose]: async () => await parts[Symbol.asyncDispose](),
  };
}
