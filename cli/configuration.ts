import { lstatSync } from "node:fs";
import { type Command, InvalidArgumentError, type Option } from "commander";
import { describeYamlError } from "../sandbox/lib/errors/describe-yaml-error.ts";
import { isObject } from "../sandbox/lib/option-schemas.ts";
import { flaggedOptions, sandboxOptions } from "../sandbox/options/options.ts";
import { describeFileError } from "../server/lib/describe-file-error.ts";
import { readInput } from "../server/lib/file-kind.ts";
import { orList } from "../server/lib/wording.ts";
import { flagOf, noteSources } from "./describe-failure.ts";

/** The commands whose options the environment and the config file can set; of the others, only those that are {@link configurableEverywhere}. */
export const configurable = new Set(["start", "exec", "pool", "join", "check-client", "doctor"]);
/** The data directory, and the node of `deploy`: its URL may have a key, which other users of the machine can read on a command line. */
const configurableEverywhere = ["--data-dir", "--rpc-url", "--keys", "--deployment", "--allow-chain-id"];
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
    (option) =>
      !ofOneCall.has(option.attributeName()) &&
      (isConfigurable || configurableEverywhere.includes(option.long ?? "")),
  );
  const places = new Map<string, string>();
  const texts = new Map<string, string[]>();
  const configured = options.flatMap((option): ConfiguredValue[] => {
    const name = option.attributeName();
    const flag = option.long ?? "";
    if (command.getOptionValueSource(name) === "cli")
      return [{ flag, value: command.getOptionValue(name), source: flag }];
    const variable = variableOf(option);
    const text = process.env[variable];
    const written = values.get(nameOf(option));
    if (text === undefined && written === undefined) return [];
    const [source, place] =
      text === undefined ? [file, `${nameOf(option)} in ${file}`] : [variable, variable];
    const value = text === undefined ? readValue(option, written, place) : readText(option, text, place);
    places.set(flag, place);
    const parts = [value].flat().flatMap((one) => (isObject(one) ? Object.values(one) : one));
    texts.set(
      place,
      parts.filter((part) => typeof part === "string"),
    );
    command.setOptionValueWithSource(name, value, text === undefined ? "config" : "env");
    return [{ flag, value, source }];
  });
  noteSources(places, texts);
  return configured;
}

/** The environment variable of an option, such as `ROUTING_SANDBOX_API_PORT`. */
function variableOf(option: Option): string {
  return prefix + nameOf(option).replaceAll("-", "_").toUpperCase();
}

/** Reads the text of a variable as its flag reads it. */
function readText(option: Option, text: string, place: string): unknown {
  if (!takesValue(option)) {
    const asked = text.toLowerCase();
    if (!["true", "false", "1", "0"].includes(asked)) throw refused(text, place, "Use true or false.");
    return asked === "true" || asked === "1";
  }
  if (option.variadic) return readWords(text);
  return isRepeatable(option)
    ? readEntries(option, text.split(","), place)
    : readEntry(option, text, undefined, place);
}

/** Reads a value of the config file, which has the type of its option. */
function readValue(option: Option, value: unknown, place: string): unknown {
  if (!takesValue(option)) {
    if (typeof value !== "boolean") throw refused(value, place, "Use true or false.");
    return value;
  }
  if (option.variadic) return Array.isArray(value) ? value : [value];
  const isList = isRepeatable(option);
  if (isList && Array.isArray(value)) return readEntries(option, value, place);
  return isList ? readEntries(option, [value], place) : readTyped(option, value, undefined, place);
}

function readEntries(option: Option, entries: readonly unknown[], place: string): unknown {
  let list: unknown = entries.length === 0 ? [] : undefined;
  // An entry such as { id, name }, which a flag writes as "id=name".
  for (const entry of entries)
    if (isObject(entry)) list = [...(Array.isArray(list) ? list : []), entry];
    else list = readTyped(option, entry, list, place);
  return list;
}

/** @throws Error for a value that would be read as one of another type, such as `[1]` as 1. */
function readTyped(option: Option, value: unknown, before: unknown, place: string): unknown {
  const read = readEntry(option, value, before, place);
  const isDuration = typeof value === "string" && /\D/.test(value);
  if (typeof read === "number" && typeof value !== "number" && !isDuration)
    throw refused(value, place, `Use the number ${read}.`);
  if (typeof read !== "number" && typeof read !== "bigint" && typeof value !== "string")
    throw refused(value, place, "Use a string, in quotes.");
  return read;
}

function readEntry({ parseArg }: Option, value: unknown, before: unknown, place: string): unknown {
  const text = String(value).trim();
  try {
    return parseArg === undefined ? text : parseArg(text, before);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw refused(value, place, error.message);
  }
}

