import type { Hex } from "viem";
import { toJson } from "../../protocol/json.ts";
import {
  GasBudgetExceededError,
  type Operation,
  RelayerError,
  type RelayIntent,
} from "../../relayer/relayer.ts";
import { ChainMismatchError, ChainUnavailableError } from "../chain/chain.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../services.ts";

/** How far a relayed operation came: confirmed with its transaction, or still on its way. */
type Relayed =
  | { confirmed: true; operation: Operation; hash: Hex }
  | { confirmed: false; operation: Operation };

/**
 * Relays an intent and, once its transaction is confirmed, has it bound to what it must be.
 *
 * A transaction that a reorg takes between its confirmation and the binding is not a wrong one: the operation goes on.
 *
 * @throws what {@link relay} throws, and what `bind` throws about a transaction that still stands where it was confirmed.
 */
export async function relayBound(
  intent: RelayIntent,
  services: Services,
  bind: (hash: Hex) => Promise<void>,
): Promise<Relayed> {
  for (;;) {
    const relayed = await relay(intent, services);
    if (!relayed.confirmed) return relayed;
    try {
      await bind(relayed.hash);
      return relayed;
    } catch (error) {
      const { operation_id, block_hash } = relayed.operation;
      const now = await services.relayer.advance(operation_id).catch((failure: unknown) => {
        throw asRefusal(failure);
      });
      if (now.block_hash === block_hash) throw error;
    }
  }
}

/**
 * Relays an intent, or goes on with the operation that it already has.
 *
 * @throws Problem gas_budget_exceeded before any effect; transaction_reverted when it failed for good; outcome_unknown when the
 * operation needs attention.
 */
async function relay(intent: RelayIntent, services: Services): Promise<Relayed> {
  const operation = await services.relayer.submit(intent).catch((error: unknown) => {
    throw asRefusal(error);
  });
  if (operation.status === "confirmed" && operation.hash !== null)
    return { confirmed: true, operation, hash: operation.hash };
  if (operation.status === "reverted" || operation.status === "failed") throw refusalOf(operation);
  if (operation.status === "needs_attention") throw unknownOutcome(operation);
  return { confirmed: false, operation };
}

/** Whether its transaction took place can only be told by a person who looks; the key stays bound to it. */
function unknownOutcome(operation: Operation): Problem {
  const reason = operation.status_reason ?? operation.status;
  return new Problem("outcome_unknown", `The outcome of ${operation.operation_id} is not known: ${reason}.`, {
    members: { operation: toJson(operation) },
    headers: { "Retry-After": "1" },
  });
}

function refusalOf(operation: Operation): Problem {
  const revert = operation.error?.revert ?? null;
  const members = { operation: toJson(operation), revert: toJson(revert) };
  const reason = revert?.name ?? operation.error?.message ?? operation.status_reason ?? operation.status;
  if (revert?.name === "BudgetExceeded")
    return new Problem(
      "registrar_bound_exceeded",
      `The registrar's budget of open offers is used up: ${reason}.`,
      { members },
    );
  // Another refund of the same funding was collected between the look at the chain and the transaction.
  if (revert?.name === "FundingInsufficient" && operation.kind === "collect_refund")
    return new Problem(
      "funding_source_insufficient",
      `The funding's cap was used up while this refund was on its way: ${operation.hash ?? "no transaction"}.`,
      { members },
    );
  return new Problem("transaction_reverted", `The relayed ${operation.kind} failed: ${reason}.`, { members });
}

function asRefusal(error: unknown): unknown {
  if (error instanceof GasBudgetExceededError)
    return new Problem("gas_budget_exceeded", error.message, {
      members: { required_wei: error.requiredWei.toString(), available_wei: error.availableWei.toString() },
    });
  if (!(error instanceof RelayerError)) return error;
  if (error.code === "chain_mismatch") return new ChainMismatchError(error.message, { cause: error });
  if (error.code === "rpc_unavailable" || error.code === "rpc_refused")
    return new ChainUnavailableError(error.message, { cause: error });
  return error;
}
