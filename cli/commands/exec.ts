import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, CommanderError } from "commander";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { temporaryFault, temporaryRemedy } from "../../sandbox/lib/temporary-fault.ts";
import { asGiven, describeFailure, noteImplied } from "../describe-failure.ts";
import { environmentOf, refuseCommand } from "../running/client-command.ts";
import { describeDifference, type RecordedRun, recordRun } from "../running/compare-runs.ts";
import { exitCodeOf, GuardedCommand } from "../running/guarded-command.ts";
import { addStartOptions, type StartFlags, startSandbox } from "../running/start-sandbox.ts";
import { dataDirectoryFlags, jsonOption, optionWithDefault, wholeNumber } from "../shared-options.ts";
import { newCommand, type Terminal } from "../terminal.ts";

interface ExecFlags extends Omit<StartFlags, "dataDir">, RepeatFlags {
  dataDir?: string;
  json?: boolean;
}

/** The exit code when the sandbox or an option, and not the command, fails: as of `timeout`, `env` and `docker run`. */
const sandboxFailed = 125;

const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** `routing-sandbox exec -- COMMAND`: a sandbox for as long as a command runs. */
export function execCommand(terminal: Terminal): Command {
  const command = newCommand(terminal, "exec")
    .description(
      "start a sandbox, run a command that finds it in ROUTING_API_URL, ROUTING_DOCS_URL, ROUTING_RPC_URL, ROUTING_CONTROL_URL and ROUTING_SANDBOX_FILE, and exit with the command's exit code",
    )
    .argument("<command...>", "the command and its arguments, after --")
    .passThroughOptions()
    .exitOverride(({ code, exitCode, message }) => {
      throw new CommanderError(exitCode === 0 ? 0 : sandboxFailed, code, message);
    })
    .addOption(
      optionWithDefault(
        dataDirectoryFlags,
        "the data directory, which is kept when the command ends",
        "a temporary folder that is deleted",
      ),
    );
  return addStartOptions(command, { api: 0, docs: 0, control: 0, rpc: 0 }, "dataDirectory", "store")
    .addOption(
      optionWithDefault(
        "--repeat <number>",
        "run the command this many times, each time from the same state, until a run fails",
        1,
        wholeNumber(1, 1_000),
      ),
    )
    .option(
      "--expect-equal",
      "with --repeat, exit with 1 if the fingerprints of two runs differ, and name the first request, block, transaction or event that differs; sets the mode deterministic",
    )
    .addOption(jsonOption("print the URLs as JSON on standard error before the command starts"))
    .hook("preAction", requireComparable)
    .action(async (words: string[], flags: ExecFlags) => {
      terminal.exitCode = await exec(terminal, words, flags);
    });
}

/** Refuses options with which no two runs can be compared, or be equal. */
function requireComparable(command: Command): void {
  const { repeat = 1, expectEqual = false, mode } = command.opts<ExecFlags>();
  if (!expectEqual) return;
  if (repeat === 1)
    command.error(`error: ${asGiven("--expect-equal")} compares runs. Pass --repeat 2 or more.`);
  if (mode === "live")
    command.error(
      `error: With ${asGiven("--mode")} live, the clock makes all runs differ. Leave out ${asGiven("--mode")}, or leave out ${asGiven("--expect-equal")}.`,
    );
  if (mode === undefined) noteImplied("--mode", "--expect-equal");
  command.setOptionValue("mode", "deterministic");
}

async function exec(terminal: Terminal, words: readonly string[], flags: ExecFlags): Promise<number> {
  const refusal = await refuseCommand(words);
  if (refusal !== null) {
    terminal.stderr.write(`${refusal.message}\n`);
    return refusal.exitCode;
  }
  try {
    return await runWithSandbox(terminal, words, flags);
  } catch (error) {
    terminal.stderr.write(`${describeFailure(error)}\n`);
    return sandboxFailed;
  }
}

async function runWithSandbox(
  terminal: Terminal,
  words: readonly string[],
  { dataDir, ...flags }: ExecFlags,
): Promise<number> {
  const fault = dataDir === undefined ? await temporaryFault() : null;
  if (fault !== null) throw new Error(`${fault} ${temporaryRemedy}, or choose one with --data-dir.`);
  const folder = dataDir ?? join(tmpdir(), `routing-sandbox-${randomUUID()}`);
  await using command = new GuardedCommand(dataDir === undefined ? folder : null);
  let running = command;
  let first: NodeJS.Signals | undefined;
  for (const signal of forwarded)
    process.on(signal, () => {
      first ??= signal;
      running.signal(signal);
    });
  await using sandbox = await startSandbox(terminal, { ...flags, dataDir: folder });
  const { urls } = sandbox.description;
  if (flags.json) terminal.stderr.write(`${JSON.stringify({ urls })}\n`);
  const run = async (one: GuardedCommand) => {
    // The signal came before the command.
    if (first !== undefined) return exitCodeOf(first);
    running = one;
    return await one.run(words, environmentOf(sandbox, folder));
  };
  const ended = flags.repeat === undefined ? run(command) : repeatCommand(terminal, sandbox, flags, run);
  const sandboxEnded = sandbox.ended.then((reason) => {
    throw new Error(reason);
  });
  return await Promise.race([ended, sandboxEnded]);
}

/** The options of a command that runs several times. */
interface RepeatFlags {
  readonly repeat?: number;
  readonly expectEqual?: boolean;
}

/** The exit code when the runs of a command differ. */
const differ = 1;

/**
 * Runs a command several times, each time from the state that the sandbox has now, until a run fails or differs.
 *
 * @param run - runs the command once, and returns its exit code.
 * @returns the exit code of the run that failed, 1 if a run differs from the first one, and otherwise 0.
 */
async function repeatCommand(
  { stderr }: Terminal,
  sandbox: Sandbox,
  { repeat = 1, expectEqual = false }: RepeatFlags,
  run: (command: GuardedCommand) => Promise<number>,
): Promise<number> {
  const start = await sandbox.snapshot();
  let first: RecordedRun | undefined;
  for (let number = 1; number <= repeat; number += 1) {
    if (number > 1)
      await start.reset().catch((error: unknown) => {
        throw error instanceof SandboxError && error.code === "snapshot_timeout"
          ? new Error(
              `Run ${number - 1} has left a request in progress. Have the command wait for its responses.`,
              { cause: error },
            )
          : error;
      });
    const firstRequest = sandbox.requestLog.nextNumber;
    const exitCode = await runOnce(run);
    if (exitCode !== 0) {
      if (repeat > 1) stderr.write(`Run ${number} of ${repeat} failed with exit code ${exitCode}.\n`);
      return exitCode;
    }
    if (!expectEqual) continue;
    if (!(await sandbox.settle()))
      throw new Error(
        `Run ${number} has left a request in progress. Have the command wait for its responses.`,
      );
    const recorded = await recordRun(sandbox, firstRequest);
    first ??= recorded;
    const difference = describeDifference(first, recorded, number);
    if (difference === null) continue;
    stderr.write(`${difference}\n`);
    return differ;
  }
  if (first !== undefined) stderr.write(`${repeat} runs have the fingerprint ${first.fingerprint.digest}.\n`);
  else if (repeat > 1) stderr.write(`${repeat} runs succeeded.\n`);
  return 0;
}

/** Runs the command, and ends the processes that it leaves in the background. */
async function runOnce(run: (command: GuardedCommand) => Promise<number>): Promise<number> {
  await using command = new GuardedCommand(null);
  return await run(command);
}
