import { type Hex, isAddressEqual } from "viem";
import type { Json } from "../json.ts";
import type { ExpectedTransaction } from "./expected-transaction.ts";
import { decodeLog, isEvent, matchesLog } from "./match-log.ts";
import type { ObservedTransaction } from "./observed-transaction.ts";

/** The names of the checks, in the order in which they are reported. */
export const checkNames = [
  "chain",
  "mined",
  "confirmations",
  "canonical",
  "status",
  "wallet",
  "contract",
  "value",
  "calldata",
  "purchase",
  "log",
  "unused",
  "timely",
] as const;

/** The name of one check. */
export type CheckName = (typeof checkNames)[number];

/** The outcome of one check, with both sides. */
export interface BindingCheck {
  name: CheckName;
  ok: boolean;
  expected: Json;
  actual: Json;
}

/** The outcome of all checks. */
export interface BindingReport {
  accepted: boolean;
  checks: BindingCheck[];
}

/**
 * Decides whether a transaction is exactly the one that was expected; every check is evaluated and reported.
 *
 * @example checkBinding(observed, expected).accepted
 */
export function checkBinding(observed: ObservedTransaction, expected: ExpectedTransaction): BindingReport {
  const judged: Record<CheckName, Omit<BindingCheck, "name">> = {
    chain: chain(observed, expected),
    mined: mined(observed),
    confirmations: confirmations(observed, expected),
    canonical: canonical(observed),
    status: equal("success", observed.receipt?.status ?? null),
    wallet: wallet(observed, expected),
    contract: contract(observed, expected),
    value: equal("0", observed.envelope?.value.toString() ?? null),
    calldata: calldata(expected.call.data, observed.envelope?.input ?? null),
    purchase: equal(expected.purchase.expected, expected.purchase.actual),
    log: log(observed, expected),
    unused: equal(null, expected.usedBy),
    timely: timely(observed, expected),
  };
  const checks = checkNames.map((name) => ({ name, ...judged[name] }));
  return { accepted: checks.every((check) => check.ok), checks };
}

type Judgement = Omit<BindingCheck, "name">;

function equal(expected: Json, actual: Json): Judgement {
  return { ok: expected === actual, expected, actual };
}

function chain(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const { chain } = observed;
  return {
    ok: chain.chainId === expected.chain.chainId && chain.epoch === expected.chain.epoch,
    expected: { chain_id: expected.chain.chainId, epoch: expected.chain.epoch },
    actual: { chain_id: chain.chainId, epoch: chain.epoch },
  };
}

function mined(observed: ObservedTransaction): Judgement {
  if (observed.envelope === null) return { ok: false, expected: "mined", actual: "unknown" };
  const ok = observed.receipt !== null && observed.envelope.blockHash !== null;
  return { ok, expected: "mined", actual: ok ? "mined" : "pending" };
}

/** How many blocks stand on a transaction, its own included; 0 when it is not mined. */
export function countConfirmations(observed: ObservedTransaction): number {
  if (observed.receipt === null) return 0;
  return Math.max(0, Number(observed.head.number - observed.receipt.blockNumber) + 1);
}

function confirmations(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const actual = countConfirmations(observed);
  return { ok: actual >= expected.confirmations, expected: expected.confirmations, actual };
}

/** The transaction, its receipt, its logs and the block at that height must all name one block and this hash. */
function canonical(observed: ObservedTransaction): Judgement {
  const { envelope, receipt, block } = observed;
  const expected = { transaction_hash: observed.hash, block_hash: block?.hash ?? null };
  if (envelope === null || receipt === null || block === null) return { ok: false, expected, actual: null };
  const hashes = [
    envelope.hash,
    receipt.transactionHash,
    ...receipt.logs.map((entry) => entry.transactionHash),
  ];
  const blocks = [receipt.blockHash, envelope.blockHash, ...receipt.logs.map((entry) => entry.blockHash)];
  const otherHash = hashes.find((hash) => hash !== observed.hash);
  const otherBlock = blocks.find((hash) => hash !== block.hash);
  const indexes = receipt.logs.map((entry) => entry.logIndex);
  const ordered = indexes.every((index, at) => at === 0 || index === Number(indexes[at - 1]) + 1);
  const present = receipt.logs.every((entry) => !entry.removed && entry.blockNumber === block.number);
  const ok = otherHash === undefined && otherBlock === undefined && ordered && present;
  return {
    ok: ok && receipt.blockNumber === block.number,
    expected,
    actual: {
      transaction_hash: otherHash ?? envelope.hash,
      block_hash: otherBlock === undefined ? receipt.blockHash : otherBlock,
      ...(ordered ? {} : { log_indexes: indexes }),
      ...(present ? {} : { logs: "removed or of another block" }),
    },
  };
}

function wallet(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const actual = observed.envelope?.sender ?? null;
  return {
    ok: actual !== null && isAddressEqual(actual, expected.wallet),
    expected: expected.wallet,
    actual,
  };
}

function contract(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const to = observed.envelope?.to ?? null;
  return {
    ok: to !== null && isAddressEqual(to, expected.call.to) && observed.codeHash === expected.codeHash,
    expected: { address: expected.call.to, code_hash: expected.codeHash },
    actual: { address: to, code_hash: observed.codeHash },
  };
}

function calldata(expected: Hex, actual: Hex | null): Judgement {
  if (actual === null || actual === expected) return equal(expected, actual);
  return {
    ok: false,
    expected,
    actual: { data: actual, first_difference: firstDifference(expected, actual) },
  };
}

/** The index of the first byte in which two byte strings differ, a missing byte included. */
function firstDifference(left: Hex, right: Hex): number {
  let index = 2;
  while (
    index < Math.max(left.length, right.length) &&
    left.slice(index, index + 2) === right.slice(index, index + 2)
  )
    index += 2;
  return (index - 2) / 2;
}

/** Each expected log must be there exactly once, and no other log of the same events from the bound contract. */
function log(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const wanted = expected.logs.map(({ event, fields }) => ({ event, fields }));
  if (observed.receipt === null) return { ok: false, expected: wanted, actual: null };
  const emitted = observed.receipt.logs.filter((entry) => isAddressEqual(entry.address, expected.call.to));
  const seen = emitted.flatMap((entry) => {
    const sameEvent = expected.logs.find((one) => isEvent(entry, one));
    return sameEvent === undefined ? [] : [decodeLog(entry, sameEvent)];
  });
  const ok =
    seen.length === expected.logs.length &&
    expected.logs.every((one, index) => {
      const at = seen[index];
      return at !== null && at !== undefined && at.event === one.event && matchesLog(at, one);
    });
  return {
    ok,
    expected: wanted,
    actual: seen.map((one) =>
      one === null ? "not the canonical encoding" : { event: one.event, fields: one.fields },
    ),
  };
}

function timely(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const at = observed.block?.timestamp ?? null;
  const { from, to } = expected.timely;
  return {
    ok: at !== null && (from === null || at >= from) && (to === null || at <= to),
    expected: { from, to },
    actual: at,
  };
}
