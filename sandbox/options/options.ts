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
  /** Determines ids, keys and the chain epoch; equal seeds give equal sandboxes. By default `sandbox`. */
  seed?: string;
  /** `deterministic` (default): only blocks advance time. `live`: time follows the wall clock. */
  mode?: ClockMode;
  /** TCP ports on 127.0.0.1; by default 0, for any free port. */
  ports?: { api?: number; docs?: number; rpc?: number; control?: number };
  /** Required confirmations; by default 1, the block that includes the transaction. */
  confirmations?: number;
  /** The programs; the first one is the default of calls that name none. By default `prg_demo` and `prg_other`. */
  programs?: readonly ProgramOption[];
  /** The gas budget of each program, in wei; by default 1 ether. */
  gasBudgetWei?: bigint;
  /** The URL that receives notifications; by default the sandbox's test receiver. */
  receiverUrl?: string;
  /** Whether events are delivered as they happen; by default false. */
  autoDeliver?: boolean;
  /** Resolves the receiver's host to an address, once, at the start; by default the system's resolver. */
  resolveHost?: Resolve;
  /** The deadline of a delivery attempt, in real milliseconds; by default 5,000. */
  deliveryTimeoutMs?: number;
  /** The data directory, from which a later start resumes; without it nothing is written to disk. */
  dataDirectory?: string;
  /** URL of a PostgreSQL database for the records, so that other processes can join; the chain remains in the data directory. */
  store?: string;
  /** Whether to delete the sandbox in the data directory first; by default false. */
  fresh?: boolean;
  /** A snapshot file to continue from; it determines seed, mode, programs, confirmations and gas budget. */
  from?: string;
  /**
   * The longest time that a request waits for a relayed transaction or for an identical request, in milliseconds; by
   * default 2,000.
   */
  receiptTimeoutMs?: number;
  /**
   * The longest time that a snapshot or a restore waits for requests in progress, in real milliseconds; by default
   * 10,000.
   */
  snapshotTimeoutMs?: number;
  /** The deadline of the start, in real milliseconds; by default 30,000. */
  startTimeoutMs?: number;
  /** Called with the progress, in blocks, while a start mines the blocks of a data directory again. */
  onReplay?: (made: number, all: number) => void;
  /** The number of requests that each caller may send per period of sandbox time; by default unlimited. */
  rateLimit?: RateLimit;
  /** The connection limits of each port; by default {@link connectionLimits}. */
  connectionLimits?: Partial<ConnectionLimits>;
  /** Your own state to include in snapshots, restores, snapshot files and fingerprints; restored after the sandbox's state. */
  parts?: readonly Part[];
  /** Called with structured log lines of failures; by default they are dropped. */
  log?: Log;
  /** Replaces the chain for all other parts, for example with other contracts or a node with wrong answers. For tests. */
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
