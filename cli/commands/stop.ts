import type { Command } from "commander";
import { type Stop, stopAt, stopIn } from "../running/stop-sandbox.ts";
import {
  controlOption,
  dataDirectoryOption,
  jsonOption,
  type SandboxFlags,
  timeoutOption,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface StopFlags extends SandboxFlags {
  control?: string;
  timeout: number;
}

/** `routing-sandbox stop`: stops the sandbox of a data directory, or that of a control API, and waits until it is gone. */
export function stopCommand(terminal: Terminal): Command {
  return newCommand(terminal, "stop")
    .description("stop a running sandbox, and wait until its processes, ports and lock are gone")
    .addOption(dataDirectoryOption())
    .addOption(
      controlOption(
        "the control API of the sandbox, instead of --data-dir; the sandbox must run on this machine",
      ),
    )
    .addOption(timeoutOption("the longest time to wait"))
    .addOption(jsonOption("print JSON on one line"))
    .action(async ({ dataDir, control, timeout, json }: StopFlags) => {
      const milliseconds = timeout * 1_000;
      const { pid, removed } = await (control === undefined
        ? stopIn(dataDir, milliseconds)
        : stopAt(control, milliseconds));
      const where = control === undefined ? `in ${dataDir}` : `at ${control}`;
      const text =
        pid === null ? describeRemoved(removed, where) : `Stopped the sandbox ${where} (process ${pid}).`;
      print(terminal, { json }, { stopped: pid !== null, pid, removed }, text);
    });
}

function describeRemoved(removed: Stop["removed"], where: string): string {
  if (removed === null) return `No sandbox runs ${where}.`;
  const anvil = removed.anvil === null ? "" : `, and ended its Anvil (process ${removed.anvil})`;
  return `The sandbox ${where} (process ${removed.pid}) had been killed. Removed its lock and its keys${anvil}.`;
}
