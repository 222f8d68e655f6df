import type { Command } from "commander";
import { definedOnly } from "../../sandbox/lib/defined-only.ts";
import { addNetworkOptions, type NetworkFlags, networkOf } from "../network-options.ts";
import { type LogFlags, logFormatOption, logLevelOption, openLog } from "../running/open-log.ts";
import {
  addRequiredOption,
  jsonOption,
  portOption,
  type SandboxFlags,
  sandboxOption,
} from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

interface JoinFlags extends Pick<SandboxFlags, "json">, NetworkFlags, LogFlags {
  store: string;
  apiPort: number;
  startTimeout?: number;
}

/** `routing-sandbox join`: runs another API process of a sandbox whose records are in PostgreSQL. */
export function joinCommand(terminal: Terminal): Command {
  const command = addRequiredOption(
    newCommand(terminal, "join"),
    sandboxOption("store", "the PostgreSQL database of the sandbox to join"),
  );
  return addNetworkOptions(command, false)
    .description(
      "run another API process of a sandbox that was started with --store, until Ctrl-C or until the sandbox ends",
    )
    .addOption(portOption("--api-port", "port of the routing API of this process", 0))
    .addOption(sandboxOption("startTimeoutMs"))
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addOption(jsonOption("print the URL of this process as JSON"))
    .action(async (flags: JoinFlags) => await join(terminal, flags));
}

async function join(
  terminal: Terminal,
  { store, apiPort, startTimeout: startTimeoutMs, json, ...flags }: JoinFlags,
): Promise<void> {
  const { joinSandbox } = await import("../../sandbox/cluster/join-sandbox.ts");
  const log = await openLog(terminal, flags);
  await using joined = await joinSandbox({
    store,
    apiPort,
    log,
    ...definedOnly({ startTimeoutMs, network: networkOf(flags) }),
  });
  const { apiUrl: api } = joined;
  print(terminal, { json }, { version: 1, pid: process.pid, urls: { api } }, `API  ${api}. Ctrl-C stops it.`);
  const ended = joined.ended.then(() => "ended" as const);
  if ((await Promise.race([interruption(terminal), ended])) !== "ended") return;
  terminal.stderr.write("The sandbox has ended. Start it again, then join it.\n");
  terminal.exitCode = 1;
}
