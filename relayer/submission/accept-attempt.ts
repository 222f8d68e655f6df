import { type Address, getAddress, type Hex } from "viem";
import type { Call } from "../../protocol/call.ts";
import type { RelayerContext } from "../context.ts";
import { SignerUnknownError } from "../errors.ts";
import { reach } from "../faults/fault-effects.ts";
import {
  readBudget,
  requireAvailable,
  reservationOf,
  supersede,
  writeWithBudget,
} from "../journal/gas-budget.ts";
import {
  type RelayOperationKind,
  type RelayOperationRecord,
  unsignedAttempt,
} from "../journal/relay-operation.ts";
import type { BudgetRecord } from "../journal/relayer-journal.ts";
import { timestamp } from "../journal/timestamp.ts";
import { hasLiveAttempt } from "./earlier-attempts.ts";
import { feesOf } from "./sign.ts";
import { simulateNow } from "./simulate.ts";

/**
 * W1: the intent and its reservation, or the operation that the same intent already has.
 *
 * An attempt that failed before it claimed a nonce is opened again, under the same id and sequence number: what refused the
 * simulation may have changed since.
 *
 * @throws GasBudgetExceededError before anything is written.
 */
export async function accept(
  context: RelayerContext,
  intent: RelayIntent,
  operationId: string,
  epoch: Hex,
): Promise<RelayOperationRecord> {
  const existing = await context.journal.read(operationId);
  if (existing === undefined) {
    const first = { operation_id: operationId, epoch, subject: intent.subject, attempt: 1 };
    return reserve(context, intent, first, (accepted) =>
      writeWithBudget(context, null, intent.program, accepted),
    );
  }
  if (existing.status !== "failed" || (await hasLiveAttempt(context, existing))) return existing;
  return reserve(context, intent, existing, (accepted) =>
    writeWithBudget(context, existing, intent.program, accepted),
  );
}

/**
 * W1 of the next attempt of an operation whose transaction reverted, if its call would succeed now. The reverted attempt is kept, so
 * that a reorg that removes its transaction finds it.
 *
 * @returns null while the call would revert again, or an earlier attempt could still be mined.
 * @throws GasBudgetExceededError, RpcUnavailableError and RpcRefusedError before anything is written.
 */
export async function acceptAgain(
  context: RelayerContext,
  intent: RelayIntent,
  reverted: RelayOperationRecord,
): Promise<RelayOperationRecord | null> {
  if (await hasLiveAttempt(context, reverted)) return null;
  if ((await simulateNow(context, reverted)) !== null) return null;
  const next = { ...reverted, attempt: reverted.attempt + 1 };
  return reserve(context, intent, next, (accepted) =>
    supersede(context, reverted, (budget) => ({
      superseded: { ...reverted, superseded: true },
      operation: accepted(budget),
    })),
  );
}

/** The fields that the attempts of an operation have in common; the first one gets a sequence number and a time. */
type Kept = Pick<RelayOperationRecord, "operation_id" | "epoch" | "subject" | "attempt"> &
  Partial<Pick<RelayOperationRecord, "sequence" | "created_at">>;

/** Writes an accepted attempt with its reservation, between the fault points of W1. */
async function reserve(
  context: RelayerContext,
  intent: RelayIntent,
  kept: Kept,
  write: (accepted: (budget: BudgetRecord) => RelayOperationRecord) => Promise<RelayOperationRecord>,
): Promise<RelayOperationRecord> {
  const from = getAddress(intent.signer);
  if (!context.accounts.has(from)) throw new SignerUnknownError(from);
  const { program, kind, call } = intent;
  const { operation_id, epoch, subject, attempt } = kept;
  await reach(context, "before_intent", { operation_id, program, kind, subject });
  const gasLimit = context.gasLimits[kind];
  const { maxFeePerGas } = await feesOf(context);
  const reservation = reservationOf(gasLimit, maxFeePerGas);
  requireAvailable(await readBudget(context, program), reservation);
  const created_at = kept.created_at ?? (await timestamp(context));
  const operation = await write((budget) => {
    requireAvailable(budget, reservation);
    return unsignedAttempt({
      operation_id,
      epoch,
      business_key: intent.businessKey,
      program,
      kind,
      subject,
      sequence: kept.sequence ?? budget.next_sequence,
      attempt,
      status: "accepted",
      status_reason: null,
      from,
      to: call.to,
      calldata: call.data,
      decoded: { function: call.function, args: call.args },
      gas_limit: gasLimit.toString(),
      max_fee_per_gas: maxFeePerGas.toString(),
      reserved_wei: reservation.toString(),
      created_at,
    });
  });
  await reach(context, "after_intent", operation);
  return operation;
}

/** One call that a program wants on chain, once. */
export interface RelayIntent {
  program: string;
  kind: RelayOperationKind;
  /** The object that the API shows the operation under. */
  subject: { type: "purchase" | "refund"; id: string };
  /** The key of the effect that must happen once: the commitment hash of an offer, the decision hash of a refund. */
  businessKey: Hex;
  call: Call;
  /** The program operator's account; the relayer must hold its key. */
  signer: Address;
}
