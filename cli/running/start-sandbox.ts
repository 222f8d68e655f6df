import { isIP } from "node:net";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { definedOnly } from "../../sandbox/lib/defined-only.ts";
import { defaultConfirmations, defaultGasBudgetWei } from "../../sandbox/options/defaults.ts";
import type { AccountOption, ProgramOption } from "../../sandbox/options/programs.ts";
import {
  addPortOptions,
  addRegistrarOptions,
  freshOption,
  optionWithDefault,
  type PortFlags,
  type Ports,
  type RegistrarFlags,
  registrarOf,
  startTimeoutOption,
  wholeNumber,
} from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { type LogFlags, logFormatOption, logLevelOption, openLog } from "./open-log.ts";

/** The options that {@link addStartOptions} gives to a command, and its data directory. */
export interface StartFlags extends PortFlags, RegistrarFlags, LogFlags {
  readonly dataDir: string;
  readonly seed?: string;
  readonly mode?: "live" | "deterministic";
  readonly store?: string;
  readonly fresh?: boolean;
  readonly confirmations?: number;
  readonly gasBudget?: bigint;
  readonly program?: ProgramOption[];
  readonly account?: AccountOption[];
  readonly from?: string;
  readonly receiverUrl?: string;
  readonly autoDeliver?: boolean;
  readonly listen?: string;
  readonly allowHost?: string[];
  readonly startTimeout: number;
}

/** Adds the options of a sandbox that the command starts. */
export function addStartOptions(command: Command, ports: Ports): Command {
  command
    .addOption(freshOption("delete the sandbox in the data directory first"))
    .option("--from <file>", "create the sandbox in the data directory from this snapshot file")
    .addOption(
      optionWithDefault(
        "--seed <text>",
        "the text that ids and most test keys are derived from; in deterministic mode, equal seeds and options give equal sandboxes",
        "sandbox",
      ),
    )
    .addOption(
      optionWithDefault(
        "--mode <mode>",
        "live: time follows the wall clock; deterministic: only blocks advance it",
        "live",
      ).choices(["live", "deterministic"]),
    )
    .addOption(
      optionWithDefault(
        "--program <id>",
        'a program to serve, as an id or as "id=name", such as prg_books or "prg_books=Book store"; repeatable',
        "prg_demo and prg_other",
      ).argParser(addProgram),
    )
    .addOption(
      new Option(
        "--account <id>",
        'an account besides those of the programs, as an id or as "id=program", such as acct_worker or acct_worker=prg_other; repeatable',
      ).argParser(addAccount),
    );
  return addReachOptions(addPortOptions(addRegistrarOptions(command), ports))
    .addOption(
      optionWithDefault(
        "--confirmations <number>",
        "required confirmations; the first is the block that includes the transaction",
        defaultConfirmations,
        wholeNumber(),
      ),
    )
    .addOption(
      optionWithDefault(
        "--gas-budget <wei>",
        "the gas budget of each program",
        `${defaultGasBudgetWei / 10n ** 18n} ether`,
        wei,
      ),
    )
    .addOption(
      optionWithDefault("--receiver-url <url>", "the URL that receives notifications", "the test receiver"),
    )
    .option("--auto-deliver", "deliver events as they happen")
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addOption(startTimeoutOption());
}

/** Adds the options of who can reach the sandbox. */
function addReachOptions(command: Command): Command {
  return command
    .addOption(
      optionWithDefault(
        "--listen <address>",
        "the IP address that all ports listen at, such as 0.0.0.0 in a container; everyone who reaches it controls the sandbox",
        "127.0.0.1",
      ),
    )
    .addOption(
      new Option(
        "--allow-host <name>",
        "a host name under which clients reach the sandbox, such as sandbox or sandbox:9000; repeatable",
      ).argParser((name: string, before: string[] = []) => [...before, name]),
    );
}

/**
 * Starts the sandbox that the options describe. Later failures are logged to standard error.
 *
 * @param onReplay - called after each block that the start mines again.
 * @throws as createSandbox does.
 */
export async function startSandbox(
  terminal: Terminal,
  flags: StartFlags,
  onReplay?: (made: number, all: number) => void,
): Promise<Sandbox> {
  const { createSandbox } = await import("../../sandbox/create-sandbox.ts");
  const log = await openLog(terminal, flags);
  const { seed, mode = await modeFor(flags), program: programs, account: accounts, from } = flags;
  const {
    confirmations,
    gasBudget: gasBudgetWei,
    receiverUrl,
    store,
    autoDeliver,
    listen,
    allowHost: allowHosts,
  } = flags;
  const registrar = registrarOf(flags);
  warnOfExposure(terminal, listen);
  return await createSandbox({
    ...definedOnly({
      contracts: registrar && { registrar },
      seed,
      mode,
      programs,
      accounts,
      from,
      confirmations,
      gasBudgetWei,
      receiverUrl,
      store,
      autoDeliver,
      listen,
      allowHosts,
      onReplay,
    }),
    ports: { api: flags.apiPort, docs: flags.docsPort, rpc: flags.rpcPort, control: flags.controlPort },
    dataDirectory: flags.dataDir,
    fresh: flags.fresh ?? false,
    startTimeoutMs: flags.startTimeout,
    log,
  });
}

/** Writes to standard error what a sandbox that listens beyond loopback exposes. */
export function warnOfExposure({ stderr }: Terminal, listen: string | undefined): void {
  if (listen === undefined || isIP(listen) === 0 || isLoopback(listen)) return;
  stderr.write(
    `Warning: the API, the documentation, the chain RPC and the control API listen at ${listen}. Everyone who reaches it gets the test keys, can mine blocks and can change or delete everything in the sandbox; use it only in a network that you trust.\n`,
  );
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

/** A person's sandbox is live, unless it continues as it was made. */
async function modeFor({ dataDir, fresh, from }: StartFlags): Promise<"live" | undefined> {
  const { readKeptSettings } = await import("../../sandbox/data-directory/beginning.ts");
  const continues = from !== undefined || (!fresh && (await readKeptSettings(dataDir)) !== null);
  return continues ? undefined : "live";
}

function wei(text: string): bigint {
  if (!/^\d{1,40}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of wei.");
  return BigInt(text);
}

function addAccount(text: string, before: readonly AccountOption[] = []): AccountOption[] {
  const [id = "", program] = text.split("=");
  return [...before, program === undefined ? id : { id, program }];
}

function addProgram(text: string, before: readonly ProgramOption[] = []): ProgramOption[] {
  const [id = "", ...name] = text.split("=");
  return [...before, name.length === 0 ? id : { id, name: name.join("=") }];
}
