import { isIP } from "node:net";
import type { Command } from "commander";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { definedOnly } from "../../sandbox/lib/defined-only.ts";
import { flaggedOptions, type SandboxOptions } from "../../sandbox/options/options.ts";
import { asGiven } from "../describe-failure.ts";
import { type NetworkFlags, networkOf } from "../network-options.ts";
import { addPortOptions, type Ports, readSandboxOptions, sandboxOption } from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { type LogFlags, logFormatOption, logLevelOption, openLog } from "./open-log.ts";

/** The flags of options of createSandbox that commands read themselves, besides passing on the others. */
export interface StartFlags extends NetworkFlags, LogFlags {
  readonly dataDir: string;
  readonly mode?: "live" | "deterministic";
  readonly fresh?: boolean;
  readonly from?: string;
  readonly listen?: string;
  readonly registrar?: string;
}

/** Adds the options of a sandbox that the command starts, but for those that the command adds itself. */
export function addStartOptions(command: Command, ports: Ports, ...own: readonly string[]): Command {
  return addPortOptions(addSandboxOptions(command, ...own), ports)
    .addOption(logLevelOption())
    .addOption(logFormatOption());
}

/** Adds the options of sandboxes that listen at any free ports, but for those that the command adds itself. */
export function addSandboxOptions(command: Command, ...own: readonly string[]): Command {
  for (const { name } of flaggedOptions)
    if (!own.includes(name) && !name.startsWith("ports.")) command.addOption(sandboxOption(name));
  return command.hook("preAction", () => {
    const other = ["registrarArguments", "registrarProxy", "registrarInitialize"].find(
      (name) => command.getOptionValue(name) !== undefined,
    );
    if (command.getOptionValue("registrar") === undefined && other !== undefined)
      command.error(
        `error: ${asGiven(`--${other.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`)} needs --registrar. Name the artifact of your registrar contract.`,
      );
  });
}

/**
 * Starts the sandbox that the options describe. Later failures are logged to standard error.
 *
 * @param others - options that replace those of the flags.
 * @throws as createSandbox does.
 */
export async function startSandbox(
  terminal: Terminal,
  flags: StartFlags,
  others: SandboxOptions = {},
): Promise<Sandbox> {
  const { createSandbox } = await import("../../sandbox/create-sandbox.ts");
  const log = await openLog(terminal, flags);
  const network = networkOf(flags);
  const mode = flags.mode ?? (network === undefined ? await modeFor(flags) : undefined);
  warnOfExposure(terminal, flags);
  return await createSandbox({
    ...definedOnly({ mode, network }),
    ...readSandboxOptions(flags),
    log,
    ...others,
  });
}

/** Writes to standard error what a sandbox that listens beyond loopback exposes. */
export function warnOfExposure(
  { stderr }: Terminal,
  { listen, rpcUrl }: Pick<StartFlags, "listen" | "rpcUrl">,
): void {
  if (listen === undefined || isIP(listen) === 0 || isLoopback(listen)) return;
  const [hosts, powers] =
    rpcUrl === undefined
      ? ["the API, the documentation, the chain RPC and the control API", "can mine blocks and can change"]
      : [
          "the API, the documentation and the control API",
          "can have the operators send transactions, and can change",
        ];
  stderr.write(
    `Warning: ${hosts} listen at ${listen}. Everyone who reaches it gets the test keys, ${powers} or delete everything in the sandbox; use it only in a network that you trust.\n`,
  );
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

/** A person's sandbox is live, unless it continues as it was made. */
async function modeFor({ dataDir, fresh, from }: StartFlags): Promise<"live" | undefined> {
  const { readKeptSettings } = await import("../../sandbox/data-directory/beginning.ts");
  const continues = from !== undefined || (!fresh && (await readKeptSettings(dataDir)) !== null);
  return continues ? undefined : "live";
}
