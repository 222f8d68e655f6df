import { dirname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Duration, toSeconds } from "../sandbox/chain/clock/duration.ts";
import { type ProxyKind, proxyKinds, type RegistrarOption } from "../sandbox/chain/registrar/registrar.ts";
import { definedOnly } from "../sandbox/lib/defined-only.ts";
import { defaultStartTimeoutMs, mostStartTimeoutMs } from "../sandbox/options/start-timeout.ts";

/** The options that {@link dataDirectoryOption} and {@link jsonOption} give to a command. */
export interface SandboxFlags {
  readonly dataDir: string;
  readonly json?: boolean;
}

/** The options that {@link addPortOptions} gives to a command. */
export interface PortFlags {
  readonly apiPort: number;
  readonly docsPort: number;
  readonly controlPort: number;
  readonly rpcPort: number;
}

/** The options that {@link addRegistrarOptions} gives to a command. */
export interface RegistrarFlags {
  readonly registrar?: string;
  readonly registrarArguments?: string[];
  readonly registrarProxy?: ProxyKind;
  readonly registrarInitialize?: string[];
}

/** The data directory of commands that name none. */
export const defaultDataDirectory = ".sandbox";

/** The option of every command that names a data directory. */
export const dataDirectoryFlags = "--data-dir <folder>";

/**
 * `--data-dir <folder>`: the data directory that a command works with. A command for a running sandbox finds that of `exec` by itself.
 *
 * @param description - of a command that does not need a running sandbox.
 */
export function dataDirectoryOption(description?: string): Option {
  const option = new Option(dataDirectoryFlags, description ?? "the data directory of the running sandbox");
  const file = description === undefined ? process.env["ROUTING_SANDBOX_FILE"] : undefined;
  return option
    .default(file === undefined ? defaultDataDirectory : dirname(file), defaultDataDirectory)
    .argParser(namedFolder);
}

/** Reads the name of a folder. @throws InvalidArgumentError when it is empty. */
export function namedFolder(folder: string): string {
  if (folder === "") throw new InvalidArgumentError("It is empty: name a folder, or leave the option out.");
  return folder;
}

/** `--fresh`: the sandbox in the data directory is replaced. */
export function freshOption(description: string): Option {
  return new Option("--fresh", description);
}

/**
 * Adds an option that the command requires, and says so in its description.
 *
 * Commander's own `requiredOption` reports a missing option before a misspelled one.
 */
export function addRequiredOption(command: Command, option: Option): Command {
  option.description = `required: ${option.description}`;
  return command.addOption(option).hook("preAction", () => {
    if (command.getOptionValue(option.attributeName()) === undefined)
      command.error(`error: required option '${option.flags}' not specified`);
  });
}

/** Returns an option whose default the sandbox fills in: the help and docs/cli.md have it in words. */
export function optionWithDefault<Value>(
  flags: string,
  description: string,
  value: string | number,
  parse?: (text: string) => Value,
): Option {
  const option = new Option(flags, description).default(undefined, `${value}`);
  return parse === undefined ? option : option.argParser(parse);
}

/** `--program <id>`: the program that a command is about. */
export function programOption(): Option {
  return optionWithDefault("--program <id>", "the program", "the first one");
}

/** `--json`: for scripts that read what a command prints. */
export function jsonOption(description = "print JSON"): Option {
  return new Option("--json", description);
}

/** The ports of a sandbox's parts; 0 for any free one. */
export interface Ports {
  readonly api: number;
  readonly docs: number;
  readonly control: number;
  readonly rpc: number;
}

/** The ports of `start`. */
export const defaultPorts: Ports = { api: 4020, docs: 4021, control: 4022, rpc: 8545 };

/** Adds the ports that a sandbox listens on. */
export function addPortOptions(command: Command, { api, docs, control, rpc }: Ports): Command {
  return command
    .addOption(portOption("--api-port", "port of the routing API", api))
    .addOption(portOption("--docs-port", "port of the documentation host", docs))
    .addOption(portOption("--control-port", "port of the control API", control))
    .addOption(portOption("--rpc-port", "port of the chain RPC", rpc));
}

