import type { Command } from "commander";
import { z } from "zod";
import { wait } from "../../sandbox/lib/time/timers.ts";
import { askControl } from "../../sandbox/service/ask-control.ts";
import { callControl } from "../running/call-control.ts";
import { answerTimeoutMs, described, describeNone, findRunning } from "../running/find-running.ts";
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

/** The programs that options name by a URL. */
const askedFor = {
  pool: { what: "a pool", meant: "a pool", schema: poolState },
  control: { what: "a sandbox", meant: "the control API of a sandbox", schema: described },
};

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
    .addOption(timeoutOption("with --wait, the longest time to wait", 1))
    .addOption(jsonOption("print JSON on one line"))
    .action(async (flags: StatusFlags) => {
      if (flags.wait) await waitUntilHealthy(flags);
      const status = await readStatus(flags);
      print(terminal, flags, status, JSON.stringify(status, null, 2));
    });
}

async function readStatus({ dataDir, control, pool }: StatusFlags): Promise<unknown> {
  if (pool !== undefined) return await readAt(pool, "/", "pool");
  if (control !== undefined) return await readAt(control, "/status", "control");
  return await callControl(dataDir, "GET", "/status");
}

/** Reads the state that a sandbox or a pool tells of itself at a URL, which an option of the given name has. */
async function readAt(url: string, path: string, option: "control" | "pool"): Promise<unknown> {
  const { what, schema, meant } = askedFor[option];
  const signal = AbortSignal.timeout(answerTimeoutMs);
  const answer = await askControl(url, "GET", path, undefined, signal).catch((cause: unknown) => {
    throw new Error(`Nothing responds at ${url}. Start ${what}, or name another --${option}.`, { cause });
  });
  const instead = `Pass the URL of ${meant}.`;
  if (!answer.ok)
    throw new Error(
      `${url} responded with ${answer.status}: ${await detailOf(answer)}${[404, 405].includes(answer.status) ? ` ${instead}` : ""}`,
    );
  const state: unknown = await answer.json().catch(() => null);
  if (!schema.safeParse(state).success) throw new Error(`${url} is not ${meant}. ${instead}`);
  return state;
}

/** Asks for the health of the sandbox until it is good, at most for the time of --timeout. */
async function waitUntilHealthy(flags: StatusFlags): Promise<void> {
  const deadline = performance.now() + flags.timeout * 1_000;
  for (let known: string | null = null; ; ) {
    const left = Math.max(1, deadline - performance.now());
    const signal = AbortSignal.timeout(Math.min(Math.ceil(left), answerTimeoutMs));
    const problem = await healthProblem(flags, signal);
    if (problem === null) return;
    // A request that the end of the time has cut off says less than the one before.
    known = signal.aborted && known !== null ? known : problem;
    if (performance.now() > deadline)
      throw new Error(
        `After ${flags.timeout} s: ${known} Wait longer with --timeout, or start a ${flags.pool === undefined ? "sandbox" : "pool"}.`,
      );
    await wait(50);
  }
}

/** Returns why the sandbox is not healthy; null if it is. */
async function healthProblem(
  { dataDir, control, pool }: StatusFlags,
  signal: AbortSignal,
): Promise<string | null> {
  if (pool !== undefined) return await poolProblem(pool, signal);
  const url = control ?? (await findRunning(dataDir, signal))?.urls.control;
  if (url === undefined) return await describeNone(dataDir);
  const answer = await askControl(url, "GET", "/health", undefined, signal).catch(() => null);
  if (answer === null) return `Nothing responds at ${url}.`;
  return answer.ok ? null : await detailOf(answer);
}

/** Returns why not all sandboxes of a pool can be leased or are leased; null if they can. */
async function poolProblem(pool: string, signal: AbortSignal): Promise<string | null> {
  const answer = await askControl(pool, "GET", "/", undefined, signal).catch(() => null);
  if (answer === null) return `Nothing responds at ${pool}.`;
  const { data } = poolState.safeParse(await answer.json().catch(() => null));
  if (data === undefined) return `${pool} is not a pool.`;
  return data.preparing === 0 ? null : `${data.preparing} of ${data.size} sandboxes are being prepared.`;
}

async function detailOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => null);
  return String(Reflect.get(Object(body), "detail") ?? `The response has the status ${answer.status}.`);
}
