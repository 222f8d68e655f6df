import { type Hex, isHash } from "viem";
import { z } from "zod";
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
   * @param options - as of a transaction; here and below, `for` can also be a member of the request.
   * @throws SandboxError argument_invalid when the call is malformed.
   * @example const { cause, not_checked } = await sandbox.explain({ call: { from: buyer, to: registrar, data } })
   */
  async function explain(request: ExplainCall, options?: ExplainOptions): Promise<CallExplanation>;
  /**
   * Explains typed data (EIP-712) and its signature before they are submitted: the hashes, the signer, each mistake by its name, and the answers
   * of the service and the contract now.
   *
   * @throws SandboxError argument_invalid when the typed data or the signature is malformed.
   * @example const { mistakes, signer } = await sandbox.explain({ typed_data, signature })
   */
  async function explain(request: ExplainTypedData, options?: ExplainOptions): Promise<TypedDataExplanation>;
  /**
   * Explains a reviewer's decision and its signature (Ed25519) before they are recorded: the signed bytes, each mistake by its name, and the
   * answer of the service now.
   *
   * @throws SandboxError argument_invalid when the decision or the signature is malformed.
   * @example const { mistakes, decision_bytes } = await sandbox.explain({ decision, signature })
   */
  async function explain(request: ExplainDecision, options?: ExplainOptions): Promise<DecisionExplanation>;
  async function explain(about: unknown, given: unknown = {}) {
    const options = readOptions(given);
    if (typeof about === "string" && isHash(about)) return await explainTransaction(about, options, sources);
    if (isRequest(about, "call")) return await explainCall(about.call, nameOne(about, options), sources);
    if (isRequest(about, "typed_data"))
      return await explainTypedData({ ...about, ...nameOne(about, options) }, sources);
    if (isRequest(about, "decision"))
      return await explainDecision({ ...about, ...nameOne(about, options) }, sources.services);
    throw new SandboxError(
      "argument_invalid",
      `${showValue(about)} is not a transaction hash. Pass 0x and 64 hex digits.`,
    );
  }
  return explain;
}

/** The options of an explanation, in code and in a query. */
export const explainOptionsSchema = z.strictObject({
  for: z.string().optional().meta({ description: "The id of a merchant or a purchase." }),
});

/** @throws SandboxError argument_invalid for other options. */
function readOptions(given: unknown): ExplainOptions {
  const { data } = explainOptionsSchema.safeParse(given);
  if (data !== undefined) return data;
  throw new SandboxError(
    "argument_invalid",
    `The options of explain are ${showValue(given)}. Pass { for: id }, the id of a merchant or purchase.`,
  );
}

/** Returns the id that the request or the options name. @throws SandboxError argument_invalid for two. */
function nameOne({ for: inRequest }: ExplainOptions, { for: inOptions }: ExplainOptions): ExplainOptions {
  if (inRequest === undefined || inOptions === undefined || inRequest === inOptions)
    return { for: inRequest ?? inOptions };
  throw new SandboxError(
    "argument_invalid",
    `for names ${showValue(inRequest)} and ${showValue(inOptions)}. Pass one of them.`,
  );
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