/** Adds the options of a registrar contract of the user. */
export function addRegistrarOptions(command: Command): Command {
  return command
    .addOption(
      optionWithDefault(
        "--registrar <artifact>",
        "use your own registrar contract: the path of its artifact (JSON of Hardhat or Foundry)",
        "the sandbox's own contract",
      ),
    )
    .option(
      "--registrar-arguments <value...>",
      "with --registrar, the arguments of the constructor; arrays and structs as JSON",
    )
    .addOption(
      new Option(
        "--registrar-proxy <kind>",
        "with --registrar, deploy the contract behind a proxy, which calls initialize if the contract has it",
      ).choices(proxyKinds),
    )
    .option("--registrar-initialize <value...>", "with --registrar-proxy, the arguments of initialize")
    .hook("preAction", () => {
      const { registrar, ...others } = registrarFlags(command);
      const [other] = Object.keys(others);
      if (registrar === undefined && other !== undefined)
        command.error(
          `error: --${other.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)} needs --registrar. Name the artifact of your registrar contract.`,
        );
    });
}

function registrarFlags(command: Command): RegistrarFlags {
  const { registrar, registrarArguments, registrarProxy, registrarInitialize } =
    command.opts<RegistrarFlags>();
  return definedOnly({ registrar, registrarArguments, registrarProxy, registrarInitialize });
}

/** Returns the registrar contract that the options name; undefined for the sandbox's own one. */
export function registrarOf(flags: RegistrarFlags): RegistrarOption | undefined {
  const { registrar: artifact, registrarArguments, registrarProxy, registrarInitialize } = flags;
  if (artifact === undefined) return undefined;
  const others = definedOnly({
    constructorArguments: registrarArguments,
    proxy: registrarProxy,
    initializeArguments: registrarInitialize,
  });
  return { artifact, ...others };
}

/** One port to listen on. */
export function portOption(name: string, description: string, port: number): Option {
  return new Option(`${name} <number>`, `${description}, 0 for any free one`)
    .argParser(wholeNumber(0, 65_535))
    .default(port);
}

/** The database that processes share; from the environment, so that no list of processes shows a password. */
export function storeOption(description: string): Option {
  return new Option(
    "--store <url>",
    `${description}: postgres://user:password@host:port/database?schema=name`,
  ).env("ROUTING_SANDBOX_STORE");
}

/** Returns the option for the deadline of a start. */
export function startTimeoutOption(): Option {
  return new Option("--start-timeout <milliseconds>", "the longest time that the start may take")
    .argParser(wholeNumber(1, mostStartTimeoutMs))
    .default(defaultStartTimeoutMs);
}

/**
 * Reads an option or an argument that is a whole number.
 *
 * @returns what throws an InvalidArgumentError, which commander shows with the option's name, for any other text.
 */
export function wholeNumber(least = 0, most = 999_999_999): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d{1,9}$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return number;
  };
}

/** `--timeout <duration>`: how long a command waits, in seconds. */
export function timeoutOption(description: string): Option {
  return new Option("--timeout <duration>", description).default(30, "30s").argParser((text) => {
    if (/^\d+$/.test(text)) throw new InvalidArgumentError(`It has no unit. Use ${text}s.`);
    return seconds(text);
  });
}

/** `--control <url>`: the sandbox by its control API. */
export function controlOption(description: string): Option {
  return new Option("--control <url>", description).argParser((text) => {
    if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ""))
      throw new InvalidArgumentError("It must be a URL such as http://127.0.0.1:4022.");
    return text;
  });
}

/** Reads a duration such as 1d12h, in seconds. @throws InvalidArgumentError for any other text. */
export function seconds(text: string): number {
  const parts =
    /^(?:(?<days>\d{1,6})d)?(?:(?<hours>\d{1,6})h)?(?:(?<minutes>\d{1,6})m)?(?:(?<seconds>\d{1,9})s)?$/.exec(
      text,
    );
  const given = Object.entries(parts?.groups ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0)
    throw new InvalidArgumentError("It must be a duration such as 8d, 36h, 90m, 30s or 1d12h.");
  const length: Duration = Object.fromEntries(given.map(([name, value]) => [name, Number(value)]));
  return toSeconds(length);
}
