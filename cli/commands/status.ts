import type { Command } from "commander";
import { z } from "zod";
import { wait } from "../../sandbox/lib/time/timers.ts";
import { askControl } from "../../sandbox/service/ask-control.ts";
import { callControl } from "../running/call-control.ts";
import { describeNone, findRunning } from "../running/find-running.ts";
import {
  controlOption,
  dataDirectoryOption,
  jsonOption,
  poolOption,
  type SandboxFlags,
  timeoutOption,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

const poolState = z.looseObject({ size: z.int(), preparing: z.int() });

interface StatusFlags extends SandboxFlags {
  control?: string;
  pool?: string;
  wait?: boolean;
  timeout: number;
}

/** `routing-sandbox status`: the state of the sandbox in a data directory, or of a pool. */
export function statusCommand(terminal: Terminal): Command {
  return newCommand(terminal, "status")
    .description(
      "print seed, mode, process id, URLs, chain, time and faults of the running sandbox, or the state of a pool",
    )
    .addOption(dataDirectoryOption())
    .addOption(controlOption("the control API of the sandbox, instead of --data-dir"))
    .addOption(poolOption("the pool to print, instead of a sandbox"))
    .option(
      "--wait",
      "first wait until a sandbox runs, and its API, store, relayer and node respond, or until no sandbox of the pool is being prepared",
    )
    .addOption(timeoutOption("with --wait, the longest time to wait"))
    .addOption(jsonOption("print JSON on one line"))
    .action(async (flags: StatusFlags) => {
      if (flags.wait) await waitUntilHealthy(flags);
      const status = await readStatus(flags);
      print(terminal, flags, status, JSON.stringify(status, null, 2));
    });
}

async function readStatus({ dataDir, control, pool }: StatusFlags): Promise<unknown> {
  if (pool !== undefined) {
    const state = await readAt(pool, "/", "pool");
    if (poolState.safeParse(state).success) return state;
    throw new Error(`${pool} is no pool. Pass the URL of the pool.`);
  }
  if (control !== undefined) return await readAt(control, "/status", "control");
  return await callControl(dataDir, "GET", "/status");
}

/** Reads the state that a sandbox or a pool tells of itself at a URL, which an option of the given name has. */
async function readAt(url: string, path: string, option: "control" | "pool"): Promise<unknown> {
  const what = option === "pool" ? "a pool" : "a sandbox";
  const answer = await askControl(url, "GET", path).catch((cause: unknown) => {
    throw new Error(`Nothing responds at ${url}. Start ${what}, or name another --${option}.`, { cause });
  });
  if (!answer.ok)
    throw new Error(
      `${url} responded with ${answer.status}: ${await detailOf(answer)}${answer.status === 404 ? ` Pass the URL of ${option === "pool" ? "the pool" : "the control API"}.` : ""}`,
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
      throw new Error(
        `After ${flags.timeout} s: ${problem} Wait longer with --timeout, or start a ${flags.pool === undefined ? "sandbox" : "pool"}.`,
      );
    await wait(50);
  }
}

/** Returns why the sandbox is not healthy; null if it is. */
async function healthProblem({ dataDir, control, pool }: StatusFlags): Promise<string | null> {
  if (pool !== undefined) return await poolProblem(pool);
  const url = control ?? (await findRunning(dataDir))?.urls.control;
  if (url === undefined) return await describeNone(dataDir);
  const answer = await askControl(url, "GET", "/health").catch(() => null);
  if (answer === null) return `Nothing responds at ${url}.`;
  return answer.ok ? null : await detailOf(answer);
}

/** Returns why not all sandboxes of a pool can be leased or are leased; null if they can. */
async function poolProblem(pool: string): Promise<string | null> {
  const answer = await askControl(pool, "GET", "/").catch(() => null);
  if (answer === null) return `Nothing responds at ${pool}.`;
  const { data } = poolState.safeParse(await answer.json().catch(() => null));
  if (data === undefined) return `${pool} is no pool.`;
  return data.preparing === 0 ? null : `${data.preparing} of ${data.size} sandboxes are being prepared.`;
}

async function detailOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => null);
  return String(Reflect.get(Object(body), "detail") ?? `The response has the status ${answer.status}.`);
}
