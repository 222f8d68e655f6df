import { join } from "node:path";
import { type Command, Option } from "commander";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { findUnfundedOperators } from "../../sandbox/service/unfunded-operators.ts";
import { defaultPorts } from "../../server/documentation/at-addresses.ts";
import { asGiven, inFlags } from "../describe-failure.ts";
import { addNetworkOptions } from "../network-options.ts";
import { redeployOnChange } from "../running/redeploy-on-change.ts";
import { followStarter, startDetached } from "../running/start-detached.ts";
import { addStartOptions, type StartFlags, startSandbox, warnOfExposure } from "../running/start-sandbox.ts";
import {
  dataDirectoryOption,
  defaultDataDirectory,
  jsonOption,
  optionWithDefault,
  requireDetach,
} from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

interface StartCommandFlags extends StartFlags {
  watch?: boolean;
  json?: boolean;
  detach?: boolean;
  logFile?: string;
  /** Whether `start --detach` has started this process. */
  detached?: boolean;
}

/** The report of a detached process whose sandbox answers. */
interface DetachedStart {
  readonly description: SandboxDescription;
  readonly resumed: boolean;
  readonly milliseconds: number;
  readonly warnings: readonly string[];
}

/** `routing-sandbox start`: runs a sandbox until it is interrupted. */
export function startCommand(terminal: Terminal): Command {
  const command = newCommand(terminal, "start")
    .description("run a sandbox until Ctrl-C; a later start in the same data directory resumes it")
    .addOption(dataDirectoryOption("the data directory"));
  return addNetworkOptions(addStartOptions(command, defaultPorts, "dataDirectory"), true)
    .addOption(
      new Option(
        "--watch",
        "when the artifact of --registrar changes, replace the sandbox with a fresh one on the new contract and the same ports",
      ).conflicts(["store", "from"]),
    )
    .hook("preAction", () => {
      const { watch, registrar } = command.opts<StartCommandFlags>();
      if (watch && registrar === undefined)
        command.error(
          `error: ${asGiven("--watch")} needs --registrar. Name the artifact of your registrar contract.`,
        );
    })
    .option("--detach", "run in the background; the command returns when the sandbox responds to requests")
    .addOption(
      optionWithDefault(
        "--log-file <file>",
        "with --detach, the file to which the sandbox appends its output",
        "sandbox.log in the data directory",
      ),
    )
    .addOption(new Option("--detached").hideHelp())
    .addOption(jsonOption("print URLs, accounts and keys as JSON"))
    .action(async (flags: StartCommandFlags) => {
      requireDetach(flags);
      if (flags.detach && !flags.detached) await startInBackground(terminal, flags);
      else await start(terminal, flags);
    });
}

/** Starts the sandbox in a process of its own, and prints the same as `start`. */
async function startInBackground(terminal: Terminal, flags: StartCommandFlags): Promise<void> {
  const { dataDir, logFile = join(dataDir, "sandbox.log"), json } = flags;
  warnOfExposure(terminal, flags);
  const started = await startDetached<DetachedStart>(terminal, { logFile, directory: dataDir });
  if (started === null) return;
  const { description, resumed, milliseconds, warnings } = started;
  warn(terminal, warnings);
  const stopping = `The sandbox runs in the background and writes to ${logFile}. To stop it: ${howToRun("stop", ...inFolder(dataDir))}.`;
  print(terminal, { json }, description, welcome(description, resumed, milliseconds, dataDir, stopping));
}

