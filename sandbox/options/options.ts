import { isIP } from "node:net";
import { types } from "node:util";
import { z } from "zod";
import { URL } from "../../protocol/globals.ts";
import type { RateLimit } from "../../server/http/request/rate-limit.ts";
import type { Log } from "../../server/http/services.ts";
import type { ClockMode } from "../chain/clock/clock.ts";
import type { NetworkOption } from "../chain/connection/network-option.ts";
import { type RegistrarOption, registrarOption } from "../chain/registrar/registrar.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import type { ConnectionLimits } from "../lib/http/connection-limits.ts";
import { isHostName } from "../lib/http/host-and-origin.ts";
import type { Resolve } from "../lib/http/pin-receiver.ts";
import {
  callback,
  findFieldless,
  flagged,
  flaggedIn,
  isObject,
  listOf,
  must,
  objectOf,
  oneOf,
  text,
  typed,
  whole,
} from "../lib/option-schemas.ts";
import type { Part } from "../lib/part.ts";
import {
  defaultConfirmations,
  defaultGasBudgetWei,
  defaultStartTimeoutMs,
  longestSeed,
  mostConfirmations,
  mostGasBudgetWei,
  mostStartTimeoutMs,
} from "./defaults.ts";
import type { AccountOption, ProgramOption } from "./programs.ts";

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
   * @defaultValue `deterministic`; `live` with `start`
   */
  mode?: ClockMode;
  /**
   * TCP ports; 0 is any free one.
   *
   * @defaultValue 0 each, with `start` 4020 for `api`, 4021 for `docs`, 4022 for `control` and 8545 for `rpc`
   */
  ports?: { [Part in "api" | "docs" | "rpc" | "control"]?: number | undefined };
  /**
   * The IP address of all ports. Everyone who reaches it [controls the sandbox](security.md#listen-beyond-loopback).
   *
   * @defaultValue `127.0.0.1`
   */
  listen?: string;
  /**
   * Other host names under which clients [reach the sandbox](security.md#listen-beyond-loopback).
   *
   * @defaultValue none
   */
  allowHosts?: readonly string[];
  /**
   * Origins of web pages on other machines that may call the chain RPC and the wallet routes.
   *
   * @defaultValue none
   */
  allowOrigins?: readonly string[];
  /**
   * Required confirmations; 1 is the block that includes the transaction.
   *
   * @defaultValue 1
   */
  confirmations?: number;
  /**
   * The served [programs](#programs). Calls that name none use the first one.
   *
   * @defaultValue `prg_demo`, `prg_other`
   */
  programs?: readonly ProgramOption[];
  /**
   * [Accounts](#programs) besides those of the programs. An id alone is an account of the first program.
   *
   * @defaultValue none
   */
  accounts?: readonly AccountOption[];
  /**
   * Your own registrar contract, [on which the whole sandbox runs](check-contract.md#run-the-sandbox-on-your-contract).
   *
   * @defaultValue the sandbox's own contract
   */
  contracts?: { registrar?: RegistrarOption | undefined };
  /**
   * How many wei the relayer may spend on the transactions of each program.
   *
   * @defaultValue `10n ** 18n`, 1 ether
   */
  gasBudgetWei?: bigint;
  /**
   * The one URL that receives the notifications of all programs.
   *
   * @defaultValue the test receiver
   */
  receiverUrl?: string;
  /**
   * Delivers events as they happen, next to your requests: equal runs can have other fingerprints.
   *
   * @defaultValue false
   */
  autoDeliver?: boolean;
  /**
   * Resolves the receiver's host name, once: gets the name, and returns a promise of `{ address }`, or of an array of them, of which IPv4 and IPv6 addresses are tried in turn.
   *
   * @defaultValue the system's resolver
   */
  resolveHost?: Resolve;
  /**
   * The longest real time of one delivery attempt.
   *
   * @defaultValue 5,000
   */
  deliveryTimeoutMs?: number;
  /**
   * The folder that stores the sandbox, which a later start resumes. Without one, nothing is written to disk.
   *
   * @defaultValue none; `.sandbox` with `start`
   */
  dataDirectory?: string;
  /**
   * URL of a PostgreSQL database for the records, so that other processes can join. The chain stays in the data directory.
   *
   * @defaultValue none
   */
  store?: string;
  /**
   * Deletes the sandbox in the data directory first.
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
   * The longest real time that a request waits for an identical request, or until a relayed transaction is in a block; it does not wait for further confirmations.
   *
   * @defaultValue 2,000
   */
  receiptTimeoutMs?: number;
  /**
   * The longest real time that a snapshot, a restore or a save waits for requests in progress.
   *
   * @defaultValue 10,000
   */
  snapshotTimeoutMs?: number;
  /**
   * The longest real time of the start. It starts over at each block that the start mines again.
   *
   * @defaultValue 30,000
   */
  startTimeoutMs?: number;
  /**
   * Called as `onReplay(made, all)` after each block that a start mines again, with the number of blocks so far and the total.
   *
   * @defaultValue none
   */
  onReplay?: (made: number, all: number) => void;
  /**
   * How many requests each caller of the API may send in each period of `seconds` of sandbox time.
   *
   * @defaultValue unlimited
   */
  rateLimit?: RateLimit;
  /**
   * Limits of each port: open connections, and real milliseconds until the headers and the whole request have arrived.
   *
   * @defaultValue `{ connections: 1_000, headersMs: 10_000, requestMs: 30_000 }`
   */
  connectionLimits?: { [Limit in keyof ConnectionLimits]?: number | undefined };
  /**
   * [Your own state](snapshots.md#your-own-state) for snapshots, restores, snapshot files and [fingerprints](ci.md#equal-runs).
   *
   * @defaultValue none
   */
  parts?: readonly Part[];
  /**
   * Receives log lines: `info(fields, message)` for each request, `error(fields, message)` for failures.
   *
   * @defaultValue log lines are dropped
   */
  log?: Log;
  /**
   * Replaces the chain for the rest of the sandbox, for example with a node that returns wrong data: gets the chain, and returns a promise of the one to use.
   *
   * @defaultValue none
   */
  adaptChain?: (chain: ChainNode) => Promise<ChainNode>;
  /**
   * A node instead of an own chain, and the files that [`routing-sandbox deploy`](public-network.md) wrote. It determines seed, mode and programs. Fields: an array of URLs, two file names, a URL, and a whole number from 1.
   *
   * @defaultValue none
   */
  network?: NetworkOption;
}

