import type { RelayerContext } from "./context.ts";
import { GasBudgetExceededError } from "./errors.ts";
import type { BudgetRecord, Journal } from "./journal.ts";
import type { OperationRecord } from "./operation.ts";

/** A program's gas budget as the API shows it; `limit = available + reserved + spent`, in wei. */
export interface GasBudget {
  limit_wei: string;
  reserved_wei: string;
  spent_wei: string;
  /** Below zero only when the limit was lowered, or when a reorg took back what had been settled for less. */
  available_wei: string;
}

/** What a transaction can cost at most. */
export function reservationOf(gasLimit: bigint, maxFeePerGas: bigint): bigint {
  return gasLimit * maxFeePerGas;
}

/** A program's budget, with the limit that applies now. */
export async function readBudget(
  context: RelayerContext,
  program: string,
  journal: Pick<Journal, "budget"> = context.journal,
): Promise<BudgetRecord> {
  const stored = await journal.budget(program);
  return {
    ...(stored ?? { program, reserved_wei: "0", spent_wei: "0", next_sequence: 1 }),
    limit_wei: context.gasBudgetWei.toString(),
  };
}

/** What is left of a budget. */
export function available(budget: BudgetRecord): bigint {
  return BigInt(budget.limit_wei) - BigInt(budget.reserved_wei) - BigInt(budget.spent_wei);
}

/** The budget as the API shows it. */
export function toGasBudget(budget: BudgetRecord): GasBudget {
  const { limit_wei, reserved_wei, spent_wei } = budget;
  return { limit_wei, reserved_wei, spent_wei, available_wei: available(budget).toString() };
}

/** @throws GasBudgetExceededError when less than `wei` is left. */
export function requireAvailable(budget: BudgetRecord, wei: bigint): void {
  const left = available(budget);
  if (left < wei) throw new GasBudgetExceededError(budget.program, wei, left);
}

/**
 * Writes an operation together with what its change means for the budget: the difference of what it reserves and of
 * what it has cost.
 *
 * `next` sees the budget before the change and may throw; then nothing is written.
 */
export async function writeWithBudget(
  context: RelayerContext,
  before: OperationRecord | null,
  program: string,
  next: (budget: BudgetRecord) => OperationRecord,
): Promise<OperationRecord> {
  const { operation, durable } = await context.locks.run(`budget:${program}`, async () => {
    const ahead = context.journal.ahead();
    const budget = await readBudget(context, program, ahead);
    const operation = next(budget);
    const step = { operation, budget: moved(budget, before, operation) };
    // Not awaited here: the next in line builds on this write before it is durable, and becomes durable after it.
    return { operation, durable: ahead.write(step) };
  });
  await durable;
  return operation;
}

function moved(budget: BudgetRecord, before: OperationRecord | null, after: OperationRecord): BudgetRecord {
  const reserved = BigInt(after.reserved_wei) - BigInt(before?.reserved_wei ?? 0);
  const spent = BigInt(after.cost_wei ?? 0) - BigInt(before?.cost_wei ?? 0);
  return {
    ...budget,
    reserved_wei: (BigInt(budget.reserved_wei) + reserved).toString(),
    spent_wei: (BigInt(budget.spent_wei) + spent).toString(),
    next_sequence: before === null ? budget.next_sequence + 1 : budget.next_sequence,
  };
}
