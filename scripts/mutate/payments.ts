import type { MutantGroup } from "./mutant.ts";

const attacks = "test/check-contract/attacks/attacks.test.ts";
const reorgs = "test/server/api/operations/purchases/reorgs.test.ts";
const figures = "test/server/api/operations/purchases/figures.test.ts";

export const payments: readonly MutantGroup[] = [
  {
    file: "server/api/operations/purchases/reconcile-purchase.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A hash that is named twice is recorded once.",
        find: "[...byHash.values()].map(",
        replace: "transactions.map(",
        only: "a list that contains one payment twice",
      },
      {
        rule: "A payment that a reorg took is taken back, also when nothing new is recorded.",
        find: "applied.length + reverted.length > 0",
        replace: "applied.length > 0",
        only: "a reorg that removes a reconciled payment",
      },
      {
        rule: "A reconciliation of nothing new causes no event.",
        find: "if (changed.length === 0)",
        replace: "if (changed.length < 0)",
        tests: [figures],
      },
    ],
  },
  {
    file: "server/domain/payments/payment-ledger.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A reorg that takes a batch takes back the receipts of every purchase in it.",
        find: "if (touched && !ledgers.has(other.key))",
        replace: "if (touched && other.key.length === 0)",
        only: "a reorg that removes a batch",
      },
      {
        rule: "A batch records nothing of a purchase that may not be reconciled.",
        find: "if (stored.key !== asked.key)",
        replace: "if (stored.key.length === 0)",
        tests: ["test/server/api/operations/batches.test.ts"],
      },
      {
        rule: "A payment that the node does not list among the purchase's logs is not recorded.",
        find: "if (read.has(canonicalForm(log))) return;",
        replace: "if (read.size >= 0) return;",
        tests: ["test/server/chain/payment-logs.test.ts", attacks],
      },
      {
        rule: "A payment is reconciled by the binding check.",
        find: 'await assertBound(observed, expected, { key: hash, step: "payment", subject: hash }, services);',
        replace: "",
        only: "another buyer's valid payment",
      },
      {
        rule: "A payment that was recorded before is reported as already reconciled.",
        find: "ledger.already.push(receipt)",
        replace: "ledger.applied.push(receipt)",
        only: "a log that is submitted twice",
      },
    ],
  },
  {
    file: "server/api/views/payment-receipts.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "Two payments of one purchase in one transaction are two receipts.",
        find: " && receipt.log_index === log.logIndex",
        replace: "",
        only: "a batch that pays one purchase twice",
      },
      {
        rule: "A receipt tells the sum that was paid up to it.",
        find: 'paid_total: String(fields["paidTotal"])',
        replace: 'paid_total: String(fields["amount"])',
        tests: [figures],
      },
      {
        rule: "A payment that was mined again in another block is recorded again.",
        find: "receipt.block_hash === log.blockHash && ",
        replace: "receipt.transaction_hash === log.transactionHash && ",
        tests: [reorgs],
      },
    ],
  },
  {
    file: "server/domain/payments/payments-in-calldata.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A payment under a permit is a payment.",
        find: ' || decoded?.function === "payWithPermit"',
        replace: "",
        only: "a front-run permit",
      },
      {
        rule: "Only a payment under a permit may approve something.",
        find: "mayPermit: permit !== null, payments",
        replace: "mayPermit: true, payments",
        only: "approval log to a payment without a permit",
      },
      {
        rule: "A payment under a permit is compared with all of its permit.",
        find: "v: Number(v)",
        replace: "v: 27 + (Number(v) % 2)",
        only: "a front-run permit",
      },
      {
        rule: "A payment under a permit of another purchase is compared with the same permit.",
        find: "call: paymentCall(registrar, own, amount, permit),\n      permit,",
        replace: "call: payCall(registrar, own, amount),\n      permit,",
        tests: ["test/server/domain/binding/reported-sides.test.ts"],
        only: "under a permit of another purchase",
      },
      {
        rule: "A batch that also pays a purchase of another program is refused.",
        find: "found?.value.program === asked.program && ",
        replace: "found !== undefined && ",
        only: "a batch that also pays a purchase of another program",
      },
    ],
  },
  {
    file: "server/outbox/reconciliation-data.ts",
    tests: ["test/server/outbox/events.test.ts"],
    mutants: [
      {
        rule: "An event of a reconciliation lists fifty purchases at most.",
        find: "affected.slice(0, eventListLimit)",
        replace: "[...affected]",
      },
      {
        rule: "An event of a reconciliation tells how many payments were taken back.",
        find: "reverted: reverted.length",
        replace: "reverted: applied.length",
        tests: [reorgs],
      },
    ],
  },
];
