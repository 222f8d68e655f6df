import { getAddress, type Hex } from "viem";
import type { BindingReport } from "../../protocol/binding/check-binding.ts";
import { decodeLog, isEvent } from "../../protocol/binding/match-log.ts";
import type { ObservedLog, ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { evaluateChecks } from "../../server/binding/require-bound.ts";
import { operations } from "../../server/operations.ts";
import type { Services } from "../../server/services.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import { describeRevert } from "../chain/describe-revert.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { contractsOf, labelOf } from "./address-book.ts";
import type { Candidate } from "./candidates/candidate.ts";
import { findCandidates, findNamedCandidate } from "./candidates/find-candidates.ts";
import {
  type ReadRefusals,
  type RefusedSubmission,
  readRefusedSubmission,
} from "./candidates/read-refused-submission.ts";
import { compareCalls } from "./cause/compare-calls.ts";
import { nameCauses, unknownTransaction } from "./cause/name-cause.ts";
import { readRevert } from "./cause/read-revert.ts";
import { readTrace, viewTrace } from "./execution/read-call-trace.ts";
import { type ChangeSources, readChanges } from "./execution/read-changes.ts";
import { callTree, stateDiff, traceTransaction } from "./execution/tracers.ts";
import type { Explanation } from "./explanation.ts";

/** A step that a transaction was compared with, and the result. */
interface Judged extends Candidate {
  report: BindingReport;
  failed: number;
}

/** The sources that an explanation is made from. */
export interface ExplainSources extends ChangeSources {
  refusals: ReadRefusals;
}

/** The settings of an explanation. */
export interface ExplainOptions {
  /** The id of the merchant or purchase to compare with; by default that of the refused submission or, without one, the closest. */
  for?: string | undefined;
}

/**
 * Explains whether a transaction would be accepted and as which step, and if not, why. Compares it with the submission that was refused, if
 * there is one. Changes nothing.
 *
 * @throws SandboxError argument_invalid when no merchant and no purchase has the given id.
 */
export async function explainTransaction(
  hash: Hex,
  { for: id }: ExplainOptions,
  sources: ExplainSources,
): Promise<Explanation> {
  const { services, client, refusals } = sources;
  const observed = await services.chain.observe(hash);
  const [tree, diff, transaction] = await Promise.all([
    observed.receipt === null ? null : traceTransaction(hash, callTree, client),
    observed.receipt === null ? null : traceTransaction(hash, stateDiff, client),
    viewTransaction(observed, client),
  ]);
  const traced = readTrace(tree);
  const submission = await readRefusedSubmission(observed, id, refusals, services);
  const named =
    submission?.candidate ?? (id === undefined ? null : await requireNamed(id, observed, services));
  const others = await findCandidates(observed, traced, services);
  const judged = await judgeAll(named, others, observed, services);
  const [closest] = judged;
  const call = closest === undefined ? null : viewCall(observed, closest, services);
  const checks = closest?.report.checks ?? [];
  const failure = traced?.error === undefined ? null : (describeRevert(traced.output) ?? traced.error);
  const causes = closest === undefined ? [strange(observed)] : nameCauses({ checks, call, failure });
  return {
    cause: causes[0] ?? `It is accepted as ${closest?.use.step} of ${closest?.about}.`,
    causes,
    transaction_hash: hash,
    transaction,
    accepted: closest?.report.accepted ?? false,
    step: closest?.use.step ?? null,
    subject: closest?.about ?? null,
    submission: submission === null ? null : viewSubmission(submission.refusal),
    checks,
    call,
    logs: (observed.receipt?.logs ?? []).map((log) => viewLog(log, services)),
    revert: await readRevert(traced?.error === undefined ? "0x" : (traced.output ?? "0x"), closest, services),
    trace: traced === null ? null : viewTrace(traced, services.deployment),
    changes: await readChanges(diff, observed, traced, sources),
    compared: judged.map((one) => ({
      step: one.use.step,
      subject: one.about,
      accepted: one.report.accepted,
      failed: one.report.checks.filter(({ ok }) => !ok).map(({ name }) => name),
    })),
  };
}

/** The transaction itself; null when the chain does not know its hash. */
async function viewTransaction(
  { hash, envelope, receipt, block }: ObservedTransaction,
  client: ChainClient,
): Promise<Explanation["transaction"]> {
  if (envelope === null) return null;
  const mined = receipt === null ? null : await client.getTransactionReceipt({ hash }).catch(() => null);
  return {
    status: receipt?.status ?? "pending",
    from: envelope.sender === null ? null : getAddress(envelope.sender),
    to: envelope.to === null ? null : getAddress(envelope.to),
    value_wei: envelope.value.toString(),
    input: envelope.input,
    block_number: block === null ? null : Number(block.number),
    at: block === null ? null : toTimestamp(block.timestamp),
    gas_used: mined === null ? null : mined.gasUsed.toString(),
    fee_wei: mined === null ? null : (mined.gasUsed * mined.effectiveGasPrice).toString(),
  };
}

/** Compares with the requested step first, then with every other step, ordered by the number of failed checks. */
async function judgeAll(
  named: Candidate | null,
  others: readonly Candidate[],
  observed: ObservedTransaction,
  services: Services,
): Promise<Judged[]> {
  const judgeOne = async (candidate: Candidate): Promise<Judged> => {
    const report = await evaluateChecks(observed, candidate.expectation, candidate.use, services);
    return { ...candidate, report, failed: report.checks.filter(({ ok }) => !ok).length };
  };
  const isNamed = ({ use, about }: Candidate) => use.step === named?.use.step && about === named.about;
  const judged: Judged[] = [];
  for (const candidate of others) if (!isNamed(candidate)) judged.push(await judgeOne(candidate));
  judged.sort((left, right) => left.failed - right.failed);
  return named === null ? judged : [await judgeOne(named), ...judged];
}

/**
 * Builds the candidate for the merchant or purchase that the caller names.
 *
 * @throws SandboxError argument_invalid when none has this id.
 */
export async function requireNamed(
  id: string,
  observed: ObservedTransaction,
  services: Services,
): Promise<Candidate> {
  const candidate = await findNamedCandidate(id, observed, services);
  if (candidate !== null) return candidate;
  throw new SandboxError(
    "argument_invalid",
    `for is ${showValue(id)}, which is no merchant and no purchase of this sandbox. Pass an id that the API has returned, such as "pur_…".`,
  );
}

function viewSubmission({
  operation,
  step,
  subject,
  code,
  detail,
  at,
  times,
}: RefusedSubmission["refusal"]): Explanation["submission"] {
  const route = operations.find(({ id }) => id === operation);
  const request = route === undefined ? operation : `${route.method.toUpperCase()} ${route.path}`;
  return { request, step, subject, code, detail, at: toTimestamp(at), times };
}

/** Returns the reason why there was nothing to compare a transaction with. */
function strange({ envelope }: ObservedTransaction): string {
  return envelope === null
    ? unknownTransaction
    : "It does not involve a merchant or a purchase of this sandbox, and its sender is not the buyer of a purchase.";
}

/** Shows a call next to the expected one; null where there is none. */
export function viewCall(
  { envelope }: ObservedTransaction,
  { expectation }: Candidate,
  { deployment }: Services,
): Explanation["call"] {
  if (envelope === null) return null;
  return compareCalls(expectation.call, { to: envelope.to, data: envelope.input }, deployment);
}

/** Shows a log as the event of the contract that emitted it. */
export function viewLog(log: ObservedLog, { deployment }: Services): Explanation["logs"][number] {
  const { logIndex } = log;
  const address = getAddress(log.address);
  const shown = { address, contract: labelOf(deployment, address), log_index: logIndex };
  for (const { abi } of contractsOf(deployment))
    for (const entry of abi) {
      if (entry.type !== "event" || !isEvent(log, { abi, event: entry.name })) continue;
      const decoded = decodeLog(log, { abi, event: entry.name });
      if (decoded !== null) return { ...shown, event: decoded.event, fields: decoded.fields };
    }
  return { ...shown, event: null, fields: { topics: [...log.topics], data: log.data } };
}
