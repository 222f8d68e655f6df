import { resolve } from "node:path";
import type { RateLimit } from "../../server/http/request/rate-limit.ts";
import type { Log } from "../../server/services.ts";
import type { ClockMode } from "../chain/clock/clock.ts";
import type { Network } from "../chain/connection/network.ts";
import type { NetworkOption } from "../chain/connection/network-option.ts";
import type { Registrar, RegistrarIdentity, RegistrarOption } from "../chain/registrar/registrar.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { type ConnectionLimits, connectionLimits } from "../lib/http/connection-limits.ts";
import { loopback } from "../lib/http/listen.ts";
import { type Resolve, resolveHost } from "../lib/http/pin-receiver.ts";
import type { Part } from "../lib/part.ts";
import { defaultConfirmations, defaultGasBudgetWei } from "./defaults.ts";
import {
  type AccountOption,
  type AccountSetting,
  defaultPrograms,
  type ProgramOption,
  type ProgramSetting,
  resolveAccounts,
  resolvePrograms,
} from "./programs.ts";
import { defaultStartTimeoutMs } from "./start-timeout.ts";

/** The options of a sandbox; each has a default. `docs/options.md` has these sentences in a table. */
export interface SandboxOptions {
  /**
   * Determines ids, and all keys except those of accounts on the chain. In `deterministic` mode, equal seeds and options give equal
   * sandboxes.
   *
   * @defaultValue `sandbox`
   */
  seed?: string;
  /**
   * `deterministic`: only blocks advance time, by one second each. `live`: time follows the wall clock.
   *
   * @defaultValue `deterministic` (`start`: `live`)
   */
  mode?: ClockMode;
  /**
   * TCP ports. 0 is any free port.
   *
   * @defaultValue 0 (`start`: 4020 for `api`, 4021 for `docs`, 4022 for `control`, 8545 for `rpc`)
   */
  ports?: { api?: number; docs?: number; rpc?: number; control?: number };
  /**
   * The IP address that all four ports listen at, such as `0.0.0.0` in a container. Everyone who reaches it can use the test keys, mine blocks and change
   * the state; see [Listen beyond loopback](security.md#listen-beyond-loopback).
   *
   * @defaultValue `127.0.0.1`
   */
  listen?: string;
  /**
   * Host names under which clients reach the sandbox, besides those of this machine, such as `sandbox` or `sandbox:9000`; without a port, a name is accepted with
   * any port.
   *
   * @defaultValue none
   */
  allowHosts?: readonly string[];
  /**
   * Required confirmations; 1 is the block that includes the transaction.
   *
   * @defaultValue 1
   */
  confirmations?: number;
  /**
   * The programs that are served, as in [Programs](#programs); the first one is the default of calls that name none.
   *
   * @defaultValue `prg_demo`, `prg_other`
   */
  programs?: readonly ProgramOption[];
  /**
   * Accounts that are served besides those of the programs, such as one for each backend under test: a new credential of an account revokes the one before.
   * An id alone is an account of the first program.
   *
   * @defaultValue none
   */
  accounts?: readonly AccountOption[];
  /**
   * Your own registrar contract, on which the whole sandbox runs, as in [Run the sandbox on your
   * contract](check-contract.md#run-the-sandbox-on-your-contract).
   *
   * @defaultValue the sandbox's own contract
   */
  contracts?: { registrar?: RegistrarOption };
  /**
   * The gas budget of each program: how much the relayer may spend on its transactions, in wei.
   *
   * @defaultValue `10n ** 18n` (1 ether)
   */
  gasBudgetWei?: bigint;
  /**
   * The one URL that receives the notifications of all programs.
   *
   * @defaultValue the test receiver
   */
  receiverUrl?: string;
  /**
   * Whether events are delivered as they happen.
   *
   * @defaultValue false
   */
  autoDeliver?: boolean;
  /**
   * Resolves the receiver's host name: gets the name, and returns a promise of `{ address, family }`, or of an array of them, which are tried in this
   * order. The sandbox calls it once, at the start or when you call `receiver.pin`.
   *
   * @defaultValue the system's resolver
   */
  resolveHost?: Resolve;
  /**
   * The longest time that one delivery attempt may take, in real milliseconds.
   *
   * @defaultValue 5,000
   */
  deliveryTimeoutMs?: number;
  /**
   * The data directory: the folder that stores the sandbox, and from which a later start resumes it. Without one, nothing is written to disk.
   *
   * @defaultValue none (`start`: `.sandbox`)
   */
  dataDirectory?: string;
  /**
   * URL of a PostgreSQL database for the records, so that other processes can join; the chain remains in the data directory.
   *
   * @defaultValue none
   */
  store?: string;
  /**
   * Whether to delete the sandbox in the data directory first.
   *
   * @defaultValue false
   */
  fresh?: boolean;
  /**
   * A [snapshot file](snapshots.md#snapshot-files) to continue from. It determines seed, mode and programs, and the defaults of `confirmations` and `gasBudgetWei`.
   *
   * @defaultValue none
   */
  from?: string;
  /**
   * The longest time that a request waits for a relayed transaction, or for an identical request, in real milliseconds.
   *
   * @defaultValue 2,000
   */
  receiptTimeoutMs?: number;
  /**
   * The longest time that a snapshot, a restore or a save waits for requests in progress, in real milliseconds.
   *
   * @defaultValue 10,000
   */
  snapshotTimeoutMs?: number;
  /**
   * The longest time that the start may take, in real milliseconds. It starts over at each block that the start mines again.
   *
   * @defaultValue 30,000
   */
  startTimeoutMs?: number;
  /**
   * Called after each block that a start mines again: `made` is the number of blocks so far, `all` the total.
   *
   * @defaultValue none
   */
  onReplay?: (made: number, all: number) => void;
  /**
   * Each caller of the API may send `requests` requests in each period of `seconds` seconds of sandbox time.
   *
   * @defaultValue unlimited
   */
  rateLimit?: RateLimit;
  /**
   * The limits of each port: open connections at a time, and real milliseconds until the headers and until the whole request have arrived.
   *
   * @defaultValue `{ connections: 1_000, headersMs: 10_000, requestMs: 30_000 }`
   */
  connectionLimits?: Partial<ConnectionLimits>;
  /**
   * Your own state, to include in snapshots, restores, snapshot files and [fingerprints](ci.md#equal-runs); a restore brings them back before
   * the sandbox's state. See [your own state](snapshots.md#your-own-state).
   *
   * @defaultValue none
   */
  parts?: readonly Part[];
  /**
   * Receives structured log lines: `info(fields, message)` for each request, `error(fields, message)` for failures.
   *
   * @defaultValue log lines are dropped
   */
  log?: Log;
  /**
   * Replaces the chain for all other parts of the sandbox, for example with other contracts or with a node that returns wrong data. Use
   * it to test how the sandbox reacts to such a chain.
   *
   * @defaultValue none
   */
  adaptChain?: (chain: ChainNode) => Promise<ChainNode>;
  /**
   * A node to connect to instead of a chain of the sandbox's own, and the files that `routing-sandbox deploy` has written for it, as in [Public
   * networks](public-network.md). It determines seed, mode and programs.
   *
   * @defaultValue none
   */
  network?: NetworkOption;
}

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
    confirmations: options.confirmations ?? defaultConfirmations,
    programs,
    accounts: resolveAccounts(options.accounts ?? [], programs),
    contracts: { registrar },
    gasBudgetWei: options.gasBudgetWei ?? defaultGasBudgetWei,
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
    network,
  };
}

function folderOf(dataDirectory: string): string {
  if (dataDirectory === "")
    throw new SandboxError(
      "option_invalid",
      "The option dataDirectory is empty. Leave it out to keep nothing.",
    );
  return resolve(dataDirectory);
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
