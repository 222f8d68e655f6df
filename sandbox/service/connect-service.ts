import type { EIP1193RequestFn } from "viem";
import type { Relayer } from "../../relayer/relayer.ts";
import { ChainUnavailableError } from "../../server/chain/chain-reader.ts";
import { openChainReader } from "../../server/chain/open-chain-reader.ts";
import type { Gate } from "../../server/http/gate.ts";
import { RateLimiter } from "../../server/http/request/rate-limit.ts";
import type { Services } from "../../server/http/services.ts";
import { KeyRing } from "../../server/keys/key-ring.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import type { SandboxClock } from "../chain/clock/clock.ts";
import { mostBlockLag } from "../chain/connection/wall-clock.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { SandboxFaults } from "../faults/faults.ts";
import { callNode, faultyNode } from "../faults/faulty-node.ts";
import { machineClock } from "../lib/time/timers.ts";
import type { Waits } from "../lib/time/waits.ts";
import type { SandboxUrls } from "../options/description.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { ReceiverPin } from "../receiver/receiver-pin.ts";
import { openWebhookSender } from "../receiver/webhook-sender.ts";
import { deriveKeys, givenAccounts, hideKey, ownAccounts, type SandboxKeys } from "./keys.ts";
import { openRelayer } from "./open-relayer.ts";
import type { RequestCounter } from "./request-counter.ts";

/** The settings that every process of a sandbox answers by. */
export type ServiceSettings = Pick<
  SandboxSettings,
  | "seed"
  | "programs"
  | "accounts"
  | "confirmations"
  | "gasBudgetWei"
  | "receiptTimeoutMs"
  | "deliveryTimeoutMs"
> &
  Partial<Pick<SandboxSettings, "rateLimit">>;

/** The service of one process: what its API is made of, and what it must start and stop. */
export interface ConnectedService {
  services: Services;
  /** The same services with a node that no fault keeps from answering, for everything that looks at the sandbox from outside. */
  withoutFaults: Services;
  relayer: Relayer;
  keys: SandboxKeys;
  keyRing: KeyRing;
}

/** The parts that connect the service of one process to the rest of the sandbox. */
export interface ServiceProcess {
  settings: ServiceSettings;
  log: Services["log"];
  chain: Pick<ChainNode, "client" | "request" | "deployment" | "accounts" | "isOwn" | "network" | "terms"> & {
    clock: Pick<SandboxClock, "mode" | "now" | "travel">;
  };
  store: Services["store"];
  recordsId: string;
  /** The store of the relayer's journal. */
  relayerJournal: RelayerJournalStore;
  /** The URLs of the sandbox, with this process's own API. */
  urls: SandboxUrls;
  receiver: ReceiverPin;
  faults: SandboxFaults;
  waits: Waits;
  /** Ends the deliveries that are in progress. */
  closing: AbortSignal;
  gate: Gate;
  requests: RequestCounter;
  wrapRelayer: (relayer: Relayer) => Relayer;
  forwardToLeader: Services["forwardToLeader"];
  refused: Services["refused"];
  answered: Services["answered"];
  /** Returns a node whose calls are noted at the request that needs them. */
  noteCalls: (request: EIP1193RequestFn) => EIP1193RequestFn;
  /** Returns a delivery that is observed. */
  watchDeliver: (deliver: Services["deliver"]) => Services["deliver"];
}

/**
 * Connects the service to everything that it may reach, equally in the process that owns the chain and in those that join it.
 *
 * Nothing is started yet: the relayer does nothing before it is asked.
 */