function refused(value: unknown, place: string, why: string): Error {
  return new Error(`${place} is ${JSON.stringify(value)}. ${why}`);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** Returns whether an option can be given several times. */
function isRepeatable(option: Option): boolean {
  return option.description.includes("repeatable");
}

/** Reads the words of one flag: a JSON array, because a word may have commas, or one word. */
function readWords(text: string): unknown[] {
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) ? words : [text];
  } catch {
    return [text];
  }
}

function refuseUnknownVariables(known: readonly Option[]): void {
  const names = [...known.map(variableOf), fileVariable];
  for (const name of Object.keys(process.env))
    if (name.startsWith(prefix) && !names.includes(name))
      throw new Error(`There is no option ${name}. Unset it${orUse(nearestOf(name, names, prefix.length))}.`);
}

/** Returns the values of the config file by flag. */
async function readConfig(known: readonly Option[]): Promise<{ values: Map<string, unknown>; file: string }> {
  const [file, other] = configFiles.filter(isThere);
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
    if (flag === undefined) throw unknownKey(file, key, value, [...flags.keys()]);
    if (names.has(flag))
      throw new Error(`${file} sets --${flag} as ${names.get(flag)} and as ${key}. Leave out one of them.`);
    names.set(flag, key);
    values.set(flag, value);
  }
  return { values, file };
}

/** Returns whether a file or a link has a name. Where a link leads to none, the file that was meant is missing. */
function isThere(name: string): boolean {
  return lstatSync(name, { throwIfNoEntry: false }) !== undefined;
}

function unknownKey(file: string, key: string, value: unknown, known: readonly string[]): Error {
  const inner = known.filter((name) => name.startsWith(`${key}.`)).map((name) => name.slice(key.length + 1));
  if (inner.length > 0)
    return refused(
      value,
      `${key} in ${file}`,
      `Use an object with ${orList([...new Set(inner.map((name) => name.replace(/\..*/, "")))])}.`,
    );
  const [option = ""] = key.split(".");
  if (Object.hasOwn(sandboxOptions.shape, option) && !known.some((name) => name.startsWith(`${option}.`)))
    return new Error(
      `${file} has ${option}, which only createSandbox() takes. Leave it out${orUse(flagOf(key)?.slice(2))}.`,
    );
  const group = key.slice(0, key.lastIndexOf(".") + 1);
  const others = group === "" ? [] : known.filter((name) => name.startsWith(group));
  const meant = others.length > 0 ? (nearestOf(key, others) ?? orList(others)) : nearestOf(key, known);
  return new Error(`${file} has no option ${key}. Leave it out${orUse(meant)}.`);
}

function orUse(name: string | undefined): string {
  return name === undefined ? ", or see the names in docs/cli.md" : `, or use ${name}`;
}

/** Returns the one name that a mistaken one is near to; undefined if there is none, or more than one. @param start - where the names differ first. */
function nearestOf(mistaken: string, known: readonly string[], start = 0): string | undefined {
  const spelled = (name: string) =>
    name
      .slice(start)
      .toLowerCase()
      .replaceAll(/[^a-z]/g, "");
  const spellings = Map.groupBy(known, spelled);
  const own = spelled(mistaken);
  const near = [...spellings.keys()].filter((other) => own === other || isNear(own, other));
  const begun = [...spellings.keys()].filter((other) => other.startsWith(own) || own.startsWith(other));
  const [spelling, ...others] = near.length > 0 ? near : begun;
  return others.length > 0 ? undefined : spellings.get(spelling ?? "")?.[0];
}

/** Returns whether two words differ in one place: by two letters at most, or by the order of letters. */
function isNear(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let begin = 0;
  while (begin < shorter && one[begin] === other[begin]) begin += 1;
  let end = 0;
  while (end < shorter - begin && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [left, right] = [one, other].map((word) => [...word.slice(begin, word.length - end)]);
  if (left === undefined || right === undefined) return false;
  return left.length + right.length <= 2 || left.toSorted().join("") === right.toSorted().join("");
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
  const { LineCounter, parse } = await import("yaml");
  const lineCounter = new LineCounter();
  let content: unknown;
  try {
    const text = bytes.toString();
    if (file.endsWith(".json")) JSON.parse(text);
    // JSON too, of which JSON.parse takes a key twice.
    content = parse(text, reviveInteger, {
      maxAliasCount: 100,
      intAsBigInt: true,
      prettyErrors: false,
      lineCounter,
    });
  } catch (cause) {
    throw new Error(
      `${file} cannot be read: ${describeYamlError(cause, lineCounter)}. Correct it, or delete it.`,
      {
        cause,
      },
    );
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw new Error(`${file} is not an object of options. Write one such as { "seed": "checkout" }.`);
  return content;
}

/** Keeps an integer that a number would round as the string of its digits. */
function reviveInteger(_key: unknown, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
}

/** Returns the values of an object by their paths, such as `ports.api`. */
function flatten(content: object, path = ""): [string, unknown][] {
  return Object.entries(content).flatMap(([key, value]): [string, unknown][] =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? flatten(value, `${path}${key}.`)
      : [[path + key, value]],
  );
}
