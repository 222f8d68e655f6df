import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError, type Option } from "commander";
import { messageOf } from "../protocol/coded-error.ts";
import { flaggedOptions } from "../sandbox/options/options.ts";
import { describeFileError } from "../server/lib/describe-file-error.ts";
import { readInput } from "../server/lib/file-kind.ts";

/** The commands whose options the environment and the config file can set; of the others, only the data directory. */
export const configurable = new Set(["start", "exec", "pool", "join", "check-client", "doctor"]);
/** The config files, in the current folder. */
const configFiles = ["json", "yaml", "yml"].map((ending) => `routing-sandbox.config.${ending}`);
const mostOfConfig = { bytes: 2 ** 20, values: 10_000 };
const prefix = "ROUTING_SANDBOX_";
/** The variable that names the sandbox of a command of `exec`. */
const fileVariable = `${prefix}FILE`;
/** The options of one call of a command, which are never set for all calls. */
const ofOneCall = new Set(["detached", "version", "help"]);

/** A value of an option that is not its default, and where it came from. */
export interface ConfiguredValue {
  readonly flag: string;
  readonly value: unknown;
  /** A flag, the name of an environment variable, or of a config file. */
  readonly source: string;
}

/**
 * Fills in the options of a command that no flag sets: from the environment (`ROUTING_SANDBOX_API_PORT` for `--api-port`), then from
 * `routing-sandbox.config.json` or `.yaml` in the current folder, whose keys are `apiPort`, `api-port` or the names of createSandbox.
 *
 * @param commands - all commands: a name that none of them has is refused.
 * @throws Error that says what is wrong, and what to do.
 */
export async function configure(command: Command, commands: readonly Command[]): Promise<ConfiguredValue[]> {
  const isConfigurable = configurable.has(command.name()) && command.parent?.parent === null;
  // Of a command that exec runs, which is about the sandbox of exec.
  if (!isConfigurable && process.env[fileVariable] !== undefined) return [];
  const known = commands
    .filter((one) => configurable.has(one.name()))
    .flatMap(({ options }) => options)
    .filter((option) => !ofOneCall.has(option.attributeName()));
  if (isConfigurable) refuseUnknownVariables(known);
  const { values, file } = await readConfig(known);
  const options = command.options.filter(
    (option) => !ofOneCall.has(option.attributeName()) && (isConfigurable || option.long === "--data-dir"),
  );
  return options.flatMap((option): ConfiguredValue[] => {
    const name = option.attributeName();
    const flag = option.long ?? "";
    if (command.getOptionValueSource(name) === "cli")
      return [{ flag, value: command.getOptionValue(name), source: flag }];
    const variable = variableOf(option);
    const isVariable = process.env[variable] !== undefined;
    const written = process.env[variable] ?? values.get(nameOf(option));
    if (written === undefined) return [];
    const value = readValue(option, written, isVariable ? variable : `${nameOf(option)} in ${file}`);
    command.setOptionValueWithSource(name, value, isVariable ? "env" : "config");
    return [{ flag, value, source: isVariable ? variable : file }];
  });
}

/** The environment variable of an option, such as `ROUTING_SANDBOX_API_PORT`. */
function variableOf(option: Option): string {
  return prefix + nameOf(option).replaceAll("-", "_").toUpperCase();
}

/** Reads one value as its flag reads it. */
function readValue(option: Option, value: unknown, place: string): unknown {
  const refuse = (why: string) => new Error(`${place} is ${JSON.stringify(value)}. ${why}`);
  if (!option.required && !option.optional) {
    const asked = String(value).toLowerCase();
    if (!["true", "false", "1", "0"].includes(asked)) throw refuse("Use true or false.");
    return asked === "true" || asked === "1";
  }
  const parse = option.parseArg;
  const read = (text: unknown, before?: unknown) => {
    try {
      // An entry such as { id, name }, which a flag writes as "id=name".
      if (typeof text === "object" && text !== null)
        return Array.isArray(before) ? [...before, text] : [text];
      return parse === undefined ? String(text) : parse(String(text), before);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw refuse(error.message);
    }
  };
  const entries = Array.isArray(value) ? value : isList(option) ? String(value).split(",") : [value];
  let before: unknown;
  for (const entry of entries) before = read(typeof entry === "string" ? entry.trim() : entry, before);
  return before;
}

