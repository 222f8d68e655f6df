import { type Command, Option } from "commander";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import { poolLimits } from "../../testkit/pool/served/pool-limits.ts";
import { describeFailure } from "../describe-failure.ts";
import { type LogFlags, logFormatOption, logLevelOption, openLog } from "../running/open-log.ts";
import { followStarter, startDetached } from "../running/start-detached.ts";
import { addSandboxOptions } from "../running/start-sandbox.ts";
import {
  jsonOption,
  optionWithDefault,
  poolPortOption,
  readSandboxOptions,
  requireDetach,
  sandboxOption,
  wholeNumber,
} from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

interface PoolFlags extends LogFlags {
  readonly size?: number;
  readonly port: number;
  readonly lease?: number;
  readonly wait?: number;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly logFile?: string;
  /** Whether `pool --detach` has started this process. */
  readonly detached?: boolean;
}

/** A pool that responds, as --json prints it. */
interface StartedPool {
  readonly url: string;
  readonly size: number;
  readonly pid: number;
}

/** `routing-sandbox pool`: leases sandboxes over HTTP until it is interrupted. */
export function poolCommand(terminal: Terminal): Command {
  const { size, mostSize, leaseSeconds, mostLeaseSeconds, waitMs, mostWaitMs } = poolLimits;
  const command = newCommand(terminal, "pool")
    .description(
      "lease running sandboxes over HTTP to test workers in any language, until Ctrl-C; each lease starts with a reset sandbox",
    )
    .addOption(
      optionWithDefault(
        "--size <number>",
        `the number of sandboxes, at most ${mostSize}`,
        size,
        wholeNumber(1, mostSize),
      ),
    )
    .addOption(poolPortOption())
    .addOption(
      optionWithDefault(
        "--lease <seconds>",
        "how long a lease lasts if the request does not say",
        leaseSeconds,
        wholeNumber(1, mostLeaseSeconds),
      ),
    )
    .addOption(
      optionWithDefault(
        "--wait <seconds>",
        "the longest time that a request waits for a free sandbox",
        waitMs / 1_000,
        wholeNumber(0, mostWaitMs / 1_000),
      ),
    )
    .option("--detach", "run in the background; the command returns when all sandboxes can be leased")
    .addOption(
      optionWithDefault(
        "--log-file <file>",
        "with --detach, the file to which the pool appends its output",
        "none; the output is dropped",
      ),
    )
    .addOption(new Option("--detached").hideHelp())
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addOption(jsonOption("print the URL, the number of sandboxes and the process id as JSON"));
  return addSandboxOptions(command, "dataDirectory", "store", "fresh", "mode")
    .addOption(sandboxOption("mode").default(undefined, "deterministic"))
    .action(async (flags: PoolFlags) => {
      requireDetach(flags);
      if (flags.detach && !flags.detached) await startInBackground(terminal, flags);
      else await servePool(terminal, flags);
    });
}

/** Starts the pool in a process of its own, and prints the same as `pool`. */
async function startInBackground(terminal: Terminal, { logFile, json }: PoolFlags): Promise<void> {
  const started = await startDetached<StartedPool>(terminal, { logFile: logFile ?? null, directory: null });
  if (started === null) return;
  const writes = logFile === undefined ? "" : ` and writes to ${logFile}`;
  const stopping = `The pool runs in the background${writes}. To stop it: ${howToRun("stop", "--pool", started.url)}.`;
  print(terminal, { json }, started, welcome(started, stopping));
}

async function servePool(terminal: Terminal, flags: PoolFlags): Promise<void> {
  // From here on: a start that is interrupted is completed and closed, so that it leaves nothing.
  const starter = flags.detached ? followStarter() : null;
  const interrupted = Promise.race([interruption(terminal), ...(starter === null ? [] : [starter.lost])]);
  const { size = poolLimits.size, lease = poolLimits.leaseSeconds, wait = poolLimits.waitMs / 1_000 } = flags;
  const [{ listen }, { ownPages }, { ServedPool }, { createPoolHost }] = await Promise.all([
    import("../../sandbox/lib/http/listen.ts"),
    import("../../sandbox/lib/http/host-and-origin.ts"),
    import("../../testkit/pool/served/served-pool.ts"),
    import("../../testkit/pool/served/pool-host.ts"),
  ]);
  const listener = await listen({ port: flags.port, option: "port", pages: ownPages });
  const failed = Promise.withResolvers<"failure">();
  let hasFailed = false;
  const pool = new ServedPool({
    size,
    leaseSeconds: lease,
    waitMs: wait * 1_000,
    sandbox: { ...readSandboxOptions(flags), log: await openLog(terminal, flags) },
    failed: (error) => {
      // In the background, the first failure ends the pool.
      if (starter === null || !hasFailed)
        terminal.stderr.write(`A sandbox did not start: ${describeFailure(error)}\n`);
      hasFailed = true;
      failed.resolve("failure");
    },
  });
  const { url } = listener;
  listener.serve({ handle: createPoolHost(pool, url) });
  const started: StartedPool = { url, size, pid: process.pid };
  if (starter === null) print(terminal, flags, started, welcome(started, "Ctrl-C stops everything."));
  else if ((await Promise.race([pool.ready(), failed.promise, interrupted])) === undefined)
    starter.report(started);
  else terminal.exitCode = 1;
  // A pool in the background ends if its first sandboxes do not start, so that the command that started it reports the reason.
  if (terminal.exitCode !== 1) await interrupted;
  await Promise.all([listener.close(), pool.close()]);
}

function welcome({ url, size }: StartedPool, stopping: string): string {
  return `${size === 1 ? "1 sandbox" : `${size} sandboxes`} can be leased with POST ${url}/leases. ${stopping}`;
}
