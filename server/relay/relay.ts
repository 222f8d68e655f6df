import type { Hex } from "viem";
import { type Json, toJson } from "../../protocol/values/json.ts";
import { fromTimestamp } from "../../protocol/values/time.ts";
import { prefetch } from "../../relayer/prefetch.ts";
import {
  GasBudgetExceededError,
  operationId,
  RelayerError,
  type RelayIntent,
  type RelayOperation,
  type RelayOperationKind,
} from "../../relayer/relayer.ts";
import { sayRemedy } from "../binding/reverts/cause.ts";
import { explainMined } from "../binding/reverts/explain-mined.ts";
import { explainRevert } from "../binding/reverts/explain-revert.ts";
import { ChainMismatchError, type ChainRevert, ChainUnavailableError } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../http/services.ts";
import { readOnChain } from "../store/records/find.ts";
import type { PurchaseRecord } from "../store/records.ts";

/** The progress of a relayed operation: confirmed with its transaction, or still in progress. */
export type Relayed =
  | { confirmed: true; operation: RelayOperation; hash: Hex }
  | { confirmed: false; operation: RelayOperation };

/** The step's part of the intent that it has relayed. */
interface RelayedStep {
  step: "offer" | "refund";
  purchase: PurchaseRecord;
  /** Refuses a call that must no longer be sent, for an operation that the relayer has withdrawn. */
  recheck?: () => Promise<void>;
  /** Has a confirmed transaction bound to what it must be. */
  bind: (hash: Hex) => Promise<void>;
  /**
   * The refusal of what the contract did not allow, with the members that say how; null for a revert without a code of its own.
   *
   * @param mined - whether it was a transaction that reverted, and not a simulation before it.
   */
  refusalOf: (
    revert: ChainRevert,
    mined: boolean,
    members: { [name: string]: Json },
  ) => Promise<Problem | null>;
}

/** The fields that identify an effect that the relayer has once. */
type Effect = Pick<RelayIntent, "program" | "kind" | "businessKey">;

/** The relay operation of an effect on this chain, as the relayer has it now. */
export async function findRelayOperation(
  effect: Effect,
  services: Services,
): Promise<RelayOperation | undefined> {
  const { relayer, deployment } = services;
  return await relayer.read(operationId(deployment.epoch, effect));
}

/**
 * Returns whether an effect is in progress or done: the relayer then continues with it, even if it would be refused as
 * a new one, and answers with its outcome.
 */
export async function isUnderWay(effect: Effect, services: Services): Promise<boolean> {
  const operation = await findRelayOperation(effect, services);
  return operation !== undefined && operation.status !== "failed" && operation.status !== "reverted";
}

/** Returns whether an effect in progress has its transaction, which will be mined even if the step is refused now. */
export async function isSigned(effect: Effect, services: Services): Promise<boolean> {
  const nonce = (await findRelayOperation(effect, services))?.nonce ?? null;
  return nonce !== null;
}

/**
 * Returns whether a step has recorded an effect by this attempt, or by a later one. A reorg can have another
 * transaction of it mined, with a higher fee: that is not a second effect, and has no second event.
 */
export async function isRecorded(
  { attempt, hashes }: Pick<RelayOperation, "attempt" | "hashes">,
  { store }: Pick<Services, "store">,
): Promise<boolean> {
  const own = hashes.filter((one) => one.attempt >= attempt);
  const uses = await Promise.all(own.map(async ({ hash }) => await store.get("used_transactions", hash)));
  return uses.some((use) => use !== undefined);
}

/** The number of reorgs that a request repairs before it is answered as not confirmed. */
export const mostRepairs = 50;

/**
 * Relays an intent and, once its transaction is confirmed, has it bound to what it must be.
 *
 * A transaction that a reorg takes between its confirmation and the binding is not a wrong one: the operation continues, and when
 * reorgs take it again and again, it is answered as not confirmed. So is one whose block a node that lags behind does not have yet.
 *
 * @throws what {@link relay} throws, and what `bind` throws about a transaction that is still in the block where it was confirmed.
 */
export async function relayBound(
  intent: RelayIntent,
  services: Services,
  step: RelayedStep,
): Promise<Relayed> {
  for (let reorgs = 1; ; reorgs += 1) {
    const relayed = await relay(intent, services, step);
    if (!relayed.confirmed) return relayed;
    prefetch(...beginBinding(relayed, step.purchase, services));
    try {
      await step.bind(relayed.hash);
      return relayed;
    } catch (error) {
      const { operation_id, block_hash } = relayed.operation;
      await services.relayer.advance(operation_id).catch(throwRefusal);
      const now = await services.relayer.readNow(operation_id).catch(throwRefusal);
      const isSame = now?.block_hash === block_hash;
      // A node that lags behind has fewer blocks than another one had for the relayer.
      const isBehind = isSame && error instanceof Problem && error.code === "transaction_unconfirmed";
      if (now !== undefined && (isBehind || (!isSame && reorgs === mostRepairs)))
        return { confirmed: false, operation: now };
      if (isSame) throw error instanceof Problem ? error.afterEffect() : error;
    }
  }
}

