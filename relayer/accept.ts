import { getAddress, type Hex } from "viem";
import { readBudget, requireAvailable, reservationOf, writeWithBudget } from "./budget.ts";
import type { RelayerContext } from "./context.ts";
import { SignerUnknownError } from "./errors.ts";
import { reach } from "./fault-point.ts";
import type { OperationRecord } from "./operation.ts";
import type { RelayIntent } from "./relay-intent.ts";
import { timestamp } from "./timestamp.ts";

/**
 * W1: the intent and its reservation, or the operation that the same intent already has.
 *
 * An operation that failed before it claimed a nonce is opened again, under the same id and sequence number: what refused the
 * simulation may have changed since.
 *
 * @throws GasBudgetExceededError before anything is written.
 */
export async function accept(
  context: RelayerContext,
  intent: RelayIntent,
  operationId: string,
  epoch: Hex,
): Promise<OperationRecord> {
  const existing = await context.journal.read(operationId);
  if (existing !== undefined && existing.status !== "failed") return existing;
  const from = getAddress(intent.signer);
  if (!context.accounts.has(from)) throw new SignerUnknownError(from);

  const { program, kind, subject } = intent;
  await reach(context, "before_intent", { operation_id: operationId, program, kind, subject });
  const gasLimit = context.gasLimits[kind];
  const reservation = reservationOf(gasLimit, context.fees.maxFeePerGas);
  requireAvailable(await readBudget(context, program), reservation);
  const createdAt = existing?.created_at ?? (await timestamp(context));

  const operation = await writeWithBudget(context, existing ?? null, program, (budget) => {
    requireAvailable(budget, reservation);
    return {
      operation_id: operationId,
      epoch,
      business_key: intent.businessKey,
      program,
      kind,
      subject,
      sequence: existing?.sequence ?? budget.next_sequence,
      status: "accepted",
      status_reason: null,
      nonce: null,
      nonce_floor: 0,
      from,
      to: intent.call.to,
      calldata: intent.call.data,
      decoded: { function: intent.call.function, args: intent.call.args },
      hash: null,
      transactions: [],
      gas_limit: gasLimit.toString(),
      gas_used: null,
      max_fee_per_gas: context.fees.maxFeePerGas.toString(),
      cost_wei: null,
      reserved_wei: reservation.toString(),
      block_number: null,
      block_hash: null,
      confirmations: 0,
      reorg_count: 0,
      error: null,
      created_at: createdAt,
      signed_at: null,
      broadcast_at: null,
      mined_at: null,
      confirmed_at: null,
    };
  });
  await reach(context, "after_intent", operation);
  return operation;
}
