import type { RelayerContext } from "../context.ts";
import { GasBudgetExceededError } from "../errors.ts";
import type { RelayOperationRecord } from "./relay-operation.ts";
import type { BudgetRecord, RelayerJournal } from "./relayer-journal.ts";

/** A program's gas budget as the API shows it; `limit = available + reserved + spent`, in wei. */
export interface GasBudget {
  limit_wei: string;
  reserved_wei: string;
  spent_wei: string;
  /** Below zero only when the limit was lowered, or when a reorg took back what had been settled for less. */
  available_wei: string;
}

/** Returns the highest possible cost of a transaction, in wei. */
export function reservationOf(gasLimit: bigint, maxFeePerGas: bigint): bigint {
  return gasLimit * maxFeePerGas;
}

/** A program's budget, with the limit that applies now. */
export async function readBudget(
  context: RelayerContext,
  program: string,
  journal: Pick<RelayerJournal, "budget"> = context.journal,
): Promise<BudgetRecord> {
  const stored = await journal.budget(program);
  return {
    ...(stored ?? { program, reserved_wei: "0", spent_wei: "0", next_sequence: 1 }),
    limit_wei: context.gasBudgetWei.toString(),
  };
}

/** Returns the amount left in a budget, in wei. */
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
  before: RelayOperationRecord | null,
  program: string,
  next: (budget: BudgetRecord) => RelayOperationRecord,
): Promise<RelayOperationRecord> {
  return writeAttempts(context, before, program, (budget) => ({ operation: next(budget) }));
}

/**
 * Replaces the current attempt with the next one, keeps it as superseded, and updates the budget with both.
 *
 * `next` sees the budget before the change and may throw; then nothing is written.
 */
export function supersede(
  context: RelayerContext,
  current: RelayOperationRecord,
  next: (budget: BudgetRecord) => { superseded: RelayOperationRecord; operation: RelayOperationRecord },
): Promise<RelayOperationRecord> {
  return writeAttempts(context, current, current.program, next);
}

async function writeAttempts(
  context: RelayerContext,
  before: RelayOperationRecord | null,
  program: string,
  next: (budget: BudgetRecord) => { superseded?: RelayOperationRecord; operation: RelayOperationRecord },
): Promise<RelayOperationRecord> {
  const { operation, durable } = await context.locks.run(`budget:${program}`, async () => {
    const ahead = context.journal.ahead();
    const budget = await readBudget(context, program, ahead);
    const attempts = next(budget);
    const step = { ...attempts, budget: moved(budget, before, Object.values(attempts)) };
    // Not awaited here: the next in line builds on this write before it is durable, and becomes durable after it.
    return { operation: attempts.operation, durable: ahead.write(step) };
  });
  await durable;
  return operation;
}

function moved(
  budget: BudgetRecord,
  before: RelayOperationRecord | null,
  after: readonly RelayOperationRecord[],
): BudgetRecord {
  const sum = (amounts: (string | null)[]) => amounts.reduce((wei, amount) => wei + BigInt(amount ?? 0), 0n);
  const reserved = sum(after.map(({ reserved_wei }) => reserved_wei)) - BigInt(before?.reserved_wei ?? 0);
  const spent = sum(after.map(({ cost_wei }) => cost_wei)) - BigInt(before?.cost_wei ?? 0);
  return {
    ...budget,
    reserved_wei: (BigInt(budget.reserved_wei) + reserved).toString(),
    spent_wei: (BigInt(budget.spent_wei) + spent).toString(),
    next_sequence: before === null ? budget.next_sequence + 1 : budget.next_sequence,
  };
}