async function start(terminal: Terminal, flags: StartCommandFlags): Promise<void> {
  const began = performance.now();
  // From here on: a start that is interrupted is completed and closed, so that it leaves nothing.
  const starter = flags.detached ? followStarter() : null;
  const interrupted = Promise.race([interruption(terminal), ...(starter === null ? [] : [starter.lost])]);
  let isStopping = false;
  void interrupted.then(() => {
    isStopping = true;
  });
  const chain = flags.rpcUrl === undefined ? "Starting chain," : "Connecting to the node, starting";
  if (!flags.json) terminal.stdout.write(`${chain} relayer, API and documentation …\n`);
  const sandbox = await startSandbox(
    terminal,
    flags,
    flags.json ? {} : { onReplay: tellOfReplay(terminal, began) },
  );
  const warnings = await findUnfundedOperators(sandbox.chain);
  warn(terminal, warnings);
  const show = ({ description, chain }: Sandbox, milliseconds: number) => {
    const { resumed } = chain;
    if (starter?.report({ description, resumed, milliseconds, warnings } satisfies DetachedStart)) return;
    print(
      terminal,
      flags,
      description,
      welcome(description, resumed, milliseconds, flags.dataDir, "Ctrl-C stops everything."),
    );
  };
  // A sandbox that is about to stop is not reported as ready.
  if (!isStopping) show(sandbox, performance.now() - began);
  const last = flags.watch ? await redeployOnChange(terminal, sandbox, flags, interrupted, show) : sandbox;
  await stopOnSignal(terminal, last, interrupted, flags.json ?? false);
}

function warn({ stderr }: Terminal, warnings: readonly string[]): void {
  for (const warning of warnings) stderr.write(`Warning: ${warning}\n`);
}

/** Prints, once in a second, how far the chain of the data directory has been made again. */
function tellOfReplay({ stdout }: Terminal, began: number): (made: number, all: number) => void {
  let told = began;
  return (made, all) => {
    if (performance.now() - told < 1_000) return;
    told = performance.now();
    stdout.write(`Mining the stored blocks again: ${made} of ${all} …\n`);
  };
}

/** Resolves when a signal has stopped the sandbox, or when it cannot continue. */
async function stopOnSignal(
  terminal: Terminal,
  sandbox: Sandbox,
  interrupted: ReturnType<typeof interruption>,
  quiet: boolean,
): Promise<void> {
  const ended = sandbox.ended.then((reason) => ({ reason }));
  const end = await Promise.race([interrupted, ended]);
  if (typeof end === "string") {
    if (!quiet) terminal.stdout.write(`\nStopping after ${end} …\n`);
    await sandbox.close();
    return;
  }
  terminal.stderr.write(`${inFlags(end.reason)}\n`);
  terminal.exitCode = 1;
  // It has been said why the data directory cannot be closed.
  await sandbox.close().catch(() => undefined);
}

function welcome(
  description: SandboxDescription,
  resumed: boolean,
  milliseconds: number,
  folder: string,
  stopping: string,
): string {
  const { urls, chain, contracts, accounts, wallets, reviewer } = description;
  const rows: [string, string][] = [
    ["API", urls.api],
    ["Documentation", `${urls.docs}/portal/docs.md`],
    ["Chain RPC", `${urls.rpc} (chain ${chain.chain_id})`],
    ["Explorer", `${urls.control}/`],
    ["Control", urls.control],
    ["Token (USDC)", contracts.token],
    ["Registrar contract", contracts.registrar],
    ["Funding source", contracts.funding_source],
    ...accounts.map(({ id, program, key }): [string, string] => [`${id} (${program})`, key]),
    ...Object.entries(wallets).map(([name, { address }]): [string, string] => [name, address]),
    ["Reviewer key id", reviewer.key_id],
  ];
  // A demo needs a wallet that is not the buyer's, too.
  const demo =
    wallets["stranger"] === undefined ? "" : ` To run the demo: ${howToRun("demo", ...inFolder(folder))}.`;
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return [
    `${resumed ? "Resumed" : "Ready"} in ${Math.round(milliseconds)} ms. Test money and test keys only.`,
    "",
    ...lines,
    "",
    `${folder}/sandbox.json has all of this, and the private keys.${demo} ${stopping}`,
  ].join("\n");
}

function inFolder(folder: string): string[] {
  return folder === defaultDataDirectory ? [] : ["--data-dir", folder];
}
