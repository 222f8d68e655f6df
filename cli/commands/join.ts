import { Command } from "commander";
import { interruption } from "../interruption.ts";
import { print } from "../print.ts";
import {
  addRequiredOption,
  jsonOption,
  portOption,
  type SandboxFlags,
  startTimeoutOption,
  storeOption,
} from "../shared-options.ts";

interface JoinFlags extends Pick<SandboxFlags, "json"> {
  store: string;
  apiPort: number;
  startTimeout: number;
}

/** `routing-sandbox join`: runs another API process of a sandbox whose records are in PostgreSQL. */
export function joinCommand(): Command {
  return addRequiredOption(new Command("join"), storeOption("the PostgreSQL database of the sandbox to join"))
    .description(
      "run another API process of a sandbox that was started with --store, until Ctrl-C or until the sandbox ends",
    )
    .addOption(portOption("--api-port", "port of the routing API of this process", 0))
    .addOption(startTimeoutOption())
    .addOption(jsonOption("print the URL of this process as JSON"))
    .action(async (flags: JoinFlags) => await join(flags));
}

async function join({ store, apiPort, startTimeout: startTimeoutMs, json }: JoinFlags): Promise<void> {
  const { pino } = await import("pino");
  const { joinSandbox } = await import("../../sandbox/service/cluster/join-sandbox.ts");
  const log = pino({ level: "error" }, pino.destination(2));
  await using joined = await joinSandbox({ store, apiPort, startTimeoutMs, log });
  const { apiUrl: api } = joined;
  print({ json }, { version: 1, pid: process.pid, urls: { api } }, `API  ${api}. Ctrl-C stops it.`);
  const ended = joined.ended.then(() => "ended" as const);
  if ((await Promise.race([interruption(), ended])) !== "ended") return;
  process.stderr.write("The sandbox has ended. Start it again, then join it.\n");
  process.exitCode = 1;
}
