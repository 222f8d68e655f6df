import { getAddress, type Hex, isAddress } from "viem";
import { canonicalJson } from "../values/canonical-json.ts";
import { type Json, toJson } from "../values/json.ts";
import { sameAddress } from "../values/same-address.ts";
import type { ExpectedLog, ExpectedTransaction } from "./expected-transaction.ts";
import { type DecodedLog, decodeLog, isEvent, matchesLog } from "./match-log.ts";
import type { ObservedLog, ObservedTransaction } from "./observed-transaction.ts";

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
 * Returns whether a transaction is exactly the expected one, with the result of every check.
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
    purchase: purchase(expected),
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

function purchase({ purchase: { expected, actual } }: ExpectedTransaction): Judgement {
  return { ok: canonicalJson(expected) === canonicalJson(actual), expected, actual };
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

/**
 * Returns the confirmations of a transaction: 1 in the newest block, 0 when it is not mined.
 *
 * @example countConfirmations(observed) // 1 in the newest block
 */
export function countConfirmations(observed: ObservedTransaction): number {
  if (observed.receipt === null) return 0;
  return Math.max(0, Number(observed.head.number - observed.receipt.blockNumber) + 1);
}

function confirmations(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const actual = countConfirmations(observed);
  return { ok: actual >= expected.confirmations, expected: expected.confirmations, actual };
}

const unsignedReason =
  "It carries no signature of its sender, which the node impersonated, so that no step accepts it.";

/** Checks that the transaction, its transaction receipt, its logs and the block at that height agree on one block and this hash. */
function canonical(observed: ObservedTransaction): Judgement {
  const { envelope, receipt, block } = observed;
  const expected = { transaction_hash: observed.hash, block_hash: block?.hash ?? null };
  if (envelope === null || receipt === null || block === null) return { ok: false, expected, actual: null };
  if (envelope.unsigned) {
    const actual = { transaction_hash: null, block_hash: receipt.blockHash, reason: unsignedReason };
    return { ok: false, expected, actual };
  }
  const hashes = [envelope.hash, receipt.transactionHash, ...receipt.logs.map((log) => log.transactionHash)];
  const blocks = [receipt.blockHash, envelope.blockHash, ...receipt.logs.map((log) => log.blockHash)];
  const actual = {
    transaction_hash: hashes.find((hash) => hash !== observed.hash) ?? envelope.hash,
    block_hash: blocks.find((hash) => hash !== block.hash) ?? receipt.blockHash,
  };
  const contradictions = [
    hashes.some((hash) => hash !== observed.hash) &&
      "transaction, transaction receipt and logs are of different hashes",
    blocks.some((hash) => hash !== block.hash) &&
      "transaction, transaction receipt and logs are of different blocks",
    receipt.blockNumber !== block.number && "the transaction receipt names another height",
    !block.includes && "the block does not list the transaction",
    !(sameAddress(receipt.from, envelope.sender) && sameRecipient(receipt.to, envelope.to)) &&
      "the transaction receipt names another sender or recipient",
    receipt.logs.some((log) => log.removed) && "a log was removed",
    canonicalJson(toJson(receipt.logs)) !== canonicalJson(toJson(block.logs)) &&
      "the logs of the transaction receipt are not those of the block",
  ].filter((contradiction) => contradiction !== false);
  const ok = contradictions.length === 0;
  return { ok, expected, actual: ok ? actual : { ...actual, contradictions } };
}

function sameRecipient(left: string | null, right: string | null): boolean {
  return (left === null && right === null) || sameAddress(left, right);
}

/** The reason to refuse a contract, even if it is the bound wallet. */
export const contractWalletReason =
  "The bound wallet is a contract. Only an account with a key of its own can send the transaction.";

/**
 * Checks that the bound wallet signed and sent the transaction itself. The code that an account delegates to (EIP-7702) does
 * not run in a transaction that it sends to another contract, so a delegation is no reason to refuse it.
 */
function wallet(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const address = observed.envelope?.sender ?? null;
  const isContract = expected.walletCode === "contract";
  return {
    ok: sameAddress(address, expected.wallet) && !isContract,
    expected: expected.wallet,
    actual: isContract ? { address, reason: contractWalletReason } : address,
  };
}

function contract(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const to = observed.envelope?.to ?? null;
  return {
    ok: sameAddress(to, expected.call.to) && observed.codeHash === expected.codeHash,
    expected: { address: expected.call.to, code_hash: expected.codeHash },
    actual: { address: to && checksummed(to), code_hash: observed.codeHash },
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

/** Checks that each contract with expected logs emitted exactly these logs, in order. */
function log(observed: ObservedTransaction, expected: ExpectedTransaction): Judgement {
  const wanted = expected.logs.map(({ abi: _, ...shown }): Json => shown);
  if (observed.receipt === null) return { ok: false, expected: wanted, actual: null };
  const due = new Map<string, ExpectedLog[]>([[expected.call.to.toLowerCase(), []]]);
  for (const one of expected.logs) {
    const address = one.address.toLowerCase();
    due.set(address, [...(due.get(address) ?? []), one]);
  }
  let ok = true;
  const actual: Json[] = [];
  for (const entry of observed.receipt.logs) {
    const awaited = due.get(entry.address.toLowerCase());
    if (awaited === undefined) continue;
    const next = nextFor(entry, awaited);
    const decoded = next === undefined ? null : decodeLog(entry, next);
    ok &&= next !== undefined && decoded !== null && matchesLog(decoded, next);
    actual.push(viewLog(entry, decoded ?? decodeAsOther(entry, expected.logs)));
  }
  ok &&= [...due.values()].flat().every(({ optional = false }) => optional);
  return { ok, expected: wanted, actual };
}

/** Takes the next expected log. An optional log is skipped if another event follows. */
function nextFor(entry: ObservedLog, awaited: ExpectedLog[]): ExpectedLog | undefined {
  const next = awaited.shift();
  return next?.optional && !isEvent(entry, next) ? nextFor(entry, awaited) : next;
}

/** A log that is not where it should be may still be one of the expected events. */
function decodeAsOther(entry: ObservedLog, logs: readonly ExpectedLog[]): DecodedLog | null {
  for (const one of logs) {
    const decoded = decodeLog(entry, one);
    if (decoded !== null) return decoded;
  }
  return null;
}

/** Returns a log as a decoded event or, if it cannot be decoded, as its bytes. */
function viewLog({ address, topics, data }: ObservedLog, decoded: DecodedLog | null): Json {
  const shown = checksummed(address);
  return decoded === null
    ? { address: shown, topics: [...topics], data }
    : { address: shown, event: decoded.event, fields: decoded.fields };
}

/** Returns an address in its EIP-55 form; a value that is not an address is returned unchanged. */
function checksummed(address: string): string {
  return isAddress(address, { strict: false }) ? getAddress(address) : address;
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