/** Returns whether an option can be given several times. */
function isList(option: Option): boolean {
  return option.description.includes("repeatable");
}

function refuseUnknownVariables(known: readonly Option[]): void {
  const names = [...known.map(variableOf), fileVariable];
  for (const name of Object.keys(process.env))
    if (name.startsWith(prefix) && !names.includes(name))
      throw new Error(`There is no option ${name}. ${remedyFor(name, names)}, or unset it.`);
}

/** Returns the values of the config file by flag. */
async function readConfig(known: readonly Option[]): Promise<{ values: Map<string, unknown>; file: string }> {
  const [file, other] = configFiles.filter((name) => existsSync(name));
  const values = new Map<string, unknown>();
  if (file === undefined) return { values, file: "" };
  if (other !== undefined) throw new Error(`There are ${file} and ${other}. Delete one of them.`);
  const flags = new Map([
    ...known.flatMap((option) =>
      [option.attributeName(), nameOf(option)].map((name) => [name, nameOf(option)] as const),
    ),
    ...flaggedOptions.map(({ name, flag }) => [name, flag.replace(/^--| .*/g, "")] as const),
  ]);
  const names = new Map<string, string>();
  for (const [key, value] of flatten(await readObject(file))) {
    const flag = flags.get(key);
    if (flag === undefined)
      throw new Error(`${file} has no option ${key}. ${remedyFor(key, [...flags.keys()])}.`);
    if (names.has(flag))
      throw new Error(`${file} sets --${flag} as ${names.get(flag)} and as ${key}. Leave out one of them.`);
    names.set(flag, key);
    values.set(flag, value);
  }
  return { values, file };
}

/** Says which name is nearest: the one that shares the most pairs of letters. */
function remedyFor(name: string, known: readonly string[]): string {
  const pairsOf = (text: string) => {
    const letters = text.toLowerCase().replaceAll(/[^a-z]/g, "");
    return new Set(Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2)));
  };
  const pairs = pairsOf(name);
  const likeness = (other: string) => {
    const others = pairsOf(other);
    return [...others].filter((pair) => pairs.has(pair)).length / (others.size + pairs.size);
  };
  const [nearest] = known.toSorted((one, other) => likeness(other) - likeness(one));
  return `Use ${nearest}, or another name of docs/cli.md`;
}

/** The name of an option, such as `api-port`. */
function nameOf({ long }: Option): string {
  return (long ?? "").slice(2);
}

async function readObject(file: string): Promise<object> {
  const bytes = await readInput(file, mostOfConfig).catch((cause: unknown) => {
    throw new Error(`${file} cannot be read: ${describeFileError(cause)}. Correct it, or delete it.`, {
      cause,
    });
  });
  let content: unknown;
  try {
    const { parse } = await import("yaml");
    const text = bytes.toString();
    if (file.endsWith(".json")) JSON.parse(text);
    // JSON too, of which JSON.parse takes a key twice.
    content = parse(text, { maxAliasCount: 100 });
  } catch (cause) {
    const [reason = ""] = messageOf(cause).split(/:?\n/);
    throw new Error(`${file} cannot be read: ${reason}. Correct it, or delete it.`, {
      cause,
    });
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw new Error(`${file} is not an object of options. Write one such as { "seed": "checkout" }.`);
  return content;
}

/** Returns the values of an object by their paths, such as `ports.api`. */
function flatten(content: object, path = ""): [string, unknown][] {
  return Object.entries(content).flatMap(([key, value]): [string, unknown][] =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? flatten(value, `${path}${key}.`)
      : [[path + key, value]],
  );
}
