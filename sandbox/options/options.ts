import { resolve } from "node:path";
import type { RateLimit } from "../../server/http/request/rate-limit.ts";
import type { Log } from "../../server/services.ts";
import type { ClockMode } from "../chain/clock/clock.ts";
import type { ChainNode } from "../chain/genesis/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { type ConnectionLimits, connectionLimits } from "../lib/http/connection-limits.ts";
import { type Resolve, resolveHost } from "../lib/http/pin-receiver.ts";
import type { Part } from "../lib/part.ts";
import { defaultPrograms, type ProgramOption, type ProgramSetting, resolvePrograms } from "./programs.ts";
import { requireMilliseconds } from "./require-milliseconds.ts";
import { checkStartTimeout, defaultStartTimeoutMs } from "./start-timeout.ts";

/** The options of a sandbox; each has a default. */
export interface SandboxOptions {
  /** Makes ids, keys and the chain's epoch; equal seeds give equal sandboxes. `sandbox` by default. */
  seed?: string;
  /** `deterministic` (default): time moves with blocks only. `live`: with the wall clock. */
  mode?: ClockMode;
  /** TCP ports on 127.0.0.1; 0, the default, lets the kernel choose. */
  ports?: { api?: number; docs?: number; rpc?: number; control?: number };
  /** Required confirmations; 1, the default, is the block that includes the transaction. */
  confirmations?: number;
  /** The programs that are served, the first one for operations that name none; `prg_demo` and `prg_other` by default. */
  programs?: readonly ProgramOption[];
  /** What each program's relayer may spend on gas, in wei; 1 ether by default. */
  gasBudgetWei?: bigint;
  /** The one URL that notifications go to; the sandbox's own receiver by default. */
  receiverUrl?: string;
  /** Delivers events as they happen; false by default. */
  autoDeliver?: boolean;
  /** Answers the address of the receiver's host, once, at the start; the system's resolver by default. */
  resolveHost?: Resolve;
  /** How long a delivery may take, in real milliseconds; 5,000 by default. */
  deliveryTimeoutMs?: number;
  /** Where the sandbox is kept across runs; without it nothing is written. */
  dataDirectory?: string;
  /** URL of a PostgreSQL database that keeps the records instead, so that other processes can join; the chain stays in the directory. */
  store?: string;
  /** Forget what the data directory holds. */
  fresh?: boolean;
  /** A snapshot file to continue from; it brings its seed, mode, programs, confirmations and gas budget. */
  from?: string;
  /** How long a request waits for a relayed receipt or for its twin, in milliseconds; 2,000 by default. */
  receiptTimeoutMs?: number;
  /** How long a snapshot or a restore waits for what is under way, in real milliseconds; 10,000 by default. */
  snapshotTimeoutMs?: number;
  /** How long the start may take until everything answers, in real milliseconds; 30,000 by default. */
  startTimeoutMs?: number;
  /** Called, while a start makes the blocks of a data directory again, with how many of them are made, and of how many. */
  onReplay?: (made: number, all: number) => void;
  /** How many requests each caller may send in so many seconds of sandbox time; no limit by default. */
  rateLimit?: RateLimit;
  /** What one client can hold of each port; {@link connectionLimits} by default. */
  connectionLimits?: Partial<ConnectionLimits>;
  /** State of your own that snapshots, restores, snapshot files and fingerprints include, restored after the sandbox's; none by default. */
  parts?: readonly Part[];
  /** Where structured log lines of failures go; nowhere by default. */
  log?: Log;
  /** Puts something between the chain and everything that uses it: other contracts, or a node that lies. For tests. */
  adaptChain?: (chain: ChainNode) => Promise<ChainNode>;
}

/** The options with every default filled in. */
export interface SandboxSettings {
  seed: string;
  mode: ClockMode;
  ports: { api: number; docs: number; rpc: number; control: number };
  confirmations: number;
  programs: readonly ProgramSetting[];
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
}

/**
 * Fills in the defaults.
 *
 * @throws SandboxError option_invalid for a setting that makes no sense.
 */
