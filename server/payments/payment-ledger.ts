import type { DecodedLog } from "../../protocol/binding/match-log.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { canonicalJson } from "../../protocol/values/canonical-json.ts";
import { toJson } from "../../protocol/values/json.ts";
import { expectPayments } from "../binding/expectations.ts";
import { paymentLogs, readClaimedPayments } from "../binding/payments-in-calldata.ts";
import { assertBound } from "../binding/require-bound.ts";
import { markPayingTransactions } from "../binding/used-transactions.ts";
import { type BlockPoint, type ChainPurchase, ChainUnavailableError } from "../chain/chain-reader.ts";
import type { Services } from "../http/services.ts";
import { isPaymentOnChain, removedPayments, viewPaymentReceipt } from "../purchases/payment-receipts.ts";
import { assertPaidTogether } from "../purchases/purchase-steps.ts";
import type { PaymentReceipt } from "../schemas/purchases.ts";
import { readOnChain } from "../store/records/find.ts";
import { currentPurchase } from "../store/records/status-after-reorg.ts";
import { updatePurchase } from "../store/records/update-purchase.ts";
import type { PurchaseRecord } from "../store/records.ts";
import type { Change, Stored } from "../store/store.ts";

/** The effect of reconciling on one purchase. */
export interface Ledger {
  stored: Stored<PurchaseRecord>;
  onChain: ChainPurchase;
  /** The chain's payments in canonical form. */
  read: ReadonlySet<string>;
  receipts: PaymentReceipt[];
  applied: PaymentReceipt[];
  already: PaymentReceipt[];
  reverted: PaymentReceipt[];
}

/** Starts a purchase's ledger: payment receipts that the chain no longer holds are taken back first. */
export function openLedger(stored: Stored<PurchaseRecord>, onChain: ChainPurchase): Ledger {
  const receipts = stored.value.receipts.filter((receipt) => isPaymentOnChain(receipt, onChain));
  const reverted = removedPayments(stored.value, onChain);
  const read = new Set(onChain.payments.map(canonicalForm));
  return { stored, onChain, read, receipts, applied: [], already: [], reverted };
}

/** Checks one transaction and posts each of its payments to the ledger of its purchase. */
export async function postPayments(
  observed: ObservedTransaction,
  posting: {
    asked: Stored<PurchaseRecord>;
    onChain: ChainPurchase;
    ledgers: Map<string, Ledger>;
    at: string;
  },
  services: Services,
): Promise<void> {
  const { asked, onChain, ledgers, at } = posting;
  const { hash } = observed;
  const { call, payments, mayPermit } = await readClaimedPayments(observed, asked, onChain, services);
  const expected = expectPayments(call, payments, asked.value, services, mayPermit);
  await assertBound(observed, expected, { key: hash, step: "payment", subject: hash }, services);
  const logs = paymentLogs(observed, services);
  for (const [index, { stored }] of payments.entries()) {
    const log = logs[index];
    if (stored === null || log === undefined)
      throw new Error("A payment that was accepted has a purchase and a log.");
    if (stored.key !== asked.key)
      await assertPaidTogether(await currentPurchase(stored.value, services), services);
    const ledger = ledgers.get(stored.key) ?? (await openOtherLedger(stored, onChain.asOf, services));
    ledgers.set(stored.key, ledger);
    assertRead(log, ledger);
    const receipt = viewPaymentReceipt(log, ledger.receipts);
    if (receipt.reconciled_at !== null) ledger.already.push(receipt);
    else {
      const recorded = { ...receipt, reconciled_at: at };
      ledger.applied.push(recorded);
      ledger.receipts.push(recorded);
    }
  }
}

/** Throws unless a payment receipt is among the purchase's own logs, which its figures agree with. */
function assertRead(log: DecodedLog, { stored, read }: Ledger): void {
  if (read.has(canonicalForm(log))) return;
  throw new ChainUnavailableError(
    `The node has a payment of ${stored.key} in a transaction receipt that it does not list among the purchase's logs; ask again.`,
  );
}

function canonicalForm(log: DecodedLog): string {
  return canonicalJson(toJson(log));
}

async function openOtherLedger(
  stored: Stored<PurchaseRecord>,
  asOf: BlockPoint,
  services: Services,
): Promise<Ledger> {
  return openLedger(stored, await readOnChain(stored.value, services, asOf));
}

/** A transaction that left the chain takes its payment receipts with it wherever they were recorded. */
export async function followReverted(
  ledgers: Map<string, Ledger>,
  asOf: BlockPoint,
  services: Services,
): Promise<void> {
  // A ledger that is opened on the way is itself walked: a Map's iteration reaches what is added to it.
  for (const { stored, reverted } of ledgers.values()) {
    if (reverted.length === 0) continue;
    const gone = new Set(reverted.map(({ transaction_hash }) => transaction_hash));
    for (const other of await services.store.list("purchases", { program: stored.value.program })) {
      const touched = other.value.receipts.some(({ transaction_hash }) => gone.has(transaction_hash));
      if (touched && !ledgers.has(other.key))
        ledgers.set(other.key, await openOtherLedger(other, asOf, services));
    }
  }
}

/** The changes that write ledgers: each purchase's payment receipts, and which transactions are used. */
export function changesOf(ledgers: readonly Ledger[], event_id: string): Change[] {
  const updates = ledgers.map(({ stored, receipts }) =>
    updatePurchase(stored, { ...stored.value, receipts, event_id }),
  );
  return [...updates, ...markPayingTransactions(ledgers)];
}
