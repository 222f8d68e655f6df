import type { Hex } from "viem";
import type { DecodedLog } from "../../protocol/binding/match-log.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { toJson } from "../../protocol/json.ts";
import { toTimestamp } from "../../protocol/time.ts";
import { expectPayments } from "../binding/expectations.ts";
import { assertBound } from "../binding/require-bound.ts";
import { type BlockPoint, type ChainPurchase, ChainUnavailableError } from "../chain/chain.ts";
import { currentPurchase } from "../domain/current-state.ts";
import { findParts, findPurchase } from "../domain/find.ts";
import { paymentLogs, readClaimedPayments } from "../domain/payments.ts";
import { assertPaidBeside, assertStep } from "../domain/purchase-steps.ts";
import { isOnChain, removedPayments } from "../domain/receipts.ts";
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
  onChain: ChainPurchase;
  /** The chain's payments in canonical form. */
  read: ReadonlySet<string>;
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
  ],
  events: ["purchase.reconciled"],
  async handle({ services, program, id, body, now }) {
    const { chain } = services;
    const { stored: asked, purchase } = await findPurchase(services, program.id, id);
    await assertStep(purchase, "reconcile", services);
    // What is named is looked at first, so that the figures below are of a block that has all of it.
    const named = await observeAll(body.transaction_hashes ?? [], services);
    const onChain = await chain.purchase({ id: asked.value.commitment_hash, buyer: asked.value.buyer });
    const found = onChain.payments.map(({ log }) => log.transactionHash);
    const transactions = body.transaction_hashes ? named : await observeAll(found, services);
    const ledgers = new Map([[id, openLedger(asked, onChain)]]);
    for (const observed of transactions)
      await post(observed, { asked, onChain, ledgers, at: toTimestamp(now) }, services);
    await followReverted(ledgers, onChain.asOf, services);
    const changed = [...ledgers.values()].filter(
      ({ applied, reverted }) => applied.length + reverted.length > 0,
    );
    const parts = await findParts(services, purchase);
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
          body: { purchase: viewPurchase(purchase, parts, onChain, services), ...summary, event_id: null },
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
        const changes = [...changed.map((ledger) => updateOf(ledger, event_id)), ...usesOf(changed)];
        const receipts = ledgers.get(id)?.receipts ?? asked.value.receipts;
        const reconciled = { ...purchase, receipts, event_id };
        return {
          changes,
          body: { purchase: viewPurchase(reconciled, parts, onChain, services), ...summary, event_id },
        };
      },
    };
  },
});

/** Starts a purchase's ledger: receipts that the chain no longer holds are taken back first. */
function openLedger(stored: Stored<PurchaseRecord>, onChain: ChainPurchase): Ledger {
  const receipts = stored.value.receipts.filter((receipt) => isOnChain(receipt, onChain));
  const reverted = removedPayments(stored.value, onChain);
  const read = new Set(onChain.payments.map(canonicalForm));
  return { stored, onChain, read, receipts, applied: [], already: [], reverted };
}

/** Looks at each of the transactions once. */
async function observeAll(hashes: readonly Hex[], { chain }: Services): Promise<ObservedTransaction[]> {
  return await Promise.all([...new Set(hashes)].map(async (hash) => await chain.observe(hash)));
}

/** Checks one transaction and posts each of its payments to the ledger of its purchase. */
async function post(
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
  const { call, payments } = await readClaimedPayments(observed, asked, onChain, services);
  const expected = expectPayments(call, payments, asked.value, services);
  await assertBound(observed, expected, { key: hash, step: "payment", subject: hash }, services);
  const logs = paymentLogs(observed, services);
  for (const [index, { stored }] of payments.entries()) {
    const log = logs[index];
    if (stored === null || log === undefined)
      throw new Error("A payment that was accepted has a purchase and a log.");
    await assertPaidBeside(await currentPurchase(stored.value, services), asked.value, services);
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

/** What a receipt says must be among the purchase's own logs, which its figures agree with. */
function assertRead(log: DecodedLog, { stored, read }: Ledger): void {
  if (read.has(canonicalForm(log))) return;
  throw new ChainUnavailableError(
    `The node has a payment of ${stored.key} in a receipt that it does not list among the purchase's logs; ask again.`,
  );
}

function canonicalForm(log: DecodedLog): string {
  return canonicalJson(toJson(log));
}

async function openOtherLedger(
  stored: Stored<PurchaseRecord>,
  asOf: BlockPoint,
  { chain }: Services,
): Promise<Ledger> {
  const { commitment_hash, buyer } = stored.value;
  return openLedger(stored, await chain.purchase({ id: commitment_hash, buyer }, asOf));
}

/** A transaction that left the chain takes its receipts with it wherever they were recorded. */
async function followReverted(
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

function updateOf({ stored, receipts }: Ledger, event_id: string): Change {
  return {
    ...stored,
    kind: "update",
    collection: "purchases",
    value: { ...stored.value, receipts, event_id },
  };
}

/** Every transaction that has a receipt now is used; one that has none any more is free again. */
function usesOf(ledgers: readonly Ledger[]): Change[] {
  const hashes = (pick: (ledger: Ledger) => PaymentReceipt[]) =>
    new Set(ledgers.flatMap((ledger) => pick(ledger).map(({ transaction_hash }) => transaction_hash)));
  const standing = hashes(({ receipts }) => receipts);
  const collection = "used_transactions";
  return [
    ...[...hashes(({ applied }) => applied)].map(
      (key): Change => ({ kind: "put", collection, key, value: { step: "payment", subject: key } }),
    ),
    ...[...hashes(({ reverted }) => reverted)]
      .filter((key) => !standing.has(key))
      .map((key): Change => ({ kind: "delete", collection, key })),
  ];
}
