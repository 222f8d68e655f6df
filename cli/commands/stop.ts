import type { Command } from "commander";
import { byControl, byPool, type Stop, stopAt, stopIn } from "../running/stop-sandbox.ts";
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
