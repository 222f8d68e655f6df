import type { BindingCheck, CheckName } from "../../../protocol/binding/check-binding.ts";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { sameAddress } from "../../../protocol/values/same-address.ts";
import { unknownAddress } from "../address-book.ts";
import type { Explanation } from "../explanation.ts";
import { member } from "./compare-calls.ts";

/** The facts that a sentence about a refusal is made of. */
export interface Facts {
  checks: readonly BindingCheck[];
  call: Explanation["call"];
  /** The custom error that it reverted with, in words. */
  failure: string | null;
  /** Whether it was only simulated. */
  isSimulated?: boolean;
}

/** The explanation of a hash that the chain does not know. */
export const unknownTransaction =
  "The chain has no transaction with this hash: it was never sent to this chain, was replaced, or was removed by a reorg.";

/** Returns the sentences of the failed checks, the cause first; none when no check failed. */
export function nameCauses(facts: Facts): string[] {
  const hasReverted = facts.checks.some(({ name, ok }) => name === "status" && !ok);
  const causes = Object.entries(sentences).flatMap(([name, sentence]) => {
    const check = facts.checks.find((one) => one.name === name);
    if (check === undefined || check.ok) return [];
    // A transaction that reverted has no logs.
    return name === "log" && hasReverted ? [] : [sentence(check, facts)];
  });
  // Another contract and another function have one sentence.
  return [...new Set(causes)];
}

/** The sentence for each check. Of several failed checks the topmost one is named: it explains those below it best. */
const sentences: { readonly [C in CheckName]: (check: BindingCheck, facts: Facts) => string } = {
  chain: () => "The node serves a different chain from the one that the service was started with.",
  mined: ({ actual }) =>
    actual === "unknown"
      ? unknownTransaction
      : "It is still pending: nothing is accepted before it is mined.",
  canonical: ({ actual }) => {
    const reason = member(actual, "reason");
    if (typeof reason === "string") return reason;
    const contradictions = member(actual, "contradictions");
    return Array.isArray(contradictions)
      ? `The responses of the node contradict each other: ${contradictions.join("; ")}.`
      : "Its block is not on the chain.";
  },
  contract: ({ expected, actual }, { call }) => {
    const to = member(actual, "address");
    if (sameAddress(String(to), String(member(expected, "address"))))
      return `The code at ${String(to)} is no longer the one that was pinned.`;
    if (to === null) return "It creates a contract; the bound contract must be called by the wallet itself.";
    const named = call === null ? null : nameCalls(call);
    if (named !== null) return named;
    const called = call === null || call.function === null ? "" : `${call.function} on `;
    return `It calls ${called}${String(to)} (${call?.contract ?? "unknown"}); the bound contract is ${String(member(expected, "address"))}, and only a direct call by the wallet counts.`;
  },
  wallet: ({ expected, actual }, { isSimulated }) => {
    const reason = member(actual, "reason");
    return typeof reason === "string"
      ? reason
      : `It ${isSimulated ? "would be" : "was"} sent by ${String(actual)}; the bound wallet is ${String(expected)}.`;
  },
  value: ({ actual }) => `It carries ${String(actual)} wei; none is expected.`,
  calldata: (_check, { call }) => {
    if (call === null) return "Its calldata is not that of the expected call.";
    const expected = `${call.expected_function} on ${call.expected_contract}`;
    if (call.function === null) return `It calls no known function; ${expected} was expected.`;
    if (call.fields.length === 0 && !call.canonical) return nameUnreadable(call);
    if (call.function !== call.expected_function)
      return `It calls ${call.function} on ${call.contract}; ${expected} was expected.`;
    const field = call.fields.find(({ equal }) => !equal);
    return field === undefined
      ? (nameLength(call) ??
          `It calls ${call.function} with the right arguments, but their encoding is not the canonical one.`)
      : `In ${call.function}, ${field.name} is ${orElse(field.actual, "missing")}; ${orElse(field.expected, "none")} was expected.`;
  },
  status: (_check, { failure, isSimulated }) => {
    const reverted = isSimulated ? "It would revert" : "It reverted";
    return failure === null
      ? `${reverted}, without a reason (out of gas, perhaps).`
      : `${reverted}: ${failure}.`;
  },
  purchase: () =>
    "The purchase or claim of this transaction is not on the chain as the service expects it, or belongs to another buyer or program.",
  log: ({ expected, actual }) =>
    nameLogField(expected, actual) ?? "The bound contracts did not emit exactly the expected logs.",
  unused: ({ actual }) => `Its hash is used already: ${String(actual)}.`,
  timely: ({ expected, actual }, { isSimulated }) => {
    const mined = `It ${isSimulated ? "would be" : "was"} mined`;
    const from = member(expected, "from");
    return typeof from === "number" && Number(actual) < from
      ? `${mined} at ${String(actual)}, before the purchase, merchant or decision of this step was created (${from}).`
      : `${mined} at ${String(actual)}, after the deadline (${String(member(expected, "to"))}).`;
  },
  confirmations: ({ expected, actual }) => `It has ${String(actual)} of ${String(expected)} confirmations.`,
};

