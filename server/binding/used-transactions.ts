import type { Hex } from "viem";
import type { PaymentReceipt } from "../schemas/purchases.ts";
import type { Change, Store } from "../store/store.ts";
import type { ExplainedStep } from "./reverts/explain-revert.ts";

/** A step that a transaction can serve, and for what; a hash serves one of them once. */
export interface Use {
  /** The transaction's hash, under which the use is recorded. */
  key: Hex;
  step: ExplainedStep;
  subject: string;
}

/** Returns the existing use of a transaction, in words, or null. */
export async function usedBy(use: Use, { store }: { store: Pick<Store, "get"> }): Promise<string | null> {
  const used = (await store.get("used_transactions", use.key))?.value;
  if (used === undefined || (used.step === use.step && used.subject === use.subject)) return null;
  return `${used.step} of ${used.subject}`;
}

/** Records which step a transaction serves, so that it serves no other one. */
export function markTransactionUsed({ key, step, subject }: Use): Change {
  return { kind: "insert", collection: "used_transactions", key, value: { step, subject } };
}

/** Records it of a transaction that a reorg can have mined again, unless it was recorded the first time. */
export async function markUnlessUsed(use: Use, { store }: { store: Pick<Store, "get"> }): Promise<Change[]> {
  return (await store.get("used_transactions", use.key)) === undefined ? [markTransactionUsed(use)] : [];
}

/** The payment receipts of a purchase that one reconciliation has found. */
interface PaidLedger {
  receipts: PaymentReceipt[];
  applied: PaymentReceipt[];
  reverted: PaymentReceipt[];
}

/**
 * Marks every transaction that has a payment receipt now, and frees one that no longer has any. A transaction pays the purchases that
 * its calldata names: that it pays no other one is decided in payments-in-calldata.ts.
 */
export function markPayingTransactions(ledgers: readonly PaidLedger[]): Change[] {
  const hashes = (pick: (ledger: PaidLedger) => PaymentReceipt[]) =>
    new Set(ledgers.flatMap((ledger) => pick(ledger).map(({ transaction_hash }) => transaction_hash)));
  const withReceipt = hashes(({ receipts }) => receipts);
  const collection = "used_transactions";
  return [
    ...[...hashes(({ applied }) => applied)].map(
      (key): Change => ({ kind: "put", collection, key, value: { step: "payment", subject: key } }),
    ),
    ...[...hashes(({ reverted }) => reverted)]
      .filter((key) => !withReceipt.has(key))
      .map((key): Change => ({ kind: "delete", collection, key })),
  ];
}
