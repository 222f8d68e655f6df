import { Command, InvalidArgumentError } from "commander";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { definedOnly } from "../../sandbox/lib/defined-only.ts";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import { defaultConfirmations, defaultGasBudgetWei } from "../../sandbox/options/defaults.ts";
import type { ProgramOption } from "../../sandbox/options/programs.ts";
import type { SandboxDescription } from "../../sandbox/state/description.ts";
import { inFlags } from "../flags.ts";
import { interruption } from "../interruption.ts";
import {
  addPortOptions,
  dataDirectoryOption,
  defaultDataDirectory,
  freshOption,
  jsonOption,
  optionWithDefault,
  type PortFlags,
  type SandboxFlags,
  startTimeoutOption,
  storeOption,
  wholeNumber,
} from "../options.ts";
import { print } from "../print.ts";

interface StartFlags extends SandboxFlags, PortFlags {
  seed?: string;
  mode?: "live" | "deterministic";
  store?: string;
  fresh?: boolean;
  confirmations?: number;
  gasBudget?: bigint;
  program?: ProgramOption[];
  from?: string;
  receiverUrl?: string;
  autoDeliver?: boolean;
  startTimeout: number;
}

/** `routing-sandbox start`: runs a sandbox until it is interrupted. */
export function startCommand(): Command {
  const command = new Command("start")
    .description("run a sandbox until Ctrl-C; starting again in the same data directory resumes it")
    .addOption(dataDirectoryOption("the data directory"))
    .addOption(freshOption("delete the sandbox in the data directory first"))
    .option("--from <file>", "create the sandbox in the data directory from this snapshot file")
    .addOption(storeOption("keep the records in PostgreSQL"))
    .addOption(
      optionWithDefault(
        "--seed <text>",
        "the text that ids and most test keys are derived from; in mode deterministic, equal seeds and options give equal sandboxes",
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
    );
  return addPortOptions(command)
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
      optionWithDefault(
        "--receiver-url <url>",
        "the URL that receives notifications",
        "the sandbox's own receiver",
      ),
    )
    .option("--auto-deliver", "deliver events as they happen")
    .addOption(startTimeoutOption())
    .addOption(jsonOption("print URLs, accounts and keys as JSON"))
    .action(async (flags: StartFlags) => await start(flags));
}

async function start(flags: StartFlags): Promise<void> {
  const began = performance.now();
  if (!flags.json) process.stdout.write("Starting chain, relayer, API and documentation …\n");
  const { pino } = await import("pino");
  const { createSandbox } = await import("../../sandbox/create-sandbox.ts");
  const log = pino(
    { level: "error", redact: ["req.headers.authorization", "signature"] },
    pino.destination(2),
  );
  const { seed, mode = await modeFor(flags), program: programs, from } = flags;
  const { confirmations, gasBudget: gasBudgetWei, receiverUrl, store, autoDeliver } = flags;
  const sandbox = await createSandbox({
    ...definedOnly({
      seed,
      mode,
      programs,
      from,
      confirmations,
      gasBudgetWei,
      receiverUrl,
      store,
      autoDeliver,
    }),
    ports: { api: flags.apiPort, docs: flags.docsPort, rpc: flags.rpcPort, control: flags.controlPort },
    dataDirectory: flags.dataDir,
    fresh: flags.fresh ?? false,
    startTimeoutMs: flags.startTimeout,
    ...(flags.json ? {} : { onReplay: tellOfReplay(began) }),
    log,
  });
  const stopped = stopOnSignal(sandbox, flags.json ?? false);
  const { description, chain } = sandbox;
  print(flags, description, welcome(description, chain.resumed, performance.now() - began, flags.dataDir));
  await stopped;
}

/** Prints, once in a second, how far the chain of the data directory has been made again. */
function tellOfReplay(began: number): (made: number, all: number) => void {
  let told = began;
  return (made, all) => {
    if (performance.now() - told < 1_000) return;
    told = performance.now();
    process.stdout.write(`Making the chain again: block ${made} of ${all} …\n`);
  };
}

/** A person's sandbox is live, unless it continues as it was made. */
async function modeFor({ dataDir, fresh, from }: StartFlags): Promise<"live" | undefined> {
  const { readKeptSettings } = await import("../../sandbox/state/data-directory/beginning.ts");
  const continues = from !== undefined || (!fresh && (await readKeptSettings(dataDir)) !== null);
  return continues ? undefined : "live";
}

/** Resolves when a signal, or the end of the chain, has stopped the sandbox. */
async function stopOnSignal(sandbox: Sandbox, quiet: boolean): Promise<void> {
  const reason = await Promise.race([interruption(), sandbox.chain.anvil.exited]);
  const hasEnded = typeof reason === "object";
  if (!quiet) process.stdout.write(`\nStopping after ${hasEnded ? "the end of the chain" : reason} …\n`);
  await sandbox.close();
  if (!hasEnded) return;
  const { failure } = reason;
  const next =
    failure === undefined
      ? "Start the sandbox again."
      : `The chain cannot be made again: ${inFlags(failure)}`;
  process.stderr.write(`Anvil has ended, and the sandbox with it. ${next}\n`);
  process.exitCode = 1;
}

function welcome(
  description: SandboxDescription,
  resumed: boolean,
  milliseconds: number,
  folder: string,
): string {
  const { urls, chain, contracts, accounts, wallets, reviewer } = description;
  const rows: [string, string][] = [
    ["API", urls.api],
    ["Documentation", `${urls.docs}/portal/docs.md`],
    ["Chain RPC", `${urls.rpc} (chain ${chain.chain_id})`],
    ["Explorer", `${urls.control}/`],
    ["Control", urls.control],
    ["Token (USDC)", contracts.token],
    ["Registrar", contracts.registrar],
    ["Funding source", contracts.funding_source],
    ...accounts.map(({ id, program, key }): [string, string] => [`${id} (${program})`, key]),
    ...Object.entries(wallets).map(([name, { address }]): [string, string] => [name, address]),
    ["Reviewer key id", reviewer.key_id],
  ];
  const inFolder = folder === defaultDataDirectory ? [] : ["--data-dir", folder];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return [
    `${resumed ? "Resumed" : "Ready"} in ${Math.round(milliseconds)} ms. Test money and test keys only.`,
    "",
    ...lines,
    "",
    `All of it, private keys included, is in ${folder}/sandbox.json. See it work: ${howToRun("demo", ...inFolder)}. Ctrl-C stops everything.`,
  ].join("\n");
}

function wei(text: string): bigint {
  if (!/^\d{1,40}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of wei.");
  return BigInt(text);
}

function addProgram(text: string, before: readonly ProgramOption[] = []): ProgramOption[] {
  const [id = "", ...name] = text.split("=");
  return [...before, name.length === 0 ? id : { id, name: name.join("=") }];
}
