import { dirname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { type Duration, toSeconds } from "../sandbox/chain/clock/duration.ts";
import type { FlaggedOption } from "../sandbox/lib/option-schemas.ts";
import { mostGasBudgetWei } from "../sandbox/options/defaults.ts";
import { checkOptions, flaggedOptions, type SandboxOptions } from "../sandbox/options/options.ts";
import { asGiven } from "./describe-failure.ts";

/** The options that {@link dataDirectoryOption} and {@link jsonOption} give to a command. */
export interface SandboxFlags {
  readonly dataDir: string;
  readonly json?: boolean;
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
  return option.default(file === undefined ? defaultDataDirectory : dirname(file), defaultDataDirectory);
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

/** Adds the ports that a sandbox listens on. */
export function addPortOptions(command: Command, ports: Ports): Command {
  for (const [part, port] of Object.entries(ports))
    command.addOption(sandboxOption(`ports.${part}`).default(port));
  return command;
}

/** One port to listen on. */
export function portOption(name: string, description: string, port: number): Option {
  return new Option(`${name} <number>`, `${description}, 0 for any free one`)
    .argParser(wholeNumber(0, 65_535))
    .default(port);
}

/** `--port <number>`: the port of a pool. @param description - of a command that only looks for one. */
export function poolPortOption(description?: string): Option {
  const option = portOption("--port", "port of the pool", 4030);
  option.description = description ?? option.description;
  return option;
}

/** @throws Error when there is a log file for a command that stays in the foreground. */
export function requireDetach({ logFile, detach }: { logFile?: string; detach?: boolean }): void {
  if (logFile !== undefined && !detach)
    throw new Error(`${asGiven("--log-file")} is for --detach only. Add --detach, or redirect the output.`);
}

/** Returns the option of the command line for an option of createSandbox. */
export function sandboxOption(name: string, description?: string): Option {
  const found = flaggedOptions.find((flagged) => flagged.name === name);
  if (found === undefined) throw new Error(`The option ${name} has no flag.`);
  const option = flaggedOption(found);
  option.description = description ?? option.description;
  return option;
}

/** Returns the option of the command line for a field with a flag: choices, ranges and defaults are those of its schema. */
export function flaggedOption(flagged: FlaggedOption): Option {
  const { flag, description, byDefault, schema } = flagged;
  const option = new Option(flag, description).default(undefined, byDefault);
  if (schema instanceof z.ZodEnum) return option.choices(schema.options.map(String));
  if (schema instanceof z.ZodNumber)
    return option.argParser(wholeNumber(schema.minValue ?? 0, schema.maxValue ?? undefined));
  if (schema instanceof z.ZodBigInt) return option.argParser(wei);
  if (schema instanceof z.ZodRecord) return option.argParser(header);
  if (!(schema instanceof z.ZodArray) || option.variadic) return option;
  return option.argParser((text, before: readonly unknown[] = []) => [...before, entryOf(flagged, text)]);
}

/** Returns the values that the flags of a command have for fields, by the fields' names. */
export function valuesOf(flags: object, fields: readonly FlaggedOption[]): { [name: string]: unknown } {
  return Object.fromEntries(
    fields.map(({ name, flag }) => [name, Reflect.get(flags, new Option(flag).attributeName())]),
  );
}

/** Reads one more header of an answer. @throws InvalidArgumentError */
function header(text: string, others: { [name: string]: string } = {}): { [name: string]: string } {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('Write a name and a value, such as "Retry-After: 3".');
  return { ...others, [name]: value };
}

function wei(text: string): bigint {
  if (!/^\d{1,78}$/.test(text) || BigInt(text) > mostGasBudgetWei)
    throw new InvalidArgumentError("It must be a whole number of wei from 0 to 2^256 - 1.");
  return BigInt(text);
}

/** Reads an entry of a list, such as `prg_books=Book store`. */
function entryOf({ pairedWith }: FlaggedOption, text: string): unknown {
  const [id, ...rest] = text.split("=");
  return pairedWith === undefined || rest.length === 0 ? text : { id, [pairedWith]: rest.join("=") };
}

/**
 * Returns the options of createSandbox that the flags of a command name.
 *
 * @throws SandboxError option_invalid
 */
export function readSandboxOptions(values: object): SandboxOptions {
  const options: SandboxOptions = {};
  for (const [name, value] of Object.entries(valuesOf(values, flaggedOptions)))
    if (value !== undefined) setAt(options, name.split("."), value);
  checkOptions(options);
  return options;
}

function setAt(target: object, [key = "", ...rest]: readonly string[], value: unknown): void {
  const inner = Object(Reflect.get(target, key) ?? {});
  if (rest.length > 0) setAt(inner, rest, value);
  Reflect.set(target, key, rest.length === 0 ? value : inner);
}

/**
 * Reads an option or an argument that is a whole number.
 *
 * @returns what throws an InvalidArgumentError, which commander shows with the option's name, for any other text.
 */
export function wholeNumber(least = 0, largest = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < least || number > largest)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${largest}.`);
    return number;
  };
}

/** The longest `--timeout`, in days: a timer of Node has at most 2^31 - 1 milliseconds. */
const mostDays = 24;

/** `--timeout <duration>`: how long a command waits, in seconds; `least` is the shortest one. */
export function timeoutOption(description: string, least = 0): Option {
  const isPossible = (length: number) => length >= least && length <= toSeconds({ days: mostDays });
  return new Option("--timeout <duration>", description).default(30, "30s").argParser((text) => {
    const isBare = /^\d+$/.test(text);
    const length = isBare ? Number(text) : seconds(text);
    if (isBare && isPossible(length)) throw new InvalidArgumentError(`It has no unit. Use ${text}s.`);
    if (!isPossible(length))
      throw new InvalidArgumentError(`It must be a duration from ${least}s to ${mostDays}d.`);
    return length;
  });
}

/** `--control <url>`: the sandbox by its control API. */
export function controlOption(description: string): Option {
  return urlOption("--control", description, "http://127.0.0.1:4022");
}

/** `--pool <url>`: a pool instead of a sandbox. */
export function poolOption(description: string): Option {
  return urlOption("--pool", description, "http://127.0.0.1:4030").conflicts("control");
}

function urlOption(name: string, description: string, example: string): Option {
  return new Option(`${name} <url>`, description).argParser((text) => {
    if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ""))
      throw new InvalidArgumentError(`It must be a URL such as ${example}.`);
    return text;
  });
}

/** Reads a duration such as 1d12h, in seconds. @throws InvalidArgumentError for any other text. */
export function seconds(text: string): number {
  const parts =
    /^(?:(?<days>\d{1,9})d)?(?:(?<hours>\d{1,9})h)?(?:(?<minutes>\d{1,9})m)?(?:(?<seconds>\d{1,9})s)?$/.exec(
      text,
    );
  const given = Object.entries(parts?.groups ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0)
    throw new InvalidArgumentError("It must be a duration such as 8d, 36h, 90m, 30s or 1d12h.");
  const length: Duration = Object.fromEntries(given.map(([name, value]) => [name, Number(value)]));
  return toSeconds(length);
}
