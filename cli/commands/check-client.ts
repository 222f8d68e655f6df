import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, CommanderError, Option } from "commander";
import { codeOf } from "../../protocol/coded-error.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { definedOnly } from "../../sandbox/lib/defined-only.ts";
import { temporaryFault, temporaryRemedy } from "../../sandbox/lib/temporary-fault.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import type { CheckClientOptions, CheckProgress } from "../../testkit/check-client/check-client.ts";
import { describeFailure, inFlags } from "../describe-failure.ts";
import { ClientCommand, environmentOf, refuseCommand } from "../running/client-command.ts";
import { GuardedCommand } from "../running/guarded-command.ts";
import { addStartOptions, type StartFlags, startSandbox, warnOfExposure } from "../running/start-sandbox.ts";
import { requireReportFile, writeReport } from "../running/write-report.ts";
import { jsonOption, optionWithDefault, timeoutOption, wholeNumber } from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

interface CheckClientFlags extends Omit<StartFlags, "dataDir"> {
  only?: string;
  repeat?: number;
  jobs?: number;
  timeout: number;
  strict?: boolean;
  given?: string;
  traces: string;
  json?: boolean;
  junit?: string;
}

/** The exit code when the sandbox, an option or the client without a fault fails, as of `exec`. */
const checkFailed = 125;

const mostJobs = 64;

/** `routing-sandbox check-client -- COMMAND`: runs a client once for each thing that can go wrong, and judges what it has done. */
export function checkClientCommand(terminal: Terminal): Command {
  const command = newCommand(terminal, "check-client")
    .description(
      "run a command that uses the sandbox, as exec does, once for each thing that can go wrong, and report whether it did something twice or lost it",
    )
    .argument("<command...>", "the command and its arguments, after --")
    .passThroughOptions()
    .exitOverride(({ code, exitCode, message }) => {
      throw new CommanderError(exitCode === 0 ? 0 : checkFailed, code, message);
    })
    .option("--only <text>", "check only the cases whose operation/fault contains this text")
    .addOption(optionWithDefault("--repeat <number>", "how often each case runs", 1, wholeNumber(1, 1_000)))
    .addOption(
      optionWithDefault(
        "--jobs <number>",
        "how many sandboxes run cases at the same time",
        1,
        wholeNumber(1, mostJobs),
      ),
    )
    .addOption(timeoutOption("the longest time that one run of the command may take", 1))
    .option("--strict", "fail also if the command stops without doing anything twice")
    .option(
      "--given <state>",
      "the state from which every run starts: merchant for an enrolled merchant, or the file of a scenario",
    )
    .addOption(
      new Option("--traces <folder>", "the folder for the traces of the cases that are not safe").default(
        "traces",
      ),
    )
    .addOption(jsonOption("print the report as JSON"))
    .option("--junit <file>", "write the report as JUnit XML");
  return addStartOptions(command, { api: 0, docs: 0, control: 0, rpc: 0 }, "dataDirectory", "store").action(
    async (words: string[], flags: CheckClientFlags) => {
      terminal.exitCode = await check(terminal, words, flags);
    },
  );
}

async function check(terminal: Terminal, words: readonly string[], flags: CheckClientFlags): Promise<number> {
  const refusal = await refuseCommand(words);
  if (refusal !== null) {
    terminal.stderr.write(`${refusal.message}\n`);
    return checkFailed;
  }
  const client = new ClientCommand(words);
  try {
    return await checkCommand(terminal, client, flags);
  } catch (error) {
    if (codeOf(error) === "client_unusable") terminal.stderr.write(client.output.replace(/[^\n]$/, "$&\n"));
    terminal.stderr.write(`${describeFailure(error)}\n`);
    return checkFailed;
  }
}

