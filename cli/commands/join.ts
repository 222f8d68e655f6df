import { Command } from "commander";
import { startTimeoutOption, storeOption } from "./start.ts";
import { wholeNumber } from "./whole-number.ts";

interface JoinFlags {
  store: string;
  apiPort: number;
  startTimeout: number;
  json?: boolean;
}

/** `routing-sandbox join`: one more process that answers the API of a sandbox on a database. */
export function joinCommand(): Command {
  return new Command("join")
    .description(
      "answer the API of a sandbox that runs with --store, in one more process, until Ctrl-C or the chain's end",
    )
    .addOption(storeOption().makeOptionMandatory())
    .option("--api-port <number>", "port of its routing API, 0 for any free one", wholeNumber, 0)
    .addOption(startTimeoutOption())
    .option("--json", "print where it answers as JSON")
    .action(async (flags: JoinFlags) => await join(flags));
}

async function join({ store, apiPort, startTimeout: startTimeoutMs, json }: JoinFlags): Promise<void> {
  const { pino } = await import("pino");
  const { joinSandbox } = await import("../../sandbox/service/cluster/join-sandbox.ts");
  const log = pino({ level: "error" }, pino.destination(2));
  await using joined = await joinSandbox({ store, apiPort, startTimeoutMs, log });
  const { apiUrl: api } = joined;
  process.stdout.write(
    json
      ? `${JSON.stringify({ version: 1, pid: process.pid, urls: { api } })}\n`
      : `API  ${api}. Ctrl-C stops it.\n`,
  );
  const { promise: interrupted, resolve } = Promise.withResolvers<"interrupt">();
  process.once("SIGINT", () => resolve("interrupt")).once("SIGTERM", () => resolve("interrupt"));
  const ended = joined.ended.then(() => "ended" as const);
  if ((await Promise.race([interrupted, ended])) === "interrupt") return;
  process.stderr.write("The sandbox that was joined has ended; start it again, then join it.\n");
  process.exitCode = 1;
}
