import { SandboxError } from "./sandbox-error.ts";

/** The kinds of arguments of methods, and the fields that identify them. */
const kinds = {
  purchase: { fields: ["commitment", "figures", "deadlines"], as: "a purchase as the API answers it" },
  merchant: { fields: ["enrollment", "funding"], as: "a merchant as the API answers it" },
  claim: { fields: ["claim_hash"], as: "a claim as the API answers it" },
  transaction: { fields: ["to", "data"], as: "the transaction of an action, or { to, data }" },
  verdict: { fields: ["award"], as: 'what is decided, as in { award: "10000000" }' },
  terms: {
    fields: ["amount", "reason"],
    as: 'what is claimed, as in { amount: 10_000_000n, reason: "late" }',
  },
} as const;

/**
 * Names what was passed to a method instead of what it takes: in JavaScript often the answer around it, or a promise.
 *
 * @throws SandboxError argument_invalid
 * @example requireArgument("pay", "purchase", purchase)
 */
export function requireArgument(method: string, kind: keyof typeof kinds, value: unknown): void {
  const { fields, as } = kinds[kind];
  const isGiven = typeof value === "object" && value !== null;
  if (isGiven && fields.every((field) => Reflect.get(value, field) !== undefined)) return;
  const isPromise = value instanceof Promise;
  const passed = isPromise ? "a promise" : isGiven ? "another object" : String(value);
  const what = kind === "terms" ? kind : `a ${kind}`;
  const remedy = isPromise ? "Await it first." : `Pass ${as}.`;
  throw new SandboxError("argument_invalid", `${method} takes ${what}, not ${passed}. ${remedy}`);
}

/**
 * Names what was passed to a method instead of an amount.
 *
 * @throws SandboxError argument_invalid
 * @example requireAmount("approve", amount)
 */
export function requireAmount(method: string, amount: unknown): void {
  if (typeof amount === "bigint" && amount >= 0n) return;
  const passed = typeof amount === "bigint" ? `${amount}` : JSON.stringify(amount);
  throw new SandboxError(
    "argument_invalid",
    `${method} takes an amount in base units, not ${passed}. Pass a bigint from 0, such as 10_000_000n for 10 USDC.`,
  );
}