async function checkCommand(
  terminal: Terminal,
  client: ClientCommand,
  flags: CheckClientFlags,
): Promise<number> {
  const { json, junit, only, repeat, jobs, strict = false, timeout, traces, given, ...start } = flags;
  if (junit !== undefined) await requireReportFile(junit);
  const { checkClientOn } = await import("../../testkit/check-client/check-client.ts");
  const { renderReport, toAnnotations, toJunit, toSummary } = await import(
    "../../testkit/check-client/render-report.ts"
  );
  const fault = await temporaryFault();
  if (fault !== null) throw new Error(`${fault} ${temporaryRemedy}.`);
  const folder = join(tmpdir(), `routing-sandbox-${randomUUID()}`);
  // Deletes the folder, whatever ends this process.
  await using _ = new GuardedCommand(folder);
  const folders = new Map<Sandbox, string>();
  warnOfExposure(terminal, start);
  // Its log has the errors that the faults are.
  const silent: Terminal = { ...terminal, stderr: { write: () => true } };
  const { give, options } = await stateOf(given);
  const open = async () => {
    const dataDir = join(folder, `${folders.size + 1}`);
    const sandbox = await startSandbox(silent, { ...start, dataDir }, options);
    folders.set(sandbox, dataDir);
    return sandbox;
  };
  const ending = new AbortController();
  void interruption(terminal).then(() =>
    ending.abort(
      new Error("The check was ended by a signal, such as that of routing-sandbox stop. Run it again."),
    ),
  );
  terminal.stderr.write("Starting a sandbox, and running the command twice without a fault…\n");
  const report = await checkClientOn(open, {
    ...definedOnly({ only, repeat, jobs, given: give }),
    run: async (sandbox, signal) => {
      await client.run(environmentOf(sandbox, folders.get(sandbox) ?? ""), signal);
    },
    strict,
    traces,
    timeoutMs: timeout * 1_000,
    signal: ending.signal,
    onProgress: showProgress(terminal),
  });
  print(terminal, { json }, report, inFlags(renderReport(report, terminal.stdout.isTTY ?? false)));
  if (client.left > 0)
    terminal.stderr.write(
      `The command left processes after ${client.left} of its runs, which were ended. Have it wait for them.\n`,
    );
  // GitHub reads the annotations of both streams; stdout may be JSON.
  if (process.env["CI"] !== undefined) terminal.stderr.write(toAnnotations(report, strict));
  const summary = process.env["GITHUB_STEP_SUMMARY"];
  if (summary !== undefined) await appendFile(summary, toSummary(report));
  if (junit !== undefined) await writeReport(junit, toJunit(report, strict));
  return report.passed ? 0 : 1;
}

/** Returns what creates the state that the option names, and the options of a scenario. */
async function stateOf(
  given: string | undefined,
): Promise<{ give?: CheckClientOptions<Sandbox>["given"]; options?: SandboxOptions }> {
  if (given === undefined) return {};
  if (given === "merchant")
    return { give: async (sandbox) => await sandbox.given.merchant({ state: "funded" }) };
  const { readScenario } = await import("../../sandbox/scenarios/scenario-file.ts");
  const { playSteps } = await import("../../testkit/scenario/play-scenario.ts");
  const scenario = await readScenario(given);
  const { seed, programs, accounts = [], confirmations, gas_budget_wei } = scenario;
  const gasBudgetWei = BigInt(gas_budget_wei);
  return {
    give: async (sandbox) => await playSteps(scenario, sandbox),
    options: { seed, mode: "deterministic", programs, accounts, confirmations, gasBudgetWei },
  };
}

/** Returns a function that shows the progress on one line of a terminal, or one line for each operation in a log. */
function showProgress({ stderr }: Terminal): (progress: CheckProgress) => void {
  const shown = new Set<string>();
  return ({ done, all, leftMs, checked: { operation } }) => {
    const left = `${done} of ${all} cases, about ${Math.ceil(leftMs / 1_000)} s left`;
    if (stderr.isTTY) stderr.write(done === all ? "\r\u001b[K" : `\r\u001b[K${left}`);
    else if (!shown.has(operation)) stderr.write(`${operation}: ${left}\n`);
    shown.add(operation);
  };
}
