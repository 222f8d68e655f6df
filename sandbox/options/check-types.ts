import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { SandboxOptions } from "./options.ts";

/** What an option must be. */
interface OptionType {
  isValid(value: unknown): boolean;
  /** Completes "must be …". */
  name: string;
  /** The only fields of an object. */
  fields?: readonly string[];
}

const text = typed("string", "a string");
const number = typed("number", "a number");
const flag = typed("boolean", "true or false");
const callback = typed("function", "a function");
const list: OptionType = { isValid: Array.isArray, name: "an array" };

/** The type of every option, in the order in which a message lists them. */
const types: { readonly [Name in keyof Required<SandboxOptions>]: OptionType } = {
  seed: text,
  mode: text,
  ports: objectOf("such as { api: 4020 }", ["api", "docs", "control", "rpc"]),
  confirmations: number,
  programs: list,
  gasBudgetWei: typed("bigint", "a bigint of wei, such as 10n ** 18n"),
  receiverUrl: text,
  autoDeliver: flag,
  resolveHost: callback,
  deliveryTimeoutMs: number,
  dataDirectory: text,
  store: text,
  fresh: flag,
  from: text,
  receiptTimeoutMs: number,
  snapshotTimeoutMs: number,
  startTimeoutMs: number,
  onReplay: callback,
  rateLimit: objectOf("such as { requests: 100, seconds: 60 }", ["requests", "seconds"]),
  connectionLimits: objectOf("such as { connections: 100 }", ["connections", "headersMs", "requestMs"]),
  parts: list,
  log: objectOf("with the functions info and error"),
  adaptChain: callback,
};

/**
 * Refuses an option that does not exist or is of another type: JavaScript, and values of a type that was cast, are not checked by a compiler.
 *
 * @throws SandboxError option_invalid
 * @example checkTypes({ fresh: true })
 */
export function checkTypes(options: SandboxOptions): void {
  if (!isObject(options)) throw invalid(`createSandbox takes an object of options, not ${show(options)}.`);
  requireFields(options, Object.keys(types), "createSandbox has no option");
  for (const [name, { isValid, name: wanted, fields }] of Object.entries(types)) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) continue;
    if (!isValid(value)) throw invalid(`${name} must be ${wanted}, not ${show(value)}.`);
    if (fields !== undefined && isObject(value)) requireFields(value, fields, `${name} has no`);
  }
}

function requireFields(value: object, fields: readonly string[], has: string): void {
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw invalid(`${has} ${unknown}. Use ${fields.join(", ")}.`);
}

function typed(type: string, name: string): OptionType {
  return { isValid: (value) => typeof value === type, name };
}

function objectOf(form: string, fields?: readonly string[]): OptionType {
  return { isValid: isObject, name: `an object ${form}`, ...(fields === undefined ? {} : { fields }) };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  return isObject(value) ? "an object" : String(value);
}

function invalid(message: string): SandboxError {
  return new SandboxError("option_invalid", message);
}
