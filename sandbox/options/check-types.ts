import { isIP } from "node:net";
import { z } from "zod";
import { proxyKinds } from "../chain/registrar/registrar.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { isHostName } from "../lib/http/host-and-origin.ts";
import { longestSeed, mostConfirmations } from "./defaults.ts";
import type { SandboxOptions } from "./options.ts";
import { mostStartTimeoutMs } from "./start-timeout.ts";

/** The type of an option. */
export interface OptionType {
  isValid(value: unknown): boolean;
  /** Completes "must be …", with the unit and the range. */
  name: string;
  /** The fields of an object: its only ones, unless it is open. */
  fields?: { readonly [field: string]: OptionType };
  /** Whether the object may have other fields, too. */
  isOpen?: boolean;
  /** The fields without which the object has no meaning. */
  needed?: readonly string[];
  /** The type of each entry of a list. */
  entries?: OptionType;
}

const text = typed("string", "a string");
const anyValue: OptionType = { isValid: () => true, name: "any value" };
const flag = typed("boolean", "true or false");
const callback = typed("function", "a function");
const count = whole(1);
const port = whole(0, 65_535);

/** The type of every option, in the order in which a message lists them. */
export const optionTypes: { readonly [Name in keyof Required<SandboxOptions>]: OptionType } = {
  seed: {
    name: `a string of 1 to ${longestSeed} characters`,
    isValid: (value) => typeof value === "string" && value.length >= 1 && value.length <= longestSeed,
  },
  mode: {
    name: '"deterministic" or "live"',
    isValid: (value) => value === "deterministic" || value === "live",
  },
  ports: objectOf("such as { api: 4020 }", { api: port, docs: port, control: port, rpc: port }),
  listen: {
    name: 'an IP address, such as "0.0.0.0"',
    isValid: (value) => typeof value === "string" && isIP(value) !== 0,
  },
  allowHosts: listOf({
    name: 'a host name without a scheme, such as "sandbox" or "sandbox:9000"',
    isValid: (value) => typeof value === "string" && isHostName(value),
  }),
  confirmations: whole(1, mostConfirmations),
  programs: listOf({
    name: 'a program\'s id such as "prg_demo", or { id, name, account }',
    isValid: (value) => typeof value === "string" || isObject(value),
  }),
  accounts: listOf({
    name: 'an account\'s id such as "acct_worker", or { id, program }',
    isValid: (value) => typeof value === "string" || isObject(value),
  }),
  contracts: objectOf('such as { registrar: { artifact: "out/MyRegistrar.sol/MyRegistrar.json" } }', {
    registrar: {
      ...objectOf('such as { artifact: "out/MyRegistrar.sol/MyRegistrar.json" }', {
        artifact: text,
        constructorArguments: listOf(anyValue),
        proxy: {
          name: `one of ${proxyKinds.join(", ")}`,
          isValid: (value) => proxyKinds.some((kind) => kind === value),
        },
        initializeArguments: listOf(anyValue),
      }),
      needed: ["artifact"],
    },
  }),
  gasBudgetWei: {
    name: "a bigint of wei from 0, such as 10n ** 18n",
    isValid: (value) => typeof value === "bigint" && value >= 0n,
  },
  receiverUrl: text,
  autoDeliver: flag,
  resolveHost: callback,
  deliveryTimeoutMs: milliseconds(60_000),
  dataDirectory: text,
  store: text,
  fresh: flag,
  from: text,
  receiptTimeoutMs: whole(0, undefined, " of milliseconds"),
  snapshotTimeoutMs: milliseconds(600_000),
  startTimeoutMs: milliseconds(mostStartTimeoutMs),
  onReplay: callback,
  rateLimit: {
    ...objectOf("such as { requests: 100, seconds: 60 }", { requests: count, seconds: count }),
    needed: ["requests", "seconds"],
  },
  connectionLimits: objectOf("such as { connections: 100 }", {
    connections: count,
    headersMs: count,
    requestMs: count,
  }),
  parts: listOf({
    name: "an object with name, schema, capture and restore",
    isValid: isObject,
    fields: {
      name: {
        name: "a string of at least one character",
        isValid: (value) => typeof value === "string" && value !== "",
      },
      // The check also accepts schemas of another copy of zod, such as a project that uses this package may have.
      schema: {
        name: "a schema of zod 4, or null",
        isValid: (value) => value === null || value instanceof z.core.$ZodType,
      },
      capture: callback,
      restore: callback,
      digest: callback,
    },
    needed: ["name", "schema", "capture", "restore"],
    isOpen: true,
  }),
  log: {
    name: "an object with the functions info and error",
    isValid: (value) => hasFunctions(value, "info", "error"),
  },
  adaptChain: callback,
  network: {
    ...objectOf("such as { rpcUrls: [url], keys: file, deployment: file }", {
      rpcUrls: listOf(text),
      keys: text,
      deployment: text,
      publicRpcUrl: text,
      allowChainId: count,
    }),
    needed: ["rpcUrls", "keys", "deployment"],
  },
};

/**
 * Refuses an option that does not exist or is of another type: JavaScript, and values of a type that was cast, are not checked by a compiler.
 *
 * @throws SandboxError option_invalid
 * @example checkTypes({ fresh: true })
 */
export function checkTypes(options: SandboxOptions): void {
  if (!isObject(options)) throw invalid(`createSandbox takes an object of options, not ${show(options)}.`);
  requireFields(options, Object.keys(optionTypes), "createSandbox has no option");
  for (const [name, type] of Object.entries(optionTypes)) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) requireType(name, type, value);
  }
}

/**
 * Refuses a value that does not have the type of an option.
 *
 * @throws SandboxError option_invalid
 * @example requireType("startTimeoutMs", optionTypes.startTimeoutMs, 30_000)
 */
export function requireType(
  name: string,
  { isValid, name: wanted, ...of }: OptionType,
  value: unknown,
): void {
  if (!isValid(value)) throw invalid(`The option ${name} must be ${wanted}, not ${show(value)}.`);
  if (of.entries !== undefined && Array.isArray(value))
    for (const [index, entry] of value.entries())
      if (of.entries.isValid(entry)) requireType(`${name}[${index}]`, of.entries, entry);
      else throw invalid(`The option ${name}[${index}] is ${show(entry)}. Pass ${of.entries.name}.`);
  if (of.fields === undefined || !isObject(value)) return;
  if (!of.isOpen) requireFields(value, Object.keys(of.fields), `The option ${name} has no`);
  for (const [field, type] of Object.entries(of.fields)) {
    const entry: unknown = Reflect.get(value, field);
    if (entry !== undefined || of.needed?.includes(field)) requireType(`${name}.${field}`, type, entry);
  }
}

function requireFields(value: object, fields: readonly string[], has: string): void {
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw invalid(`${has} ${unknown}. Use ${fields.join(", ")}.`);
}

function typed(type: string, name: string): OptionType {
  return { isValid: (value) => typeof value === type, name };
}

function whole(least: number, most?: number, unit = ""): OptionType {
  return {
    name: `a whole number${unit} from ${least}${most === undefined ? "" : ` to ${most}`}`,
    isValid: (value) =>
      typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= (most ?? value),
  };
}

function milliseconds(most: number): OptionType {
  return whole(1, most, " of milliseconds");
}

function objectOf(form: string, fields: { readonly [field: string]: OptionType }): OptionType {
  return { isValid: isObject, name: `an object ${form}`, fields };
}

function listOf(entries: OptionType): OptionType {
  return { isValid: Array.isArray, name: "an array", entries };
}

function hasFunctions(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof Reflect.get(value, name) === "function");
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
