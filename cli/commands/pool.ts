import type { Command } from "commander";
import { messageOf } from "../../protocol/coded-error.ts";
import { poolLimits } from "../../testkit/pool/served/pool-limits.ts";
import { inFlags } from "../describe-failure.ts";
import { addSandboxOptions } from "../running/start-sandbox.ts";
import {
  jsonOption,
  optionWithDefault,
  portOption,
  readSandboxOptions,
  sandboxOption,
  wholeNumber,
} from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

interface PoolFlags {
  readonly size?: number;
  readonly port: number;
  readonly lease?: number;
  readonly wait?: number;
  readonly json?: boolean;
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
    .addOption(portOption("--port", "port of the pool", 4030))
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
    .addOption(jsonOption("print the URL and the number of sandboxes as JSON"));
  return addSandboxOptions(command, "dataDirectory", "store", "fresh", "mode")
    .addOption(sandboxOption("mode").default(undefined, "deterministic"))
    .action(async (flags: PoolFlags) => await servePool(terminal, flags));
}

async function servePool(terminal: Terminal, flags: PoolFlags): Promise<void> {
  // From here on: a start that is interrupted is completed and closed, so that it leaves nothing.
  const interrupted = interruption(terminal);
  const { size = poolLimits.size, lease = poolLimits.leaseSeconds, wait = poolLimits.waitMs / 1_000 } = flags;
  const [{ listen }, { ownPages }, { ServedPool }, { createPoolHost }] = await Promise.all([
    import("../../sandbox/lib/http/listen.ts"),
    import("../../sandbox/lib/http/host-and-origin.ts"),
    import("../../testkit/pool/served/served-pool.ts"),
    import("../../testkit/pool/served/pool-host.ts"),
  ]);
  const listener = await listen({ port: flags.port, option: "port", pages: ownPages });
  const pool = new ServedPool({
    size,
    leaseSeconds: lease,
    waitMs: wait * 1_000,
    sandbox: readSandboxOptions(flags),
    failed: (error) => terminal.stderr.write(`A sandbox did not start: ${inFlags(messageOf(error))}\n`),
  });
  const { url } = listener;
  listener.serve({ handle: createPoolHost(pool, url) });
  print(
    terminal,
    flags,
    { url, size },
    `${size === 1 ? "1 sandbox" : `${size} sandboxes`} can be leased with POST ${url}/leases. Ctrl-C stops everything.`,
  );
  await interrupted;
  await Promise.all([listener.close(), pool.close()]);
}
