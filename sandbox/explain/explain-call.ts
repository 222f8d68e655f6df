import { type Address, BaseError, type Hex, keccak256, zeroHash } from "viem";
import type { z } from "zod";
import { type CheckName, checkBinding } from "../../protocol/binding/check-binding.ts";
import type { ObservedLog, ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { Expectation } from "../../server/binding/expectations.ts";
import { type BlockPoint, ChainMovedError } from "../../server/chain/chain-reader.ts";
import type { Services } from "../../server/http/services.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import { describeRevert } from "../chain/describe-revert.ts";
import { callSchema } from "../wallets/read-transaction.ts";
import type { Candidate } from "./candidates/candidate.ts";
import { findCandidates, requireNamed } from "./candidates/find-candidates.ts";
import { traceCall } from "./execution/call-trace.ts";
import {
  byFailures,
  type ExplainOptions,
  type ExplainSources,
  explainRun,
  type Judged,
  judgedBy,
} from "./explain-transaction.ts";
import type { CallExplanation } from "./explanation.ts";
import { readOption, wrongOption } from "./read-option.ts";

/** A call that a wallet has not sent yet. */
export interface UnsentCall {
  from: Address;
  to: Address;
  /** The calldata; none by default. */
  data?: Hex;
  /** Wei, as a bigint, a decimal string or hex; none if it is left out. */
  value?: bigint | string;
  /** The chain id, as in the `transaction` of a wallet route; by default that of the sandbox. */
  chain_id?: number;
  /** The function name, as in the `transaction` of a wallet route. It is ignored. */
  function?: string;
  args?: unknown;
}

type CheckedCall = z.output<typeof callSchema>;

/** The checks that only a mined transaction can have. */
export const minedChecks: readonly CheckName[] = ["mined", "confirmations", "canonical", "unused"];

/** The steps whose purchase must already be on the chain. In other steps, the transaction itself writes the compared values. */
const stepsAfterwards: readonly string[] = ["payment approval", "funding approval", "payment", "claim"];

/**
 * Explains whether the transaction of a call would be accepted in the next block, and if not, why. Simulates the call on the newest block;
 * sends nothing.
 *
 * @param expectation - the expectation of the step, if more is known about it than the call says.
 * @throws SandboxError argument_invalid when the call is malformed, or the id to compare it with is unknown.
 */
export async function explainCall(
  unsent: unknown,
  options: ExplainOptions,
  sources: ExplainSources,
  expectation?: Expectation,
): Promise<CallExplanation> {
  const { services, client } = sources;
  const call = readUnsentCall(unsent, services.deployment.chainId);
  for (let tries = 0; tries < mostTries; tries += 1) {
    const at = await services.chain.head();
    try {
      return await explainAt(at, call, options, sources, expectation);
    } catch (error) {
      // The state of a block that a reorg has removed meanwhile is gone.
      const { hash } = await client.getBlock({ blockNumber: BigInt(at.number) });
      if (hash === at.hash) throw error;
    }
  }
  throw new ChainMovedError();
}

/** How often an explanation begins at the newest block before it is refused because of reorgs. */
const mostTries = 5;

async function explainAt(
  at: BlockPoint,
  call: CheckedCall,
  { for: id }: ExplainOptions,
  sources: ExplainSources,
  expectation?: Expectation,
): Promise<CallExplanation> {
  const { services, client } = sources;
  const time = Math.max(await services.chain.nextTime(), at.timestamp);
  const [{ observed, reason }, traces] = await Promise.all([
    simulate(call, at, time, { services, client }),
    traceCall(call, { at, time }, client),
  ]);
  const named = id === undefined ? [] : [await requireNamed(id, observed, services)];
  if (expectation !== undefined) for (const candidate of named) candidate.expectation = expectation;
  const candidates = named.length > 0 ? named : await findCandidates(observed, traces.trace, services);
  const judged = await Promise.all(
    candidates.map(async (candidate) => await judgeCall(candidate, observed, at, services)),
  );
  judged.sort(byFailures);
  const output = reason?.data ?? "0x";
  const failure = reason === null ? null : (describeRevert(output) ?? reason.message);
  const run = { ...traces, observed, judged, output, failure, isSimulated: true };
  return {
    ...(await explainRun(run, sources)),
    not_checked: notChecked(judged[0]),
    simulated: { block_number: at.number, at: toTimestamp(time) },
  };
}

/** Reads a call. @throws SandboxError argument_invalid when it is malformed, or for another chain. */
function readUnsentCall(value: unknown, chainId: number): CheckedCall {
  const remedy = "Pass {from, to, data, value?}: addresses, calldata in hex, and wei.";
  const call = readOption("call", callSchema, value, remedy);
  if ((call.chain_id ?? chainId) === chainId) return call;
  throw wrongOption(
    "call",
    `is wrong: chain_id is ${call.chain_id}, and the sandbox's chain is ${chainId}`,
    "Build the transaction for that chain.",
  );
}

interface Reason {
  data: Hex;
  message: string;
}

/** Simulates a call on the state of a block and returns it as the transaction that it would become. */
async function simulate(
  { from, to, data, value }: CheckedCall,
  at: BlockPoint,
  time: number,
  { services, client }: Pick<ExplainSources, "services" | "client">,
): Promise<{ observed: ObservedTransaction; reason: Reason | null }> {
  const number = BigInt(at.number) + 1n;
  const [chain, code, outcome] = await Promise.all([
    services.chain.identity(),
    client.getCode({ address: to, blockNumber: BigInt(at.number) }),
    run({ from, to, data, value }, at, time, client),
  ]);
  const mined = { blockNumber: number, blockHash: zeroHash };
  const logs = outcome.logs.map(
    ({ address, topics, data: content }, logIndex): ObservedLog => ({
      ...{ address, topics, data: content, logIndex },
      ...mined,
      transactionHash: zeroHash,
      removed: false,
    }),
  );
  const { reason } = outcome;
  const observed: ObservedTransaction = {
    hash: zeroHash,
    chain,
    head: { number, hash: zeroHash },
    envelope: {
      hash: zeroHash,
      sender: from,
      unsigned: false,
      to,
      input: data,
      value,
      blockHash: zeroHash,
    },
    receipt: {
      status: reason === null ? "success" : "reverted",
      transactionHash: zeroHash,
      from,
      to,
      ...mined,
      logs,
    },
    block: { number, hash: zeroHash, timestamp: time, includes: true, logs },
    codeHash: code === undefined ? null : keccak256(code),
  };
  return { observed, reason };
}

/** Runs a call. If the node refuses it, for example for lack of ether, the refusal is returned as a revert. */
async function run(
  { from: account, to, data, value }: CheckedCall,
  at: BlockPoint,
  time: number,
  client: ChainClient,
): Promise<{ logs: Pick<ObservedLog, "address" | "topics" | "data">[]; reason: Reason | null }> {
  const blocks = [{ blockOverrides: { time: BigInt(time) }, calls: [{ account, to, data, value }] }];
  try {
    const [block] = await client.simulateBlocks({ blockNumber: BigInt(at.number), blocks });
    const ran = block?.calls[0];
    if (ran?.status === "success") return { logs: ran.logs ?? [], reason: null };
    return { logs: [], reason: { data: ran?.data ?? "0x", message: "execution reverted" } };
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    return { logs: [], reason: { data: "0x", message: error.details || error.shortMessage } };
  }
}

/** Evaluates the checks that are known before a transaction is sent. */
async function judgeCall(
  candidate: Candidate,
  observed: ObservedTransaction,
  at: BlockPoint,
  services: Services,
): Promise<Judged> {
  const { expectation } = candidate;
  const walletCode = await services.chain.walletCode(expectation.wallet, at);
  const { checks } = checkBinding(observed, { ...expectation, walletCode, usedBy: null });
  const unknown = notChecked(candidate);
  return judgedBy(
    checks.filter(({ name }) => !unknown.includes(name)),
    candidate,
  );
}

/** Returns the checks that are not known before the call is sent. */
function notChecked(candidate: Candidate | undefined): CheckName[] {
  const isWritten = candidate !== undefined && !stepsAfterwards.includes(candidate.use.step);
  return isWritten ? [...minedChecks, "purchase"] : [...minedChecks];
}
