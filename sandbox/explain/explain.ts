import { type Hex, isHash } from "viem";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { type ExplainDecision, explainDecision } from "./decisions/explain-decision.ts";
import { explainCall, type UnsentCall } from "./explain-call.ts";
import { type ExplainOptions, type ExplainSources, explainTransaction } from "./explain-transaction.ts";
import type { CallExplanation, Explanation } from "./explanation.ts";
import { type ExplainTypedData, explainTypedData } from "./signatures/explain-typed-data.ts";
import type { DecisionExplanation, TypedDataExplanation } from "./signatures/signature-explanation.ts";

/** A call to explain before it is sent. */
export interface ExplainCall extends ExplainOptions {
  call: UnsentCall;
}

/** Explains transactions, and calls, typed data and decisions before they are sent. */
export type Explain = ReturnType<typeof openExplain>;

/** Opens `explain` on a sandbox. */
export function openExplain(sources: ExplainSources) {
  /**
   * Explains whether the API would accept a transaction and, if not, why. Compares it with the newest refused submission or, without one,
   * with the closest step.
   *
   * @param options - `for` is the id of the merchant or purchase to compare it with.
   * @throws SandboxError argument_invalid when the hash is not a transaction hash, or the id is unknown.
   * @example const { accepted, cause } = await sandbox.explain(transaction_hash, { for: purchase.id })
   */
  async function explain(hash: Hex, options?: ExplainOptions): Promise<Explanation>;
  /**
   * Explains whether the API would accept the transaction of a call that was not sent. Simulates the call on the newest block.
   *
   * @throws SandboxError argument_invalid when the call is malformed.
   * @example const { cause, not_checked } = await sandbox.explain({ call: { from: buyer, to: registrar, data } })
   */
  async function explain(request: ExplainCall): Promise<CallExplanation>;
  /**
   * Explains typed data (EIP-712) and its signature before they are submitted: the hashes, the signer, each mistake by its name, and the answers
   * of the service and the contract now.
   *
   * @throws SandboxError argument_invalid when the typed data or the signature is malformed.
   * @example const { mistakes, signer } = await sandbox.explain({ typed_data, signature })
   */
  async function explain(request: ExplainTypedData): Promise<TypedDataExplanation>;
  /**
   * Explains a reviewer's decision and its signature (Ed25519) before they are recorded: the signed bytes, each mistake by its name, and the
   * answer of the service now.
   *
   * @throws SandboxError argument_invalid when the decision or the signature is malformed.
   * @example const { mistakes, decision_bytes } = await sandbox.explain({ decision, signature })
   */
  async function explain(request: ExplainDecision): Promise<DecisionExplanation>;
  async function explain(about: unknown, options: ExplainOptions = {}) {
    if (typeof about === "string" && isHash(about)) return await explainTransaction(about, options, sources);
    if (isRequest(about, "call")) return await explainCall(about.call, { for: about.for }, sources);
    if (isRequest(about, "typed_data")) return await explainTypedData(about, sources);
    if (isRequest(about, "decision")) return await explainDecision(about, sources.services);
    throw new SandboxError(
      "argument_invalid",
      `${showValue(about)} is not a transaction hash. Pass 0x and 64 hex digits.`,
    );
  }
  return explain;
}

/**
 * Returns whether a value is a request with a member; the member itself is checked by what explains it. A purchase also has a decision, but
 * an id.
 */
function isRequest<K extends string>(
  value: unknown,
  member: K,
): value is { [M in K]: unknown } & { signature?: unknown; for?: string } {
  return typeof value === "object" && value !== null && member in value && !("id" in value);
}