export function resolveOptions(options: SandboxOptions): SandboxSettings {
  const { ports = {}, confirmations = 1, gasBudgetWei = 10n ** 18n, receiptTimeoutMs = 2_000 } = options;
  const settings = {
    seed: options.seed ?? "sandbox",
    mode: options.mode ?? "deterministic",
    ports: { api: ports.api ?? 0, docs: ports.docs ?? 0, rpc: ports.rpc ?? 0, control: ports.control ?? 0 },
    confirmations,
    programs: options.programs === undefined ? defaultPrograms : resolvePrograms(options.programs),
    gasBudgetWei,
    receiverUrl: options.receiverUrl,
    autoDeliver: options.autoDeliver ?? false,
    resolveHost: options.resolveHost ?? resolveHost,
    deliveryTimeoutMs: options.deliveryTimeoutMs ?? 5_000,
    dataDirectory: options.dataDirectory === undefined ? undefined : folderOf(options.dataDirectory),
    store: options.store,
    fresh: options.fresh ?? false,
    receiptTimeoutMs,
    snapshotTimeoutMs: options.snapshotTimeoutMs ?? 10_000,
    startTimeoutMs: options.startTimeoutMs ?? defaultStartTimeoutMs,
    onReplay: options.onReplay ?? (() => {}),
    rateLimit: options.rateLimit,
    connectionLimits: { ...connectionLimits, ...options.connectionLimits },
    parts: options.parts ?? [],
    log: options.log ?? { info() {}, error() {} },
    adaptChain: options.adaptChain ?? (async (chain: ChainNode) => chain),
  };
  check(settings);
  return settings;
}

/**
 * Names an option that there is not: JavaScript, and options that were put together elsewhere, are not checked by a compiler.
 *
 * @throws SandboxError option_invalid
 */
export function requireKnown(options: SandboxOptions, settings: SandboxSettings): void {
  const names = [...Object.keys(settings), "from"];
  for (const name of Object.keys(options))
    if (!names.includes(name))
      throw new SandboxError(
        "option_invalid",
        `createSandbox has no option ${JSON.stringify(name)}. Use ${names.join(", ")}.`,
      );
}

function folderOf(dataDirectory: string): string {
  if (dataDirectory === "")
    throw new SandboxError("option_invalid", "dataDirectory is empty; leave it out to keep nothing.");
  return resolve(dataDirectory);
}

function check({ seed, mode, ports, confirmations, gasBudgetWei, ...rest }: SandboxSettings): void {
  for (const [name, port] of Object.entries(ports))
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new SandboxError(
        "option_invalid",
        `ports.${name} (--${name}-port) must be a number from 0 to 65535, not ${port}.`,
      );
  if (typeof seed !== "string" || seed.length === 0 || seed.length > 200)
    throw new SandboxError("option_invalid", "The seed must have 1 to 200 characters.");
  if (mode !== "deterministic" && mode !== "live")
    throw new SandboxError(
      "option_invalid",
      `mode must be "deterministic" or "live", not ${JSON.stringify(mode)}.`,
    );
  if (!Number.isInteger(confirmations) || confirmations < 1 || confirmations > 1_000)
    throw new SandboxError(
      "option_invalid",
      `confirmations must be a whole number from 1 to 1000, not ${confirmations}.`,
    );
  if (gasBudgetWei < 0n) throw new SandboxError("option_invalid", "The gas budget must not be negative.");
  const { deliveryTimeoutMs, receiptTimeoutMs, snapshotTimeoutMs, startTimeoutMs } = rest;
  requireMilliseconds("snapshotTimeoutMs", snapshotTimeoutMs, 600_000);
  checkStartTimeout(startTimeoutMs);
  requireMilliseconds("deliveryTimeoutMs", deliveryTimeoutMs, 60_000);
  if (!Number.isInteger(receiptTimeoutMs) || receiptTimeoutMs < 0)
    throw new SandboxError(
      "option_invalid",
      `receiptTimeoutMs must be a whole number of milliseconds, 0 or more, not ${receiptTimeoutMs}.`,
    );
}
