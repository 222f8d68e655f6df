import { resolve } from "node:path";
import type { RateLimit } from "../../server/http/request/rate-limit.ts";
import type { Log } from "../../server/http/services.ts";
import type { ClockMode } from "../chain/clock/clock.ts";
import type { Network } from "../chain/connection/network.ts";
import type { Registrar, RegistrarIdentity } from "../chain/registrar/registrar.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { definedOnly } from "../lib/defined-only.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { type ConnectionLimits, connectionLimits } from "../lib/http/connection-limits.ts";
import { loopback } from "../lib/http/listen.ts";
import { type Resolve, resolveHost } from "../lib/http/pin-receiver.ts";
import type { Part } from "../lib/part.ts";
import { defaultConfirmations, defaultGasBudgetWei, defaultStartTimeoutMs } from "./defaults.ts";
import type { SandboxOptions } from "./options.ts";
import {
  type AccountSetting,
  defaultPrograms,
  type ProgramSetting,
  resolveAccounts,
  resolvePrograms,
} from "./programs.ts";

/** The options with every default filled in. */
export interface SandboxSettings {
  seed: string;
  mode: ClockMode;
  ports: { api: number; docs: number; rpc: number; control: number };
  confirmations: number;
  programs: readonly ProgramSetting[];
  accounts: readonly AccountSetting[];
  contracts: {
    /** The registrar contract or, for a resumed sandbox, what is known about it; null for the sandbox's own contract. */
    registrar: Registrar | RegistrarIdentity | null;
  };
  listen: string;
  allowHosts: readonly string[];
  allowOrigins: readonly string[];
  gasBudgetWei: bigint;
  receiverUrl: string | undefined;
  autoDeliver: boolean;
  resolveHost: Resolve;
  deliveryTimeoutMs: number;
  dataDirectory: string | undefined;
  store: string | undefined;
  fresh: boolean;
  receiptTimeoutMs: number;
  snapshotTimeoutMs: number;
  startTimeoutMs: number;
  onReplay: (made: number, all: number) => void;
  rateLimit: RateLimit | undefined;
  connectionLimits: ConnectionLimits;
  parts: readonly Part[];
  log: Log;
  adaptChain: (chain: ChainNode) => Promise<ChainNode>;
  /** The node that serves the chain, with the keys and the deployment; null for the sandbox's own chain. */
  network: Network | null;
}

/**
 * Fills in the defaults of options that were checked.
 *
 * @param registrar - the registrar contract that the options name, or that the sandbox was made with.
 * @throws SandboxError option_invalid for an empty data directory, for `fresh` without a data directory, for two parts with the same port,
 * and for programs that cannot be served.
 */
export function resolveOptions(
  options: SandboxOptions,
  registrar: SandboxSettings["contracts"]["registrar"] = null,
  network: Network | null = null,
): SandboxSettings {
  const { ports = {}, receiptTimeoutMs = 2_000 } = options;
  if (options.fresh === true && options.dataDirectory === undefined)
    throw new SandboxError(
      "option_invalid",
      "The option fresh replaces the sandbox in a data directory, and the option dataDirectory is missing. Pass a directory, or leave out the option fresh.",
    );
  const programs = options.programs === undefined ? defaultPrograms : resolvePrograms(options.programs);
  return {
    seed: options.seed ?? "sandbox",
    mode: options.mode ?? "deterministic",
    ports: distinct({
      api: ports.api ?? 0,
      docs: ports.docs ?? 0,
      rpc: ports.rpc ?? 0,
      control: ports.control ?? 0,
    }),
    listen: options.listen ?? loopback,
    allowHosts: (options.allowHosts ?? []).map((name) => name.toLowerCase()),
    allowOrigins: options.allowOrigins ?? [],
    confirmations: options.confirmations ?? defaultConfirmations,
    programs,
    accounts: resolveAccounts(options.accounts ?? [], programs),
    contracts: { registrar },
    gasBudgetWei: options.gasBudgetWei ?? defaultGasBudgetWei,
    receiverUrl: options.receiverUrl,
    autoDeliver: options.autoDeliver ?? false,
    resolveHost: options.resolveHost ?? resolveHost,
    deliveryTimeoutMs: options.deliveryTimeoutMs ?? 5_000,
    dataDirectory: options.dataDirectory === undefined ? undefined : resolve(options.dataDirectory),
    store: options.store,
    fresh: options.fresh ?? false,
    receiptTimeoutMs,
    snapshotTimeoutMs: options.snapshotTimeoutMs ?? 10_000,
    startTimeoutMs: options.startTimeoutMs ?? defaultStartTimeoutMs,
    onReplay: options.onReplay ?? (() => {}),
    rateLimit: options.rateLimit,
    connectionLimits: { ...connectionLimits, ...definedOnly(options.connectionLimits ?? {}) },
    parts: options.parts ?? [],
    log: options.log ?? { info() {}, error() {} },
    adaptChain: options.adaptChain ?? (async (chain: ChainNode) => chain),
    network,
  };
}

function distinct(ports: SandboxSettings["ports"]): SandboxSettings["ports"] {
  const byPort = Map.groupBy(Object.entries(ports), ([, port]) => port);
  for (const [port, [first, second]] of byPort)
    if (port !== 0 && first !== undefined && second !== undefined)
      throw new SandboxError(
        "option_invalid",
        `The option ports.${first[0]} and the option ports.${second[0]} have the same port ${port}. Choose another port for one of them, or 0 for any free port.`,
      );
  return ports;
}