/** Sorts checks: the failed ones first, of these the cause first. */
export function causeFirst<C extends { name: string; ok: boolean }>(checks: readonly C[]): C[] {
  const order = Object.keys(sentences);
  const rank = ({ name }: C) => order.indexOf(name);
  return checks.toSorted(
    (left, right) => Number(left.ok) - Number(right.ok) || (left.ok ? 0 : rank(left) - rank(right)),
  );
}

/** A value of calldata, or a word for one that a list of another length does not have. */
function orElse(value: Json, word: string): string {
  return value === null ? word : JSON.stringify(value);
}

/** Says which function of which contract is called, and which one was expected; null when the called contract is unknown. */
function nameCalls(call: NonNullable<Facts["call"]>): string | null {
  if (call.contract === unknownAddress) return null;
  const called = call.function === null ? "no known function" : call.function;
  return `It calls ${called} on ${call.contract}; ${call.expected_function} on ${call.expected_contract} was expected.`;
}

/** Says that arguments cannot be decoded, and which word is another one where that of the same function is expected. */
function nameUnreadable({ function: name, expected_function, words }: NonNullable<Facts["call"]>): string {
  const unreadable = `The arguments of ${name} cannot be decoded`;
  const word = words.find(({ expected, actual }) => expected !== actual);
  return name !== expected_function || word === undefined
    ? `${unreadable}: an offset or a length in them is wrong.`
    : `${unreadable}: the word at byte ${word.offset} is 0x${word.actual}; 0x${word.expected} was expected.`;
}

/** Says how many bytes are too many or too few after equal ones; null when a byte differs. */
function nameLength({ function: name, words }: NonNullable<Facts["call"]>): string | null {
  const [expected, actual] = [
    words.map((word) => word.expected).join(""),
    words.map((word) => word.actual).join(""),
  ];
  if (!expected.startsWith(actual) && !actual.startsWith(expected)) return null;
  const difference = (actual.length - expected.length) / 2;
  const count = Math.abs(difference);
  const bytes = `${count} ${count === 1 ? "byte" : "bytes"}`;
  if (difference < 0)
    return `The call of ${name} has the right arguments, but ${bytes} too few: it ends at byte ${actual.length / 2}.`;
  const more = actual.slice(expected.length);
  const shown = more.length <= 64 ? more : `${more.slice(0, 64)}…`;
  return `The call of ${name} has the right arguments, but ${bytes} too many: ${shown} at byte ${expected.length / 2}.`;
}

/** Says which field of an expected log has another value; null when the events themselves differ. */
function nameLogField(expected: Json, actual: Json): string | null {
  if (!Array.isArray(expected) || !Array.isArray(actual)) return null;
  for (const log of expected) {
    const event = member(log, "event");
    const emitted = actual.find((one) => member(one, "event") === event);
    if (emitted === undefined && member(log, "optional") === true) continue;
    if (emitted === undefined) return null;
    const fields = member(log, "fields");
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return null;
    for (const [name, wanted] of Object.entries(fields)) {
      const value = member(member(emitted, "fields"), name);
      if (canonicalJson(value) !== canonicalJson(wanted))
        return `In the log ${String(event)}, ${name} is ${JSON.stringify(value)}; ${JSON.stringify(wanted)} was expected.`;
    }
  }
  return null;
}
