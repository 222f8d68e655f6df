import { join } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { causesOf, codeOf, messageOf } from "../../protocol/coded-error.ts";
import { leftAnvilOf, lockDataDirectory, readOwner } from "../../sandbox/data-directory/lock.ts";
import { unpublish } from "../../sandbox/data-directory/sandbox-file.ts";
import {
  findListener,
  isRunning,
  type ProcessRecord,
  recordProcess,
  signalProcess,
} from "../../sandbox/lib/processes/processes.ts";
import { wait } from "../../sandbox/lib/time/timers.ts";
import { askControl } from "../../sandbox/service/ask-control.ts";
import { fileKind } from "../../server/lib/file-kind.ts";
import { noneAnswers } from "../running/find-running.ts";
import {
  controlOption,
  dataDirectoryOption,
  jsonOption,
  poolOption,
  type SandboxFlags,
  timeoutOption,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface StopFlags extends SandboxFlags {
  control?: string;
  pool?: string;
  timeout: number;
}

const status = z.looseObject({ pid: z.int() });

/** The effect of a stop. */
interface Stop {
  /** The process id of the sandbox that was stopped; null if none ran. */
  readonly pid: number | null;
  /** The killed sandbox whose lock, keys and Anvil were removed; null if there was none. */
  readonly removed: { readonly pid: number; readonly anvil: number | null } | null;
}

/** A program that a URL reaches: where it says its process id, and how messages name it. */
interface Reached {
  readonly path: string;
  readonly name: string;
}

/** A sandbox, by its control API. */
const byControl: Reached = { path: "/status", name: "the control API of a sandbox" };
/** A pool. */
const byPool: Reached = { path: "/", name: "a pool" };

/** `routing-sandbox stop`: stops the sandbox of a data directory or of a control API, or a pool, and waits until it is gone. */
export function stopCommand(terminal: Terminal): Command {
  return newCommand(terminal, "stop")
    .description("stop a running sandbox or pool, and wait until its processes, ports and lock are gone")
    .addOption(dataDirectoryOption())
    .addOption(
      controlOption(
        "the control API of the sandbox, instead of --data-dir; the sandbox must run on this machine",
      ),
    )
    .addOption(poolOption("the pool to stop, with all of its sandboxes; it must run on this machine"))
    .addOption(timeoutOption("the longest time to wait"))
    .addOption(jsonOption("print JSON on one line"))
    .action(async ({ dataDir, control, pool, timeout, json }: StopFlags) => {
      const milliseconds = timeout * 1_000;
      const url = pool ?? control;
      const { pid, removed } = await (url === undefined
        ? stopIn(dataDir, milliseconds)
        : stopAt(url, pool === undefined ? byControl : byPool, milliseconds));
      const what = pool === undefined ? "sandbox" : "pool";
      const where = url === undefined ? `in ${dataDir}` : `at ${url}`;
      const text =
        pid === null
          ? describeRemoved(removed, what, where)
          : `Stopped the ${what} ${where} (process ${pid}).`;
      print(terminal, { json }, { stopped: pid !== null, pid, removed }, text);
    });
}

function describeRemoved(removed: Stop["removed"], what: string, where: string): string {
  if (removed === null) return `No ${what} runs ${where}.`;
  const anvil = removed.anvil === null ? "" : `, and ended its Anvil (process ${removed.anvil})`;
  return `The sandbox ${where} (process ${removed.pid}) had been killed. Removed its lock and its keys${anvil}.`;
}

/**
 * Stops the sandbox of a data directory, also one that is starting. Removes the lock, the `sandbox.json` and the Anvil of a sandbox that was
 * killed.
 *
 * @throws Error when it does not end in time.
 */
export async function stopIn(directory: string, timeoutMs: number): Promise<Stop> {
  const owner = await readOwner(directory);
  const runs = owner !== null && isRunning(owner);
  if (runs) await end(owner, timeoutMs);
  const anvil = owner === null ? null : leftAnvilOf(owner);
  if ((await fileKind(join(directory, "lock.json"))) !== "missing") {
    const lock = await lockDataDirectory(directory);
    await unpublish(directory);
    await lock.release();
  }
  if (owner === null) return { pid: null, removed: null };
  return runs ? { pid: owner.pid, removed: null } : { pid: null, removed: { pid: owner.pid, anvil } };
}

/**
 * Stops the sandbox or the pool that answers at a URL.
 *
 * @throws Error when it is no process of this machine, and when it does not end in time.
 */
async function stopAt(url: string, { path, name }: Reached, timeoutMs: number): Promise<Stop> {
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await askControl(url, "GET", path, undefined, signal).catch((error: unknown) => {
    if (causesOf(error).some((cause) => codeOf(cause) === "ECONNREFUSED")) return null;
    noneAnswers(error);
    if (!signal.aborted)
      throw new Error(
        `${url} does not respond as ${name} does: ${messageOf(causesOf(error).at(-1))}. Pass the URL of ${name} to stop.`,
        { cause: error },
      );
    throw new Error(
      `${url} accepts a connection, and did not respond within ${timeoutMs / 1_000} s. Wait longer with --timeout, or end its process.`,
      { cause: error },
    );
  });
  if (answer === null) return { pid: null, removed: null };
  const { data } = status.safeParse(await answer.json().catch(() => null));
  const listener = await findListener(Number(new URL(url).port));
  // In another container, the id that it has there may be that of any process here.
  if (data === undefined || listener?.pid !== data.pid)
    throw new Error(
      `${url} is not ${name} that this user runs on this machine. Stop it where it runs, as the user who has started it.`,
    );
  await end(recordProcess(data.pid), timeoutMs);
  return { pid: data.pid, removed: null };
}

async function end(owner: ProcessRecord, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  try {
    signalProcess(owner.pid, "SIGTERM");
  } catch (cause) {
    throw new Error(`Process ${owner.pid} runs it as another user. Stop it as the user who has started it.`, {
      cause,
    });
  }
  while (isRunning(owner)) {
    if (performance.now() > deadline)
      throw new Error(
        `Process ${owner.pid} still runs after ${timeoutMs / 1_000} s. Wait longer with --timeout, or end it with kill -9 ${owner.pid}.`,
      );
    await wait(10);
  }
}
