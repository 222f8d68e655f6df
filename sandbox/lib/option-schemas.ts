import { types } from "node:util";
import { z } from "zod";

/** The flag of an option on the command line. */
export interface OptionFlag {
  /** As in `--seed <text>`. */
  readonly flag: string;
  readonly description: string;
  /** The default in words. */
  readonly byDefault?: string;
  /** The second field of an entry `id=value`. */
  readonly pairedWith?: "name" | "program";
}

/** The flags of options that have one. */
export const flags = z.registry<OptionFlag>();

/** Returns the schema of an option that may be left out, and that has a flag. */
export function flagged<S extends z.ZodType>(
  schema: S,
  flag: string,
  description: string,
  others: Omit<OptionFlag, "flag" | "description"> = {},
): z.ZodOptional<S> {
  const option = schema.optional();
  flags.add(option, { flag, description, ...others });
  return option;
}

/** An option with a flag, by its path, as in `ports.api`. */
export interface FlaggedOption extends OptionFlag {
  readonly name: string;
  readonly schema: z.core.$ZodType;
}

/** Returns the options of an object that have a flag. */
export function flaggedIn(shape: z.core.$ZodShape, path = ""): FlaggedOption[] {
  return Object.entries(shape).flatMap(([key, option]) => {
    const schema = withoutWrappers(option);
    const name = path + key;
    const own = flags.get(option);
    const inner = schema instanceof z.ZodObject ? flaggedIn(schema.shape, `${name}.`) : [];
    return own === undefined ? inner : [{ name, schema, ...own }, ...inner];
  });
}

/** Returns the schema of an option that may be left out. */
export function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly;
  return isWrapper ? withoutWrappers(schema.unwrap()) : schema;
}

/** Returns the messages of a schema for `name`, which completes "must be …" with the unit and the range. */
export function must(name: string) {
  return {
    error: ({ input, path = [] }: { input?: unknown; path?: PropertyKey[] | undefined }) =>
      typeof path.at(-1) === "number"
        ? `The option ${placeOf(path)} is ${show(input)}. Pass ${name}.`
        : `The option ${placeOf(path)} must be ${name}, not ${show(input)}.`,
  };
}

/** Returns the place of a value as code has it, as in `parts[0].name`. */
function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .slice(1);
}

/** Returns a schema of the values that a function accepts. */
export function typed<T>(name: string, isValid: (value: unknown) => boolean) {
  return z.custom<T>(isValid, must(name)).meta({ title: name });
}

/** Returns a schema of strings that are not empty. */
export function text(name = "a string", most?: number) {
  const schema = z.string(must(name)).min(1, {
    error: ({ path }) => `The option ${placeOf(path ?? [])} is empty. Pass a value.`,
  });
  return (most === undefined ? schema : schema.max(most, must(name))).meta({ title: name });
}

/** Returns a schema of whole numbers. */
export function whole(least: number, most?: number, unit = "") {
  const name = `a whole number${unit} from ${least}${most === undefined ? "" : ` to ${most}`}`;
  const schema = z.int(must(name)).min(least, must(name));
  return (most === undefined ? schema : schema.max(most, must(name))).meta({ title: name });
}

/** Returns a schema of functions. */
export function callback<T>() {
  return typed<T>("a function", (value) => typeof value === "function");
}

/** Returns a schema of one of these values. */
export function oneOf<const V extends readonly string[]>(values: V, name: string) {
  return z.enum(values, must(name)).meta({ title: name });
}

/** Returns a schema of arrays. */
export function listOf<S extends z.ZodType>(entry: S) {
  return z.array(entry, must("an array")).readonly();
}

/** An object whose fields are its only ones. */
export function objectOf<const S extends z.ZodRawShape>(form: string, shape: S) {
  const has = (path: readonly PropertyKey[]) =>
    path.length === 0 ? "createSandbox has no option" : `The option ${placeOf(path)} has no`;
  return z
    .strictObject(shape, {
      error: ({ code, keys, input, path = [] }) => {
        if (code === "unrecognized_keys" && Array.isArray(keys))
          return `${has(path)} ${keys[0]}. Use ${Object.keys(shape).join(", ")}.`;
        return path.length === 0
          ? `createSandbox takes an object of options, not ${show(input)}.`
          : must(`an object ${form}`).error({ input, path });
      },
    })
    .meta({ title: `an object ${form}` });
}

/**
 * Returns the option whose value, or an entry of it, only looks like an object of fields, or `options` for all of them: a promise that was not awaited, a Map or a Set. A
 * strict object of zod would take it for one without fields.
 *
 * @example findFieldless({ ports: Promise.resolve({ api: 3000 }) })?.option // ports
 */
export function findFieldless(options: unknown): { option: string; value: object } | undefined {
  for (const [option, value] of [["options", options] as const, ...Object.entries(Object(options))])
    for (const one of Array.isArray(value) ? value : [value])
      if (types.isPromise(one) || types.isMap(one) || types.isSet(one)) return { option, value: one };
  return undefined;
}

/** Returns whether a value is an object, and no array. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  return isObject(value) ? "an object" : String(value);
}
