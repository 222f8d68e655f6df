import type { Command } from "commander";
import { wait } from "../../sandbox/lib/time/timers.ts";
import { askControl } from "../../sandbox/service/ask-control.ts";
import { callControl } from "../running/call-control.ts";
import { findRunning } from "../running/find-running.ts";
import {
  controlOption,
  dataDirectoryOption,
  jsonOption,
  type SandboxFlags,
  timeoutOption,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface StatusFlags extends SandboxFlags {
  control?: string;
  wait?: boolean;
  timeout: number;
}

/** `routing-sandbox status`: what runs in a data directory. */
export function statusCommand(terminal: Terminal): Command {
  return newCommand(terminal, "status")
    .description("print seed, mode, process id, URLs, chain, time and faults of the running sandbox")
    .addOption(dataDirectoryOption())
    .addOption(controlOption("the control API of the sandbox, instead of --data-dir"))
    .option("--wait", "first wait until a sandbox runs, and its API, relayer and Anvil respond")
    .addOption(timeoutOption("with --wait, the longest time to wait"))
    .addOption(jsonOption("print JSON on one line"))
    .action(async (flags: StatusFlags) => {
      if (flags.wait) await waitUntilHealthy(flags);
      const status = await readStatus(flags);
      print(terminal, flags, status, JSON.stringify(status, null, 2));
    });
}

async function readStatus({ dataDir, control }: StatusFlags): Promise<unknown> {
  if (control === undefined) return await callControl(dataDir, "GET", "/status");
  const answer = await askControl(control, "GET", "/status").catch((cause: unknown) => {
    throw new Error(`Nothing responds at ${control}. Start a sandbox, or name another --control.`, { cause });
  });
  if (!answer.ok)
    throw new Error(
      `${control} responded with ${answer.status}: ${await detailOf(answer)}${answer.status === 404 ? " Pass the URL of the control API." : ""}`,
    );
  return await answer.json();
}

/** Asks for the health of the sandbox until it is good, at most for the time of --timeout. */
async function waitUntilHealthy(flags: StatusFlags): Promise<void> {
  const deadline = performance.now() + flags.timeout * 1_000;
  for (;;) {
    const problem = await healthProblem(flags);
    if (problem === null) return;
    if (performance.now() > deadline)
      throw new Error(`After ${flags.timeout} s: ${problem} Wait longer with --timeout, or start a sandbox.`);
    await wait(50);
  }
}

/** Returns why the sandbox is not healthy; null if it is. */
async function healthProblem({ dataDir, control }: StatusFlags): Promise<string | null> {
  const url = control ?? (await findRunning(dataDir))?.urls.control;
  if (url === undefined) return `No sandbox runs in ${dataDir}.`;
  const answer = await askControl(url, "GET", "/health").catch(() => null);
  if (answer === null) return `Nothing responds at ${url}.`;
  return answer.ok ? null : await detailOf(answer);
}

async function detailOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => null);
  return String(Reflect.get(Object(body), "detail") ?? `The response has the status ${answer.status}.`);
}
