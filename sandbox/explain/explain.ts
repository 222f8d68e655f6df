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

/** Explains transactions, and what is not sent yet. */
export interface Explain {
  (hash: Hex, options?: ExplainOptions): Promise<Explanation>;
  (request: ExplainCall): Promise<CallExplanation>;
  (request: ExplainTypedData): Promise<TypedDataExplanation>;
  (request: ExplainDecision): Promise<DecisionExplanation>;
}

/** Opens `explain` on a sandbox. */
export function openExplain(sources: ExplainSources): Explain {
  async function explain(hash: Hex, options?: ExplainOptions): Promise<Explanation>;
  async function explain(request: ExplainCall): Promise<CallExplanation>;
  async function explain(request: ExplainTypedData): Promise<TypedDataExplanation>;
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
