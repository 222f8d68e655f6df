import type { Bug } from "../bug.ts";

export const money: readonly Bug[] = [
  {
    rule: "The largest amount is one that the contracts can store.",
    of: "maxAmount",
    bug: (original) => original + 1n,
    tests: "/values.",
  },
  {
    rule: "All reconciled payments count.",
    of: "reconciledOf",
    bug:
      (original) =>
      ({ receipts }) =>
        original({ receipts: receipts.slice(0, 1) }),
    tests: "/figures.",
    only: /follow every payment/,
  },
  {
    rule: "A payment receipt has the sum that was paid up to it.",
    of: "viewPaymentReceipt",
    bug: (original) => (payment, reconciled) => ({
      ...original(payment, reconciled),
      paid_total: String(payment.fields.amount),
    }),
    tests: "/figures.",
    only: /is recorded when it alone is reconciled/,
  },
  {
    rule: "Two payments of one purchase in one transaction are two.",
    of: "viewPaymentReceipt",
    bug: (original) => (payment, reconciled) => {
      const { blockHash, logIndex } = payment.log;
      const moved = reconciled.map((receipt: { block_hash: string }) =>
        receipt.block_hash === blockHash ? { ...receipt, log_index: logIndex } : receipt,
      );
      return original(payment, moved);
    },
    tests: "/attacks.",
    only: /a batch that pays one purchase twice/,
  },
  {
    rule: "A payment that was mined again in another block is recorded there.",
    of: "isPaymentOnChain",
    bug:
      () =>
      (receipt, { payments }) =>
        payments.some(
          ({ log }: { log: { transactionHash: string } }) => log.transactionHash === receipt.transaction_hash,
        ),
    tests: "/attacks.",
    only: /a payment that is mined again in another block/,
  },
  {
    rule: "A payment that a reorg has removed is taken back.",
    of: "openLedger",
    bug: (original) => (stored, onChain) => ({
      ...original(stored, onChain),
      receipts: [...stored.value.receipts],
    }),
    tests: "/attacks.",
    only: /a reorg that removes a reconciled payment/,
  },
  {
    rule: "A reorg that removes a batch takes back the payments of all its purchases.",
    of: "followReverted",
    bug: () => async () => {},
    tests: "/attacks.",
    only: /a reorg that removes a batch/,
  },
  {
    rule: "A payment is reconciled by the binding check.",
    of: "assertBound",
    bug: () => async () => {},
    tests: "/attacks.",
    only: /the hash of another buyer's valid payment/,
  },
  {
    rule: "A claim is for what is reconciled at most.",
    of: "assertReconciled",
    bug: () => () => {},
    tests: "/decisions.",
    only: /a claim on payments that a reorg removed/,
  },
  {
    rule: "A step that counts on payments is refused when a reorg has removed one.",
    of: "assertPaymentsOnChain",
    bug: () => async () => {},
    tests: "/decisions.",
    only: /a claim on payments that a reorg removed/,
  },
  {
    rule: "A decision is refused when the chain has another claim than the filed one.",
    of: "assertFiledClaim",
    bug: () => () => {},
    tests: "/decisions.",
    only: /says that the chain has another claim/,
  },
  {
    rule: "No collection is sent for another claim than the decided one.",
    of: "preconditionOfRefunds",
    bug: () => () => async () => null,
    tests: "/withdrawn-refunds.",
    only: /when it was signed and held at broadcast/,
  },
  {
    rule: "A collected refund reduces what is left of a funding's cap.",
    of: "remainingOf",
    bug:
      () =>
      ({ cap }) =>
        cap,
    tests: "/refunds.",
    only: /cap leaves/,
  },
  {
    rule: "A permit is for exactly the payment.",
    of: "permitOf",
    bug:
      (original) =>
      (purchase, { amount, nonce }, deployment) =>
        original(purchase, { amount: amount + 1n, nonce }, deployment),
    tests: "/wallet-permits.",
    only: /pays in one transaction/,
  },
  {
    rule: "A purchase that is refunded, withdrawn or expired takes no payment.",
    of: "whyNotPayable",
    bug: () => () => null,
    tests: "/withdrawn-offers.",
    only: /neither to be approved nor to be paid/,
  },
  {
    rule: "An offer outside of the program's bounds is refused before anything is relayed.",
    of: "assertOfferable",
    bug: () => async () => {},
    tests: "/offer-bounds.",
    only: /above the largest purchase/,
  },
  {
    rule: "The highest cost of a transaction is reserved.",
    of: "reservationOf",
    bug: (original) => (gasLimit, maxFeePerGas) => original(gasLimit, maxFeePerGas) / 2n,
    tests: "/fault.",
    only: /while the first one waits reserves the difference/,
  },
  {
    rule: "The reservations of operations in progress are not available.",
    of: "available",
    bug: (original) => (budget) => original({ ...budget, reserved_wei: "0" }),
    tests: "/submit.",
    only: /gas budget/,
  },
  {
    rule: "A relay operation that takes the last of the gas budget is accepted.",
    of: "requireAvailable",
    bug: (original) => (budget, wei) => original(budget, wei + 1n),
    tests: "/submit.",
    only: /the last of the budget/,
  },
  {
    rule: "A transaction costs the gas that it used at the price that it paid.",
    of: "asMined",
    bug: (original) => (operation, receipt) =>
      original(operation, { ...receipt, effectiveGasPrice: BigInt(operation.max_fee_per_gas) }),
    tests: "/submit.",
    only: /with all of its fields/,
  },
  {
    rule: "A transaction that a reorg has removed reserves its gas again.",
    of: "asBroadcast",
    bug: (original) => (operation) => ({ ...original(operation), reserved_wei: "0" }),
    tests: "/reorg.",
    only: /sets a confirmed operation back/,
  },
];
