import type { Bug } from "../bug.ts";

/** A bug by which one check of the binding check always holds. */
function holdsAlways(name: string, rule: string, tests = "/mutants.", only = /alone fails/): Bug {
  const bug = `(original) => (...given) => {
    const checks = original(...given).checks.map((check) => ({ ...check, ok: check.ok || check.name === "${name}" }));
    return { checks, accepted: checks.every(({ ok }) => ok) };
  }`;
  return { rule, of: "checkBinding", bug, tests, only };
}

export const binding: readonly Bug[] = [
  holdsAlways("chain", "A transaction of another chain is refused."),
  holdsAlways("confirmations", "A transaction with too few confirmations is refused."),
  holdsAlways("canonical", "A transaction on whose block the node contradicts itself is refused."),
  holdsAlways(
    "status",
    "A transaction that reverted is refused.",
    "/attacks.",
    /a payment that ran out of gas/,
  ),
  holdsAlways("wallet", "A transaction of another sender than the bound wallet is refused."),
  holdsAlways("contract", "A transaction to another contract, or to other code, is refused."),
  holdsAlways(
    "value",
    "A transaction that also sends ETH is refused.",
    "/attacks.",
    /a payment that also sends ETH/,
  ),
  holdsAlways(
    "calldata",
    "A transaction with other calldata is refused.",
    "/attacks.",
    /with a trailing byte$/,
  ),
  holdsAlways("purchase", "A transaction for what the chain does not have is refused."),
  holdsAlways("log", "A transaction with other logs is refused."),
  holdsAlways("unused", "A transaction that serves another step is refused."),
  holdsAlways("timely", "A transaction outside of its window is refused."),
  {
    rule: "A transaction in the last second of its window is accepted.",
    of: "checkBinding",
    bug: (original) => (observed, expected) => {
      const { from, to } = expected.timely;
      return original(observed, { ...expected, timely: { from, to: to && to - 1 } });
    },
    tests: "/attacks.",
    only: /in the last second of the/,
  },
  {
    rule: "A bound wallet that is a contract is reported as one.",
    of: "evaluateChecks",
    bug: (original) => (observed, expected, use, services) =>
      original(observed, expected, use, { ...services, chain: { walletCode: async () => "none" } }),
    tests: "/reported-sides.",
    only: /a bound wallet that is a contract/,
  },
  {
    rule: "The sender is recovered from the signature, whatever the node says.",
    of: "recomputeEnvelope",
    bug: (original) => async (transaction) => ({
      ...(await original(transaction)),
      sender: transaction.from,
    }),
    tests: "/attacks.",
    only: /a node that returns another (sender|wallet's signature)/,
  },
  {
    rule: "A log has every expected field.",
    of: "matchesLog",
    bug: () => () => true,
    tests: "/log.",
    only: /a field that is missing or differs/,
  },
  {
    rule: "A log with more data than its fields is none of the event.",
    of: "decodeLog",
    bug: (original) => (log, event) =>
      original(log, event) ?? original({ ...log, data: log.data.slice(0, -64) }, event),
    tests: "/log.",
    only: /an extra word/,
  },
  {
    rule: "The refund of a decision has paid the decided claim.",
    of: "expectRefund",
    bug:
      (original) =>
      (...given) => {
        const expected = original(...given);
        for (const { fields } of expected.logs) delete fields.claimHash;
        return expected;
      },
    tests: "/moved-claims.",
    only: /mined behind another claim is refused for good/,
  },
  {
    rule: "Only a payment under a permit approves something.",
    of: "expectPayments",
    bug: (original) => (call, payments, asked, services) => original(call, payments, asked, services, true),
    tests: "/attacks.",
    only: /approval log to a payment without a permit/,
  },
  {
    rule: "A hash that the same step of another object used is used.",
    of: "usedBy",
    bug: (original) => async (use, services) => {
      const used = await original(use, services);
      return used?.startsWith(use.step) ? null : used;
    },
    tests: "/used-transactions.",
  },
  {
    rule: "The hash of a payment that a reorg has removed is free again.",
    of: "markPayingTransactions",
    bug: (original) => (ledgers) =>
      original(ledgers).filter(({ kind }: { kind: string }) => kind !== "delete"),
    tests: "/attacks.",
    only: /a reorg that removes a reconciled payment/,
  },
];
