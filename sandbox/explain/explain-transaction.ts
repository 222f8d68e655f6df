import { getAddress, type Hex } from "viem";
import type { BindingCheck, CheckName } from "../../protocol/binding/check-binding.ts";
import { decodeLog, isEvent } from "../../protocol/binding/match-log.ts";
import type { ObservedLog, ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { decodeRevert } from "../../relayer/node/decode-revert.ts";
import { evaluateChecks } from "../../server/binding/require-bound.ts";
import { sayWrong } from "../../server/binding/reverts/cause.ts";
import { explainRevert } from "../../server/binding/reverts/explain-revert.ts";
import type { Services } from "../../server/http/services.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import { operations } from "../../server/operations.ts";
import { whyNeverActive, whyNeverRefunded } from "../../server/purchases/purchase-steps.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import { describeRevert } from "../chain/describe-revert.ts";
import { contractsOf, labelOf } from "./address-book.ts";
import type { Candidate } from "./candidates/candidate.ts";
import { findCandidates, requireNamed } from "./candidates/find-candidates.ts";
import {
  type ReadRefusals,
  type RefusedSubmission,
  readRefusedSubmission,
} from "./candidates/read-refused-submission.ts";
import { compareCalls } from "./cause/compare-calls.ts";
import { nameCauses, unknownTransaction } from "./cause/name-cause.ts";
import { type Traces, traceTransaction, viewTrace } from "./execution/call-trace.ts";
import { type ChangeSources, readChanges } from "./execution/read-changes.ts";
import type { CallExplanation, Explanation } from "./explanation.ts";

/** A step that a transaction was compared with, and the result. */
export interface Judged extends Candidate {
  checks: BindingCheck[];
  failed: CheckName[];
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
  const [traces, transaction] = await Promise.all([
    observed.receipt === null ? { trace: null, isCut: false, diff: null } : traceTransaction(hash, client),
    viewTransaction(observed, client),
  ]);
  const { trace } = traces;
  const submission = await readRefusedSubmission(observed, id, refusals, services);
  const named =
    submission?.candidate ?? (id === undefined ? null : await requireNamed(id, observed, services));
  const others = await findCandidates(observed, trace, services);
  const judged = await judgeAll(named, others, observed, services);
  const output = trace?.error === undefined ? "0x" : (trace.output ?? "0x");
  const failure = trace?.error === undefined ? null : (describeRevert(output) ?? trace.error);
  const run = { ...traces, observed, judged, output, failure, isSimulated: false };
  return {
    ...(await explainRun(run, sources)),
    transaction_hash: hash,
    transaction,
    submission: submission === null ? null : viewSubmission(submission.refusal),
  };
}

/** A run of a transaction or a call, and the steps that it is compared with, the one that counts first. */
interface Run extends Traces {
  observed: ObservedTransaction;
  judged: readonly Judged[];
  /** The data of a revert; `0x` without one. */
  output: Hex;
  /** The revert in words; null without one. */
  failure: string | null;
  isSimulated: boolean;
}

/** Explains what the transaction of a hash and a simulated call have in common. */
export async function explainRun(
  { observed, judged, trace, isCut, diff, output, failure, isSimulated }: Run,
  sources: ExplainSources,
): Promise<Omit<CallExplanation, "not_checked" | "simulated">> {
  const { services } = sources;
  const { deployment } = services;
  const { envelope, receipt } = observed;
  const [closest = null] = judged;
  const call =
    closest === null || envelope === null
      ? null
      : compareCalls(closest.expectation.call, { to: envelope.to, data: envelope.input }, deployment);
  const { checks = [], use: { step } = { step: null }, about: subject = null } = closest ?? {};
  const facts = { checks, call, failure, isSimulated };
  const named = closest === null ? [nameStrange(envelope === null, facts)] : nameCauses(facts);
  const never = named.length === 0 ? await whyNeverTaken(step, subject, services) : null;
  const causes = never === null ? named : [never];
  return {
    cause: causes[0] ?? `It ${isSimulated ? "would be" : "is"} accepted as ${step} of ${subject}.`,
    causes,
    accepted: closest?.failed.length === 0 && never === null,
    step,
    subject,
    checks,
    call,
    logs: (receipt?.logs ?? []).map((log) => viewLog(log, services)),
    revert: await readRevert(output, closest, services),
    trace: trace === null ? null : viewTrace(trace, deployment),
    inner_calls_left_out: isCut,
    changes: await readChanges(diff, observed, trace, sources),
    compared: judged.map(({ use, about, failed }) => ({
      step: use.step,
      subject: about,
      accepted: failed.length === 0,
      failed,
    })),
  };
}

/** Says why the API takes no transaction of a step, whatever it does: other software has made the offer or the refund. Null if that is not so. */
async function whyNeverTaken(
  step: string | null,
  subject: string | null,
  services: Services,
): Promise<string | null> {
  const purchase = (await services.store.get("purchases", subject ?? ""))?.value;
  if (purchase === undefined) return null;
  if (purchase.status === "created") return await whyNeverActive(purchase, services);
  return step === "refund" ? await whyNeverRefunded(purchase, services) : null;
}

/** Returns the reason why there was nothing to compare a transaction with. */
function nameStrange(
  isUnknown: boolean,
  { failure, isSimulated }: Pick<Run, "failure" | "isSimulated">,
): string {
  if (isUnknown) return unknownTransaction;
  return isSimulated && failure !== null
    ? `It would revert: ${failure}.`
    : "It does not involve a merchant or a purchase of this sandbox, and its sender is not the buyer of a purchase.";
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
  const judgeOne = async (candidate: Candidate) => {
    const { checks } = await evaluateChecks(observed, candidate.expectation, candidate.use, services);
    return judgedBy(checks, candidate);
  };
  const isNamed = ({ use, about }: Candidate) => use.step === named?.use.step && about === named.about;
  const judged: Judged[] = [];
  for (const candidate of others) if (!isNamed(candidate)) judged.push(await judgeOne(candidate));
  judged.sort(byFailures);
  return named === null ? judged : [await judgeOne(named), ...judged];
}

/** Returns a candidate with its checks. */
export function judgedBy(checks: BindingCheck[], candidate: Candidate): Judged {
  return { ...candidate, checks, failed: checks.filter(({ ok }) => !ok).map(({ name }) => name) };
}

/** Orders candidates, the closest first. */
export function byFailures(left: Judged, right: Judged): number {
  const isUnknown = ({ failed }: Judged) => Number(failed.includes("purchase"));
  // The id of an unknown purchase in a batch can be a known one with a wrong byte.
  return left.failed.length - right.failed.length || isUnknown(left) - isUnknown(right);
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

/** Shows a log as the event of the contract that emitted it. */
function viewLog(log: ObservedLog, { deployment }: Services): Explanation["logs"][number] {
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

/**
 * Decodes revert data, and says in words what it means for the step that the call was meant for.
 *
 * @returns null when there is no data.
 * @example (await readRevert(output, candidate, services))?.meaning // "The purchase is fully paid."
 */
async function readRevert(
  output: Hex,
  candidate: Pick<Candidate, "use" | "about"> | null,
  services: Services,
): Promise<Explanation["revert"]> {
  const revert = decodeRevert(output);
  if (revert === null) return null;
  if (candidate === null) return { ...revert, meaning: null };
  const { step } = candidate.use;
  const purchase = (await services.store.get("purchases", candidate.about))?.value ?? null;
  const { wrong, instead } = await explainRevert(revert, { step, purchase }, services);
  const meaning = instead === undefined ? sayWrong({ wrong }) : `${sayWrong({ wrong })} ${instead}`;
  // A reason is text of the contract.
  return { ...revert, meaning: escapeControls(meaning) };
}
