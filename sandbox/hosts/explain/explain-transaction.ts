import { getAddress, type Hex } from "viem";
import type { BindingReport } from "../../../protocol/binding/check-binding.ts";
import { decodeLog, isEvent } from "../../../protocol/binding/match-log.ts";
import type { ObservedLog, ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import { decodeRevert } from "../../../relayer/node/decode-revert.ts";
import { judge } from "../../../server/domain/binding/require-bound.ts";
import type { Services } from "../../../server/services.ts";
import type { ChainClient } from "../../chain/client/chain-client.ts";
import { describeRevert } from "../../chain/describe-revert.ts";
import { contractAt, contractsOf, nameOf } from "./address-book.ts";
import { compareCalldata } from "./compare-calldata.ts";
import type { Explanation } from "./explanation.ts";
import { type Candidate, findCandidates } from "./find-candidates.ts";
import { nameCause, unknownTransaction } from "./name-cause.ts";
import { type TracedCall, tracedCall, viewTrace } from "./read-trace.ts";

/** A step that a transaction was compared with, and what came of it. */
interface Judged extends Candidate {
  report: BindingReport;
  failed: number;
}

/**
 * Says of any transaction whether it would be accepted and for what, and if not why. Nothing is changed.
 *
 * @example (await explainTransaction(hash, services, chain.client)).cause
 */
export async function explainTransaction(
  hash: Hex,
  services: Services,
  client: ChainClient,
): Promise<Explanation> {
  const observed = await services.chain.observe(hash);
  const traced = observed.receipt === null ? null : await trace(hash, client);
  const candidates = await findCandidates(observed, traced, services);
  const judged: Judged[] = [];
  for (const candidate of candidates) {
    const report = await judge(observed, candidate.expectation, candidate.use, services);
    judged.push({ ...candidate, report, failed: report.checks.filter(({ ok }) => !ok).length });
  }
  judged.sort((left, right) => left.failed - right.failed);
  const [closest] = judged;
  const call = closest === undefined ? null : viewCall(observed, closest, services);
  const checks = closest?.report.checks ?? [];
  const failure = traced?.error === undefined ? null : (describeRevert(traced.output) ?? traced.error);
  const accepted = closest?.report.accepted ?? false;
  return {
    transaction_hash: hash,
    accepted,
    step: closest?.use.step ?? null,
    subject: closest?.about ?? null,
    cause:
      closest === undefined
        ? strange(observed)
        : (nameCause({ checks, call, failure }) ??
          `It is accepted as ${closest.use.step} of ${closest.about}.`),
    checks,
    call,
    logs: (observed.receipt?.logs ?? []).map((log) => viewLog(log, services)),
    revert: decodeRevert(traced?.error === undefined ? "0x" : (traced.output ?? "0x")),
    trace: traced === null ? null : viewTrace(traced, services.deployment),
    compared: judged.map((one) => ({
      step: one.use.step,
      subject: one.about,
      accepted: one.report.accepted,
      failed: one.report.checks.filter(({ ok }) => !ok).map(({ name }) => name),
    })),
  };
}

/** Returns the reason why there was nothing to compare a transaction with. */
function strange({ envelope }: ObservedTransaction): string {
  return envelope === null
    ? unknownTransaction
    : "It touches no merchant and no purchase that this sandbox knows, and its sender is no buyer of any.";
}

function viewCall(
  { envelope }: ObservedTransaction,
  { expectation }: Candidate,
  { deployment }: Services,
): Explanation["call"] {
  const abi = contractAt(deployment, expectation.call.to)?.abi;
  if (envelope === null || abi === undefined) return null;
  return {
    to: envelope.to === null ? null : getAddress(envelope.to),
    contract: nameOf(deployment, envelope.to),
    ...compareCalldata(abi, expectation.call.data, envelope.input),
  };
}

function viewLog(log: ObservedLog, { deployment }: Services): Explanation["logs"][number] {
  const { logIndex } = log;
  const address = getAddress(log.address);
  const shown = { address, contract: nameOf(deployment, address), log_index: logIndex };
  for (const { abi } of contractsOf(deployment))
    for (const entry of abi) {
      if (entry.type !== "event" || !isEvent(log, { abi, event: entry.name })) continue;
      const decoded = decodeLog(log, { abi, event: entry.name });
      if (decoded !== null) return { ...shown, event: decoded.event, fields: decoded.fields };
    }
  return { ...shown, event: null, fields: { topics: [...log.topics], data: log.data } };
}

/** The calls of a mined transaction; null when the node does not trace. */
async function trace(hash: Hex, client: ChainClient): Promise<TracedCall | null> {
  const answer: unknown = await client
    .request<{ Method: "debug_traceTransaction"; Parameters: [Hex, object]; ReturnType: unknown }>({
      method: "debug_traceTransaction",
      params: [hash, { tracer: "callTracer" }],
    })
    .catch(() => null);
  const parsed = tracedCall.safeParse(answer);
  return parsed.success ? parsed.data : null;
}