/** Begins to read what the binding of a confirmed transaction needs. */
function beginBinding(
  { operation, hash }: Extract<Relayed, { confirmed: true }>,
  purchase: PurchaseRecord,
  services: Services,
): Promise<unknown>[] {
  const { to, from: wallet, block_number: number, block_hash } = operation;
  const block = number === null || block_hash === null ? {} : { block: { number, hash: block_hash } };
  return [services.chain.observe(hash, { to, wallet, ...block }), readOnChain(purchase, services)];
}

/**
 * Relays an intent, or continues with the operation that it already has.
 *
 * @throws Problem gas_budget_exceeded before any effect; transaction_reverted, or the code of what the contract did not allow, when it
 * failed; outcome_unknown when the operation needs attention.
 */
async function relay(
  intent: RelayIntent,
  services: Services,
  step: Omit<RelayedStep, "bind">,
): Promise<Relayed> {
  const operation = await services.relayer
    .submit(intent)
    .catch(throwRefusal)
    .finally(() => services.chain.renew());
  const { status, hash } = operation;
  expectBlockOf(operation, services);
  if (status === "confirmed" && hash !== null) return { confirmed: true, operation, hash };
  if (status === "needs_attention") throw unknownOutcome(operation);
  const isOpen = status !== "reverted" && status !== "failed";
  if (isOpen || (await services.relayer.waitsForEarlier(operation.operation_id)))
    return { confirmed: false, operation };
  if (operation.error?.code === "precondition_failed") {
    await step.recheck?.();
    // The precondition holds again; if it does not, the contract's refusal names the cause.
    return await relay(intent, services, step);
  }
  const revert = operation.error?.revert ?? null;
  const members = { operation: toJson(operation), revert: toJson(revert) };
  const refusal = revert && (await step.refusalOf(revert, status === "reverted", members));
  const problem = refusal ?? (await explainFailure(operation, members, step, services));
  throw status === "reverted" ? problem.afterEffect() : problem;
}

/** Notes the block of a mined transaction as the newest one, which the node may announce a moment later. */
function expectBlockOf(
  { block_number: number, block_hash: hash, mined_at }: RelayOperation,
  { chain }: Services,
): void {
  if (number === null || hash === null || mined_at === null) return;
  if (number > (chain.expected()?.number ?? -1))
    chain.expect({ number, hash, timestamp: fromTimestamp(mined_at) });
}

const nouns: { readonly [K in RelayOperationKind]: string } = {
  offer: "offer",
  collect_refund: "collection",
};

const advice = { again: "send the identical request again", never: "No repeat of this request succeeds." };

/** The refusal of an operation whose call reverted, or would have: why, what that means for its step and what to do. */
async function explainFailure(
  { kind, status, status_reason, error, decoded, from, to, calldata: data }: RelayOperation,
  members: { [name: string]: Json },
  { step, purchase }: Pick<RelayedStep, "step" | "purchase">,
  services: Services,
): Promise<Problem> {
  const message = error?.message ?? status_reason ?? status;
  const revert = error?.revert ?? { name: null, args: {} };
  const award = kind === "collect_refund" ? BigInt(String(decoded.args["award"])) : undefined;
  const about = { step, purchase, message, ...(award === undefined ? {} : { award }) };
  if (status === "reverted") {
    const mined = { call: { from, to, data }, revert: error?.revert ?? null, message };
    const { detail, retryable } = await explainMined(nouns[kind], mined, about, advice, services);
    return new Problem("transaction_reverted", detail, { members, retryable });
  }
  const cause = await explainRevert(revert, about, services);
  const then = sayRemedy(cause, advice.again, advice.never);
  const detail = `The ${nouns[kind]} was not sent: ${cause.wrong}. ${then}`;
  return new Problem("transaction_reverted", detail, { members, retryable: cause.remedy !== null });
}

/** A person has to look at what other software did; the key stays bound to the operation. */
function unknownOutcome(operation: RelayOperation): Problem {
  const { operation_id: id, nonce } = operation;
  const detail =
    nonce === null
      ? `Other software has signed with the operator's key, so ${id} was not signed. Run \`routing-sandbox resume ${id}\`, then send the identical request again.`
      : `The outcome of ${id} is not known: other software used its nonce ${nonce}. Run \`routing-sandbox resume ${id} --abandon\`, then send the identical request again.`;
  return new Problem("outcome_unknown", detail, {
    members: { operation: toJson(operation) },
    headers: { "Retry-After": "1" },
  });
}

function throwRefusal(error: unknown): never {
  if (error instanceof GasBudgetExceededError)
    throw new Problem("gas_budget_exceeded", error.message, {
      members: { required_wei: error.requiredWei.toString(), available_wei: error.availableWei.toString() },
    });
  if (!(error instanceof RelayerError)) throw error;
  if (error.code === "chain_mismatch") throw new ChainMismatchError(error.message, { cause: error });
  // A fault that the chain refuses leaves the operation where it is: the next request continues with it.
  if (error.code === "rpc_unavailable" || error.code === "rpc_refused" || error.code === "fault_invalid")
    throw new ChainUnavailableError(error.message, { cause: error });
  throw error;
}
