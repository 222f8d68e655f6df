import { types } from "node:util";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";

/** The kinds of arguments of methods, and the fields that identify them. */
const kinds = {
  purchase: {
    what: "a purchase",
    fields: ["commitment", "figures", "deadlines"],
    as: "a purchase as the API returns it",
  },
  /** The fields of a purchase that a decision needs. */
  decided: {
    what: "a purchase",
    fields: ["id", "program", "commitment"],
    as: "a purchase as the API returns it",
  },
  merchant: { what: "a merchant", fields: ["enrollment", "funding"], as: "a merchant as the API returns it" },
  /** The fields of a purchase that a request under it needs. */
  addressedPurchase: {
    what: "a purchase",
    fields: ["program", "id"],
    as: "a purchase as the API returns it",
  },
  /** The fields of a merchant that a request under it needs. */
  addressedMerchant: {
    what: "a merchant",
    fields: ["program", "id"],
    as: "a merchant as the API returns it",
  },
  decision: { what: "a decision", fields: ["id"], as: "a decision as the API returns it" },
  call: {
    what: "a call",
    fields: ["to", "data", "function", "args"],
    as: "one such as payCall(registrar, id, 5n)",
  },
  claim: { what: "a claim", fields: ["id", "claim_hash"], as: "a claim as the API returns it" },
  transaction: {
    what: "a transaction",
    fields: ["to"],
    as: "the transaction of an action, or { to, data, value }",
  },
  event: { what: "an event", fields: ["id"], as: "an event of the outbox, or { id }" },
  body: { what: "a request body", fields: [], as: "an object of its fields" },
  typedData: {
    what: "typed data",
    fields: ["domain", "types", "primaryType", "message"],
    as: "the typed_data of an action or a commitment",
  },
  delivery: {
    what: "a notification, the id of an event, or a delivery of deliveries()",
    fields: ["headers", "body"],
    as: "one, as in receiver.resend(notification)",
  },
} as const;

/**
 * Refuses a value that a method does not accept: in JavaScript often the whole answer, or a promise.
 *
 * @throws SandboxError argument_invalid, with the fields that the value does not have.
 */
export function requireArgument(method: string, kind: keyof typeof kinds, value: unknown): void {
  const { what, fields, as } = kinds[kind];
  const missing = missingFields(fields, value);
  if (missing.length === 0 && isObject(value) && !types.isPromise(value)) return;
  const passed = isObject(value) ? `an object without ${listAnd(missing)}` : String(value);
  throw wrongArgument(`${method} takes ${what}`, value, passed, `Pass ${as}.`);
}

/**
 * Refuses options of a method that lack one that it needs.
 *
 * @param needed - each option, with its article.
 * @throws SandboxError argument_invalid
 */
export function requireOptions(
  method: string,
  needed: { readonly [name: string]: string },
  value: unknown,
  remedy: string,
): void {
  const missing = missingFields(Object.keys(needed), value);
  if (missing.length === 0) return;
  const names = listAnd(missing.map((name) => needed[name] ?? name));
  const passed = isObject(value) || value === undefined ? "" : showValue(value);
  if (passed === "" && !types.isPromise(value))
    throw new SandboxError("argument_invalid", `${method} needs ${names}. ${remedy}`);
  throw wrongArgument(`${method} takes ${names}`, value, passed, remedy);
}

/**
 * Refuses a time in milliseconds that is no number from 0.
 *
 * @throws SandboxError argument_invalid
 */
export function requireMilliseconds(method: string, time: unknown): void {
  if (typeof time === "number" && time >= 0 && time !== Number.POSITIVE_INFINITY) return;
  throw wrongArgument(
    `${method} takes a time in milliseconds`,
    time,
    showValue(time),
    "Pass a number from 0, such as 1_000.",
  );
}

/** The largest amount that a call of a contract has room for; viem has the constant too, and the exported client does without it. */
const maxUint256 = 2n ** 256n - 1n;

/**
 * Refuses an amount that is not a bigint from 0 to the largest of a contract.
 *
 * @throws SandboxError argument_invalid
 */
export function requireAmount(method: string, amount: unknown): void {
  const isAbove = typeof amount === "bigint" && amount > maxUint256;
  if (typeof amount === "bigint" && amount >= 0n && !isAbove) return;
  throw wrongArgument(
    `${method} takes an amount in base units`,
    amount,
    showValue(amount),
    `Pass a bigint from 0${isAbove ? " to 2n ** 256n - 1n" : ""}, such as 10_000_000n for 10 USDC.`,
  );
}

/**
 * Refuses a value that is not the id of a program.
 *
 * @throws SandboxError argument_invalid
 */
export function requireProgram(method: string, program: unknown): void {
  if (typeof program === "string") return;
  throw wrongArgument(
    `${method} takes a program's id`,
    program,
    showValue(program),
    'Pass one such as "prg_demo".',
  );
}

/** Returns the error of a wrong argument: what the method takes, what was passed, and what to do. A promise is to be awaited. */
export function wrongArgument(takes: string, value: unknown, passed: string, remedy: string): SandboxError {
  const isPromise = types.isPromise(value);
  return new SandboxError(
    "argument_invalid",
    `${takes}, not ${isPromise ? "a promise" : passed}. ${isPromise ? "Await it first." : remedy}`,
  );
}

function missingFields(fields: readonly string[], value: unknown): readonly string[] {
  return isObject(value) ? fields.filter((field) => Reflect.get(value, field) === undefined) : fields;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Names values, as in "a, b and c". */
function listAnd(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `${values.slice(0, -1).join(", ")} and ${values.at(-1)}`;
}
