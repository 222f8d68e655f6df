import type { Hex } from "viem";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { toJson } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { bindingErrors } from "../binding/require-bound.ts";
import type { ChainPurchase, ExpectedParts } from "../chain/chain-reader.ts";
import { defineOperation } from "../http/operation.ts";
import { answerUnchanged } from "../http/outcome.ts";
import type { Services } from "../http/services.ts";
import { assertStep } from "../purchases/purchase-steps.ts";
import { viewPurchase } from "../purchases/views.ts";
import { eventListLimit, type NewEvent } from "../schemas/event-types.ts";
import { type PaymentReceipt, reconcilePurchaseBody, reconciliationSchema } from "../schemas/purchases.ts";
import { findParts, findPurchase, readOnChain } from "../store/records/find.ts";
import type { PurchaseRecord } from "../store/records.ts";
import { changesOf, followReverted, type Ledger, openLedger, postPayments } from "./payment-ledger.ts";

/** `POST …/reconcile`: all affected payment receipts, all or none. */
export const reconcilePurchase = defineOperation({
  number: 10,
  id: "reconcilePurchase",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/reconcile",
  summary: "Reconcile payments",
  description:
    "Records every payment in the named transactions, of all purchases that they pay, in one write. If one is refused, none is recorded. " +
    "Without hashes, records every payment of this purchase on the chain. Receipts that a reorg removed are deleted in the same write.",
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: false,
  body: reconcilePurchaseBody,
  responses: {
    200: {
      description: "The payment receipts that were recorded now, were recorded before, and were removed.",
      schema: reconciliationSchema,
    },
  },
  errors: ["not_found", "state_conflict", ...bindingErrors, "deadline_passed"],
  events: ["purchase.reconciled"],
  async handle({ services, program, id, body, now }) {
    const named = (body.transaction_hashes ?? []).map((hash) => ({ hash }));
    const { stored: asked, purchase } = await findPurchase(services, program.id, id, (record) => [
      readOnChain(record, services),
      observeAll(named, record, services),
    ]);
    await assertStep(purchase, "reconcile", services);
    const onChain = await readOnChain(asked.value, services);
    const paying = body.transaction_hashes ? named : payingTransactions(onChain);
    const transactions = await observeAll(paying, asked.value, services);
    const ledgers = new Map([[id, openLedger(asked, onChain)]]);
    for (const observed of transactions)
      await postPayments(observed, { asked, onChain, ledgers, at: toTimestamp(now) }, services);
    await followReverted(ledgers, onChain.asOf, services);
    const parts = await findParts(services, purchase);
    const all = [...ledgers.values()];
    const changed = all.filter(({ applied, reverted }) => applied.length + reverted.length > 0);
    const found = summarize(all);
    const summary = {
      applied: toJson(found.applied),
      already_reconciled: toJson(found.already),
      reverted: toJson(found.reverted),
      affected_purchases: found.affected,
    };
    if (changed.length === 0)
      return answerUnchanged(200, {
        purchase: viewPurchase(purchase, parts, onChain, services),
        ...summary,
        event_id: null,
      });
    return {
      kind: "write",
      status: 200,
      event: { type: "purchase.reconciled", data: reconciliationData(id, found) },
      write: (event_id) => {
        const receipts = ledgers.get(id)?.receipts ?? asked.value.receipts;
        const reconciled = { ...purchase, receipts, event_id };
        return {
          changes: changesOf(changed, event_id),
          body: { purchase: viewPurchase(reconciled, parts, onChain, services), ...summary, event_id },
        };
      },
    };
  },
});

/** A transaction that pays a purchase, with its block if that is known. */
interface PayingTransaction {
  hash: Hex;
  block?: NonNullable<ExpectedParts["block"]>;
}

/** The transactions of a purchase's payments. */
function payingTransactions({ payments }: ChainPurchase): PayingTransaction[] {
  return payments.map(({ log: { transactionHash, blockNumber, blockHash } }) => ({
    hash: transactionHash,
    block: { number: blockNumber, hash: blockHash },
  }));
}

/** Looks at each of the transactions once. */
async function observeAll(
  transactions: readonly PayingTransaction[],
  { buyer: wallet }: PurchaseRecord,
  { chain, deployment }: Services,
): Promise<ObservedTransaction[]> {
  const { address: to } = deployment.registrar;
  const byHash = new Map(transactions.map((transaction) => [transaction.hash, transaction]));
  return await Promise.all(
    [...byHash.values()].map(async ({ hash, block }) =>
      chain.observe(hash, { to, wallet, ...(block === undefined ? {} : { block }) }),
    ),
  );
}

/** Sums up the results of all purchases, and lists the purchases. */
function summarize(ledgers: readonly Ledger[]) {
  const gather = (pick: (ledger: Ledger) => PaymentReceipt[]) => ledgers.flatMap(pick);
  return {
    applied: gather(({ applied }) => applied),
    already: gather(({ already }) => already),
    reverted: gather(({ reverted }) => reverted),
    affected: ledgers.map(({ stored }) => stored.key),
  };
}

type ReconciliationData = Extract<NewEvent, { type: "purchase.reconciled" }>["data"];

/**
 * Returns the data of a reconciliation's event: the payments by their logs, cut so that the event fits into a body that
 * receivers take.
 */
export function reconciliationData(
  purchaseId: string,
  changed: {
    applied: readonly PaymentReceipt[];
    reverted: readonly PaymentReceipt[];
    affected: readonly string[];
  },
): ReconciliationData {
  const { applied, reverted, affected } = changed;
  return {
    purchase_id: purchaseId,
    applied: firstLogs(applied),
    reverted: firstLogs(reverted),
    affected_purchases: affected.slice(0, eventListLimit),
    totals: { applied: applied.length, reverted: reverted.length, affected_purchases: affected.length },
  };
}

function firstLogs(receipts: readonly PaymentReceipt[]): ReconciliationData["applied"] {
  return receipts
    .slice(0, eventListLimit)
    .map(({ transaction_hash, log_index, amount }) => ({ transaction_hash, log_index, amount }));
}