// Long: one list of what the service uses.
export function connectService(process: ServiceProcess): ConnectedService {
  const { settings, log, chain, store, recordsId, urls, receiver, gate, requests, forwardToLeader } = process;
  const { faults, waits, closing, refused, answered } = process;
  const { seed, confirmations, receiptTimeoutMs } = settings;
  const { client, deployment, clock } = chain;
  const keys = deriveKeys(seed, chain.accounts, settings);
  const keyRing = new KeyRing(
    seed,
    keys.accounts.map(({ program }) => program),
    store,
  );
  const relayer = connectRelayer(process, keys);
  const sender = openWebhookSender({
    receiver,
    timeoutMs: settings.deliveryTimeoutMs,
    clock,
    faults,
    waits,
    signal: closing,
  });
  const services: Services = {
    settings: {
      seed: recordsId === "" ? seed : `${seed}/${recordsId}`,
      confirmations,
      blockLagSeconds: chain.isOwn ? 0 : mostBlockLag,
      accounts: apiAccounts(seed, keys),
      urls,
      network: chain.network,
      get receiverUrl() {
        return receiver.url;
      },
      get receivesNotifications() {
        return receiver.isOwn;
      },
      receiptTimeoutMs,
    },
    deployment,
    ...connectChain(process),
    store,
    nextNumber: async (counter) => await store.next(counter),
    relayer,
    keys: keys.service,
    keyRing,
    deliver: process.watchDeliver(sender.deliver),
    pause: sender.pause,
    closing,
    gate,
    apiFaults: faults.api,
    rateLimiter: new RateLimiter(settings.rateLimit),
    requests,
    wait: async (milliseconds, stop) => await waits.wait(milliseconds, stop),
    log,
    forwardToLeader,
    refused,
    answered,
  };
  const withoutFaults: Services = {
    ...services,
    chain: openChainReader(client.request, deployment),
    clock: {
      now: async () => await clock.now(),
      fraction: async (second) => await passedOf(second, clock),
      expected: () => undefined,
    },
  };
  return { services, withoutFaults, relayer, keys, keyRing };
}

/** Opens the chain and the time as the API reads them: with the faults that are set for its calls. */
function connectChain({
  chain: { client, clock, deployment },
  faults,
  waits,
  closing,
  noteCalls,
}: ServiceProcess): Pick<Services, "chain" | "clock"> {
  const asApi = { caller: "api", faults, waits, closing } as const;
  const chain = openChainReader(noteCalls(faultyNode(client.request, asApi)), deployment);
  return {
    chain,
    clock: {
      now: async () => {
        try {
          return await callNode("eth_getBlockByNumber", async () => await clock.now(), asApi);
        } catch (cause) {
          throw new ChainUnavailableError(
            "The chain does not respond, so the API cannot read the time. Send the identical request again.",
            { cause },
          );
        }
      },
      fraction: async (second) => await passedOf(second, clock),
      expected: () => (clock.mode === "deterministic" ? chain.expected()?.timestamp : undefined),
    },
  };
}

/**
 * Returns how much of a second has passed, from 0 to 1. A live clock is ahead of the wall clock by whole seconds, so that both are at the
 * same part of a second.
 */
async function passedOf(second: number, clock: Pick<SandboxClock, "mode" | "now">): Promise<number> {
  if (clock.mode === "deterministic") return 0;
  const passed = (machineClock.now() % 1_000) / 1_000;
  return (await clock.now()) > second ? 1 : passed;
}

/** Opens the relayer, which faults keep from the node as they keep the API from it. */
function connectRelayer(process: ServiceProcess, keys: SandboxKeys): Relayer {
  const { settings, chain, faults, waits, closing, relayerJournal, noteCalls } = process;
  const node = faultyNode(chain.request, { caller: "relayer", faults, waits, closing });
  return process.wrapRelayer(
    openRelayer({
      settings,
      chain: { ...chain, request: noteCalls(node) },
      store: relayerJournal,
      signers: keys.operators,
      faults: faults.relayer,
      waits,
    }),
  );
}

/** Returns the accounts of the API: those of `sandbox.json`, and the package's own, of which those that create given states have no rate limit. */
function apiAccounts(seed: string, { accounts, added }: SandboxKeys): Services["settings"]["accounts"] {
  const unlimited = new Set(givenAccounts(seed, accounts).map(({ id }) => id));
  return [...accounts, ...added, ...ownAccounts(seed, accounts)].map((account) => ({
    ...hideKey(account),
    isLimited: !unlimited.has(account.id),
  }));
}