function milliseconds(most: number) {
  return whole(1, most, " of milliseconds");
}

function flag() {
  return z.boolean(must("true or false")).meta({ title: "true or false" });
}

function wei() {
  const name = "a bigint of wei from 0 to 2n ** 256n - 1n, such as 10n ** 18n";
  return z.bigint(must(name)).min(0n, must(name)).max(mostGasBudgetWei, must(name)).meta({ title: name });
}

const partName = "an object with name, schema, capture and restore";

const part = typed<Part>(partName, isObject)
  .pipe(
    z.looseObject({
      name: text("a string of at least one character"),
      // The check also accepts schemas of another copy of zod, such as a project that uses this package may have.
      schema: typed<Part["schema"]>(
        "a schema of zod 4, or null",
        (value) => value === null || value instanceof z.core.$ZodType,
      ),
      capture: callback<Part["capture"]>(),
      restore: callback<Part["restore"]>(),
      digest: typed<NonNullable<Part["digest"]>>(
        "a function",
        (value) => value === undefined || typeof value === "function",
      ).exactOptional(),
    }),
  )
  .meta({ title: partName });

/** The options of createSandbox: their check, their flags, and the types in `docs/options.md`. */
export const sandboxOptions = objectOf("", {
  seed: flagged(
    text(`a string of 1 to ${longestSeed} characters`, longestSeed),
    "--seed <text>",
    "the text that ids and most test keys are derived from; in deterministic mode, equal seeds and options give equal sandboxes",
    { byDefault: "sandbox" },
  ),
  mode: flagged(
    oneOf(["live", "deterministic"], '"deterministic" or "live"'),
    "--mode <mode>",
    "live: time follows the wall clock; deterministic: only blocks advance it",
    { byDefault: "live" },
  ),
  ports: objectOf("such as { api: 4020 }", {
    api: flagged(whole(0, 65_535), "--api-port <number>", "port of the routing API, 0 for any free one"),
    docs: flagged(
      whole(0, 65_535),
      "--docs-port <number>",
      "port of the documentation host, 0 for any free one",
    ),
    control: flagged(
      whole(0, 65_535),
      "--control-port <number>",
      "port of the control API, 0 for any free one",
    ),
    rpc: flagged(whole(0, 65_535), "--rpc-port <number>", "port of the chain RPC, 0 for any free one"),
  }).optional(),
  listen: flagged(
    typed<string>(
      'an IP address, such as "0.0.0.0"',
      // A zone, as in fe80::1%eth0, has no place in a URL.
      (value) => typeof value === "string" && isIP(value) !== 0 && !value.includes("%"),
    ),
    "--listen <address>",
    "the IP address of all ports, such as 0.0.0.0 in a container; everyone who reaches it controls the sandbox",
    { byDefault: "127.0.0.1" },
  ),
  allowHosts: flagged(
    listOf(
      typed<string>(
        'a host name without a scheme, such as "sandbox" or "sandbox:9000"',
        (value) => typeof value === "string" && isHostName(value),
      ),
    ),
    "--allow-host <name>",
    "a host name under which clients reach the sandbox, such as sandbox or sandbox:9000; repeatable",
  ),
  allowOrigins: flagged(
    listOf(
      typed<string>(
        'an origin, such as "https://shop.example"',
        (value) => typeof value === "string" && URL.parse(value)?.origin === value,
      ),
    ),
    "--allow-origin <origin>",
    "the origin of pages on other machines that may call the chain RPC and the wallet routes, such as https://shop.example; repeatable",
  ),
  confirmations: flagged(
    whole(1, mostConfirmations),
    "--confirmations <number>",
    "required confirmations; the first is the block that includes the transaction",
    { byDefault: `${defaultConfirmations}` },
  ),
  programs: flagged(
    listOf(
      typed<ProgramOption>(
        'a program\'s id such as "prg_demo", or { id, name, account }',
        (value) => typeof value === "string" || isObject(value),
      ),
    ),
    "--program <id>",
    'a program to serve: "id" or "id=name", such as "prg_books=Book store"; repeatable',
    { byDefault: "prg_demo and prg_other", pairedWith: "name" },
  ),
  accounts: flagged(
    listOf(
      typed<AccountOption>(
        'an account\'s id such as "acct_worker", or { id, program }',
        (value) => typeof value === "string" || isObject(value),
      ),
    ),
    "--account <id>",
    'an account besides those of the programs: "id" or "id=program", such as acct_worker=prg_other; repeatable',
    { pairedWith: "program" },
  ),
  contracts: objectOf('such as { registrar: { artifact: "out/MyRegistrar.sol/MyRegistrar.json" } }', {
    registrar: registrarOption.optional(),
  }).optional(),
  gasBudgetWei: flagged(wei(), "--gas-budget <wei>", "the gas budget of each program", {
    byDefault: `${defaultGasBudgetWei / 10n ** 18n} ether`,
  }),
  receiverUrl: flagged(text(), "--receiver-url <url>", "the URL that receives notifications", {
    byDefault: "the test receiver",
  }),
  autoDeliver: flagged(
    flag(),
    "--auto-deliver",
    "deliver events as they happen, next to other requests, so that equal runs can have other fingerprints",
  ),
  resolveHost: callback<Resolve>().optional(),
  deliveryTimeoutMs: milliseconds(60_000).optional(),
  dataDirectory: flagged(text(), "--data-dir <folder>", "the data directory"),
  store: flagged(
    text(),
    "--store <url>",
    "keep the records in PostgreSQL: postgres://user:password@host:port/database?schema=name",
  ),
  fresh: flagged(flag(), "--fresh", "delete the sandbox in the data directory first"),
  from: flagged(text(), "--from <file>", "create the sandbox in the data directory from this snapshot file"),
  receiptTimeoutMs: whole(0, undefined, " of milliseconds").optional(),
  snapshotTimeoutMs: milliseconds(600_000).optional(),
  startTimeoutMs: flagged(
    milliseconds(mostStartTimeoutMs),
    "--start-timeout <milliseconds>",
    "the longest time that the start may take",
    { byDefault: `${defaultStartTimeoutMs}` },
  ),
  onReplay: callback<(made: number, all: number) => void>().optional(),
  rateLimit: objectOf("such as { requests: 100, seconds: 60 }", {
    requests: whole(1),
    seconds: whole(1),
  }).optional(),
  connectionLimits: objectOf("such as { connections: 100 }", {
    connections: whole(1).optional(),
    headersMs: whole(1).optional(),
    requestMs: whole(1).optional(),
  }).optional(),
  parts: listOf(part).optional(),
  log: typed<Log>("an object with the functions info and error", (value) =>
    hasFunctions(value, "info", "error"),
  ).optional(),
  adaptChain: callback<(chain: ChainNode) => Promise<ChainNode>>().optional(),
  network: objectOf("such as { rpcUrls: [url], keys: file, deployment: file }", {
    rpcUrls: listOf(text()),
    keys: text(),
    deployment: text(),
    publicRpcUrl: text().optional(),
    allowChainId: whole(1).optional(),
  }).optional(),
} satisfies { [Name in keyof Required<SandboxOptions>]: z.ZodType<SandboxOptions[Name]> });

/** The options that have a flag. */
export const flaggedOptions = flaggedIn(sandboxOptions.shape);

/**
 * Refuses an option that does not exist or is of another type: JavaScript, and values of a type that was cast, are not checked by a compiler.
 *
 * @throws SandboxError option_invalid
 */
export function checkOptions(options: z.input<typeof sandboxOptions>): void {
  const fieldless = findFieldless(options);
  if (fieldless !== undefined)
    throw new SandboxError(
      "option_invalid",
      `The option ${fieldless.option} is ${showValue(fieldless.value)}. ${types.isPromise(fieldless.value) ? "Await it first." : "Pass an object with its fields."}`,
    );
  const { error } = sandboxOptions.safeParse(options);
  // Of the whole before those of its parts, and before wrong values.
  const unknown = error?.issues.findLast(({ code }) => code === "unrecognized_keys");
  const message = (unknown ?? error?.issues[0])?.message;
  if (message !== undefined) throw new SandboxError("option_invalid", message);
}

function hasFunctions(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof Reflect.get(value, name) === "function");
}
