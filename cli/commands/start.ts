import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { lockForChild, makeDataDirectory, removeUnused } from "../../sandbox/data-directory/lock.ts";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { openFile } from "../../server/lib/file-kind.ts";
import { makeDirectory } from "../../server/lib/make-directory.ts";
import { inFlags } from "../describe-failure.ts";
import { addNetworkOptions } from "../network-options.ts";
import { exitCodeOf } from "../running/guarded-command.ts";
import { redeployOnChange } from "../running/redeploy-on-change.ts";
import { addStartOptions, type StartFlags, startSandbox, warnOfExposure } from "../running/start-sandbox.ts";
import {
  dataDirectoryOption,
  defaultDataDirectory,
  defaultPorts,
  jsonOption,
  optionWithDefault,
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

/** `routing-sandbox start`: runs a sandbox until it is interrupted. */
export function startCommand(terminal: Terminal): Command {
  const command = newCommand(terminal, "start")
    .description("run a sandbox until Ctrl-C; a later start in the same data directory resumes it")
    .addOption(dataDirectoryOption("the data directory"));
  return addNetworkOptions(addStartOptions(command, defaultPorts, "dataDirectory"), true)
    .addOption(
      new Option(
        "--watch",
        "whenever the artifact of --registrar changes, replace the sandbox with a fresh one that uses the new contract, on the same ports",
      ).conflicts(["store", "from"]),
    )
    .hook("preAction", () => {
      const { watch, registrar } = command.opts<StartCommandFlags>();
      if (watch && registrar === undefined)
        command.error("error: --watch needs --registrar. Name the artifact of your registrar contract.");
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
      if (flags.logFile !== undefined && !flags.detach)
        throw new Error("--log-file is for --detach only. Add --detach, or redirect the output.");
      if (flags.detach && !flags.detached) await startInBackground(terminal, flags);
      else await start(terminal, flags);
    });
}

/** Starts the sandbox in a process of its own, and prints the same as `start`. */
async function startInBackground(
  terminal: Terminal,
  { dataDir, logFile = join(dataDir, "sandbox.log"), json, listen }: StartCommandFlags,
): Promise<void> {
  warnOfExposure(terminal, listen);
  const started = await startDetached(terminal, logFile, dataDir);
  if (started === null) return;
  const { description, resumed, milliseconds } = started;
  const stopping = `The sandbox runs in the background and writes to ${logFile}. To stop it: ${howToRun("stop", ...inFolder(dataDir))}.`;
  print(terminal, { json }, description, welcome(description, resumed, milliseconds, dataDir, stopping));
}

async function start(terminal: Terminal, flags: StartCommandFlags): Promise<void> {
  const began = performance.now();
  // From here on: a start that is interrupted is completed and closed, so that it leaves nothing.
  const lost = Promise.withResolvers<"termination">();
  const endWithParent = () => lost.resolve("termination");
  if (flags.detached) {
    process.once("disconnect", endWithParent);
    if (!process.connected) endWithParent();
    // The channel alone keeps no process alive whose start has failed.
    process.channel?.unref();
  }
  const interrupted = Promise.race([interruption(terminal), lost.promise]);
  let isStopping = false;
  void interrupted.then(() => {
    isStopping = true;
  });
  if (!flags.json) terminal.stdout.write("Starting chain, relayer, API and documentation …\n");
  const sandbox = await startSandbox(
    terminal,
    flags,
    flags.json ? {} : { onReplay: tellOfReplay(terminal, began) },
  );
  const show = ({ description, chain }: Sandbox, milliseconds: number) => {
    if (flags.detached && process.connected)
      process.send?.({ description, resumed: chain.resumed, milliseconds });
    else
      print(
        terminal,
        flags,
        description,
        welcome(description, chain.resumed, milliseconds, flags.dataDir, "Ctrl-C stops everything."),
      );
  };
  // From here on it runs without the command that has started it.
  process.off("disconnect", endWithParent);
  // A sandbox that is about to stop is not reported as ready.
  if (!isStopping) show(sandbox, performance.now() - began);
  const last = flags.watch ? await redeployOnChange(terminal, sandbox, flags, interrupted, show) : sandbox;
  await stopOnSignal(terminal, last, interrupted, flags.json ?? false);
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
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return [
    `${resumed ? "Resumed" : "Ready"} in ${Math.round(milliseconds)} ms. Test money and test keys only.`,
    "",
    ...lines,
    "",
    `${folder}/sandbox.json has all of this, and the private keys. To run the demo: ${howToRun("demo", ...inFolder(folder))}. ${stopping}`,
  ].join("\n");
}

function inFolder(folder: string): string[] {
  return folder === defaultDataDirectory ? [] : ["--data-dir", folder];
}

/** The report of a detached process whose sandbox answers. */
interface DetachedStart {
  readonly description: SandboxDescription;
  readonly resumed: boolean;
  readonly milliseconds: number;
}

/**
 * Runs this command again in a process that stays when this one ends, with its output appended to a file. Until that process takes the data
 * directory, this one has taken it, so that `stop` finds the start.
 *
 * @returns null if it failed or was interrupted: then its output is on standard error, the exit code is set, and a log file in a folder that
 * was not there is gone.
 */
async function startDetached(
  terminal: Terminal,
  logFile: string,
  directory: string,
): Promise<DetachedStart | null> {
  const folder = dirname(resolve(logFile));
  const make = folder === resolve(directory) ? makeDataDirectory : makeDirectory;
  const made = await make(folder).catch((cause: unknown) => refuseFile(logFile, cause));
  await using log = await openFile(logFile, "a+", 0o600).catch((cause: unknown) =>
    refuseFile(logFile, cause),
  );
  const { size: before } = await log.stat();
  const interrupted = interruption(terminal);
  const hold = await holdDirectory(directory);
  const [, program = "", ...words] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, program, ...words, "--detached"], {
    detached: true,
    stdio: ["ignore", log.fd, log.fd, "ipc"],
  });
  const ended = once(child, "exit");
  const started = await Promise.race([reportOf(child), ended.then(() => null), interrupted]);
  if (typeof started === "object" && started !== null) {
    child.disconnect();
    child.unref();
    return started;
  }
  if (started !== null) child.kill("SIGTERM");
  await ended;
  terminal.exitCode =
    started === null ? child.exitCode || 1 : exitCodeOf(started === "interrupt" ? "SIGINT" : "SIGTERM");
  terminal.stderr.write(await readFrom(log, before));
  await hold.end();
  if (made !== undefined) {
    await rm(logFile, { force: true });
    await removeUnused(folder);
  }
  return null;
}

/** Takes the data directory until the started process does. If that cannot be done, the started process says why. */
async function holdDirectory(directory: string): Promise<{ end: () => Promise<void> }> {
  try {
    const made = await makeDataDirectory(directory);
    const release = await lockForChild(directory);
    return {
      async end() {
        await release();
        if (made !== undefined) await removeUnused(directory);
      },
    };
  } catch {
    return { end: async () => {} };
  }
}

async function reportOf(child: ChildProcess): Promise<DetachedStart> {
  const [report]: [DetachedStart] = await once(child, "message").then(([message]) => [message]);
  return report;
}

/** Reads a file from a position to its end. */
async function readFrom(file: FileHandle, position: number): Promise<string> {
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(size - position), 0, size - position, position);
  return buffer.toString();
}

function refuseFile(file: string, cause: unknown): never {
  throw new Error(`${file} cannot be written: ${describeFileError(cause)}. Choose another with --log-file.`, {
    cause,
  });
}
