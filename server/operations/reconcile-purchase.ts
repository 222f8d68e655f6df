import { type Hex, isAddressEqual } from "viem";
import type { DecodedLog } from "../../protocol/binding/match-log.ts";
import { toJson } from "../../protocol/json.ts";
import { toTimestamp } from "../../protocol/time.ts";
import { expectPayments } from "../binding/expectations.ts";
import { assertBound, usedBy } from "../binding/require-bound.ts";
import { findParts, findPurchase } from "../domain/find.ts";
import { paymentLogs, readClaimedPayments } from "../domain/payments.ts";
import { assertStep } from "../domain/purchase-steps.ts";
import { defineOperation } from "../http/operation.ts";
import { reconciliationData } from "../outbox/reconciliation-data.ts";
import { type PaymentReceipt, reconcilePurchaseBody, reconciliationSchema } from "../schemas/purchase.ts";
import type { Services } from "../services.ts";
import type { PurchaseRecord } from "../store/records.ts";
import type { Change, Stored } from "../store/store.ts";
import { viewPaymentReceipt } from "../views/payment-receipt.ts";
import { viewPurchase } from "../views/purchase.ts";

/** What reconciling does to one purchase. */
interface Ledger {
  stored: Stored<PurchaseRecord>;
  receipts: PaymentReceipt[];
  applied: PaymentReceipt[];
  already: PaymentReceipt[];
  reverted: PaymentReceipt[];
}

/** Operation 10: all affected receipt logs, all or none. */
export const reconcilePurchase = defineOperation({
  number: 10,
  id: "reconcilePurchase",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/reconcile",
  summary: "Reconcile receipts",
  description:
    "Records every payment log of the named transactions, of all purchases that they touch, in one write; none if one of them does not hold. " +
    "Without hashes, every payment of this purchase on the chain. Receipts that a reorganisation removed are taken back in the same write.",
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: false,
  body: reconcilePurchaseBody,
  responses: {
    200: {
      description: "What was recorded, was recorded before, and was taken back.",
      schema: reconciliationSchema,
    },
  },
  errors: [
    "not_found",
    "state_conflict",
    "transaction_not_found",
    "transaction_unconfirmed",
    "transaction_reverted",
    "transaction_already_used",
    "binding_mismatch",
    "deadline_passed",
    "rpc_unavailable",
    "chain_mismatch",
    "storage_unavailable",
  ],
  events: ["purchase.reconciled"],
  async handle({ services, program, id, body, now }) {
    const { store, chain } = services;
    const asked = await findPurchase(store, program.id, id);
    assertStep(asked.value.status, "reconcile");
    const onChain = await chain.purchase({ id: asked.value.commitment_hash, buyer: asked.value.buyer });
    const outstanding = BigInt(asked.value.amount) - onChain.paid;
    const found = onChain.payments.map(({ log }) => log.transactionHash);
    const hashes = [...new Set(body.transaction_hashes ?? found)];
    const ledgers = new Map([[id, openLedger(asked, onChain.payments)]]);
    for (const hash of hashes)
      await post(
        hash,
        { asked, outstanding, exists: onChain.exists, ledgers, at: toTimestamp(now) },
        services,
      );
    const changed = [...ledgers.values()].filter(
      ({ applied, reverted }) => applied.length + reverted.length > 0,
    );
    const parts = await findParts(store, asked.value);
    const gather = (pick: (ledger: Ledger) => PaymentReceipt[]) => [...ledgers.values()].flatMap(pick);
    const summary = {
      applied: toJson(gather(({ applied }) => applied)),
      already_reconciled: toJson(gather(({ already }) => already)),
      reverted: toJson(gather(({ reverted }) => reverted)),
      affected_purchases: [...ledgers.keys()],
    };
    if (changed.length === 0)
      return {
        kind: "write",
        status: 200,
        write: () => ({
          changes: [],
          body: { purchase: viewPurchase(asked.value, parts, onChain, services), ...summary, event_id: null },
        }),
      };
    return {
      kind: "write",
      status: 200,
      event: {
        type: "purchase.reconciled",
        data: reconciliationData(id, {
          applied: gather(({ applied }) => applied),
          reverted: gather(({ reverted }) => reverted),
          affected: [...ledgers.keys()],
        }),
      },
      write: (event_id) => {
        const changes = changed.flatMap((ledger) => changesOf(ledger, event_id));
        const receipts = ledgers.get(id)?.receipts ?? asked.value.receipts;
        const purchase = { ...asked.value, receipts, event_id };
        return {
          changes,
          body: { purchase: viewPurchase(purchase, parts, onChain, services), ...summary, event_id },
        };
      },
    };
  },
});

/** Starts a purchase's ledger: receipts that the chain no longer holds are taken back first. */
function openLedger(stored: Stored<PurchaseRecord>, payments: readonly DecodedLog[]): Ledger {
  const held = (receipt: PaymentReceipt) =>
    payments.some(({ log }) => log.blockHash === receipt.block_hash && log.logIndex === receipt.log_index);
  const receipts = stored.value.receipts.filter(held);
  const reverted = stored.value.receipts.filter((receipt) => !held(receipt));
  return { stored, receipts, applied: [], already: [], reverted };
}

/** Checks one transaction and posts each of its payments to the ledger of its purchase. */
async function post(
  hash: Hex,
  posting: {
    asked: Stored<PurchaseRecord>;
    outstanding: bigint;
    exists: boolean;
    ledgers: Map<string, Ledger>;
    at: string;
  },
  services: Services,
): Promise<void> {
  const { asked, outstanding, exists, ledgers, at } = posting;
  const observed = await services.chain.observe(hash);
  const { call, payments } = await readClaimedPayments(observed, asked, outstanding, services);
  const ours = payments.filter(({ purchase }) => isAddressEqual(purchase.buyer, asked.value.buyer));
  const expected = expectPayments(call, ours, asked.value, exists, services);
  const use = { key: hash, step: "payment", subject: hash };
  assertBound(observed, expected, await usedBy(use, services), use.step);
  for (const [index, log] of paymentLogs(observed, services).entries()) {
    const stored = payments[index]?.stored;
    if (stored === undefined) continue;
    const ledger = ledgers.get(stored.key) ?? (await openForeignLedger(stored, services));
    ledgers.set(stored.key, ledger);
    const receipt = viewPaymentReceipt(log, ledger.receipts);
    if (receipt.reconciled_at !== null) ledger.already.push(receipt);
    else {
      const recorded = { ...receipt, reconciled_at: at };
      ledger.applied.push(recorded);
      ledger.receipts.push(recorded);
    }
  }
}

async function openForeignLedger(stored: Stored<PurchaseRecord>, services: Services): Promise<Ledger> {
  const { commitment_hash, buyer } = stored.value;
  return openLedger(stored, (await services.chain.purchase({ id: commitment_hash, buyer })).payments);
}

function changesOf(ledger: Ledger, event_id: string): Change[] {
  const { stored, receipts, applied } = ledger;
  const uses = new Set(applied.map(({ transaction_hash }) => transaction_hash));
  return [
    { ...stored, kind: "update", collection: "purchases", value: { ...stored.value, receipts, event_id } },
    ...[...uses].map(
      (key): Change => ({
        kind: "put",
        collection: "used_transactions",
        key,
        value: { step: "payment", subject: key },
      }),
    ),
  ];
}
