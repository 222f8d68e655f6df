import type { MutantGroup } from "./mutant.ts";

const checks = "test/check-contract/mutants.test.ts";
const attacks = "test/check-contract/attacks/attacks.test.ts";

export const binding: readonly MutantGroup[] = [
  {
    file: "protocol/binding/check-binding.ts",
    tests: [checks],
    mutants: [
      {
        rule: "A transaction in the last second of its window is in time.",
        find: "at <= to",
        replace: "at < to",
      },
      {
        rule: "A transaction in the first second of its window is in time.",
        find: "at >= from",
        replace: "at > from",
      },
      {
        rule: "The chain id of the node is the bound one.",
        find: "chain.chainId === expected.chain.chainId && ",
        replace: "",
      },
      {
        rule: "The epoch of the node is the bound one.",
        find: " && chain.epoch === expected.chain.epoch",
        replace: "",
      },
      {
        rule: "The block that includes a transaction is its first confirmation.",
        find: "Number(observed.head.number - observed.receipt.blockNumber) + 1",
        replace: "Number(observed.head.number - observed.receipt.blockNumber)",
        tests: ["test/server/domain/binding/confirmations.test.ts"],
      },
      {
        rule: "As many confirmations as are required are enough.",
        find: "ok: actual >= expected.confirmations",
        replace: "ok: actual > expected.confirmations",
        tests: ["test/server/domain/binding/confirmations.test.ts"],
      },
      {
        rule: "The block at the transaction's height lists the transaction.",
        find: "!block.includes && ",
        replace: "false && ",
      },
      {
        rule: "The transaction receipt names the height of the block at that height.",
        find: "receipt.blockNumber !== block.number",
        replace: "false",
      },
      {
        rule: "The transaction, its transaction receipt and its logs have the hash that was asked for.",
        find: 'hashes.some((hash) => hash !== observed.hash) &&\n      "',
        replace: 'false && "',
      },
      {
        rule: "The transaction, its transaction receipt and its logs are in one block.",
        find: 'blocks.some((hash) => hash !== block.hash) &&\n      "',
        replace: 'false && "',
      },
      {
        rule: "The transaction receipt names the sender that the signature recovers to.",
        find: "!(sameAddress(receipt.from, envelope.sender) && sameRecipient(receipt.to, envelope.to))",
        replace: "!sameRecipient(receipt.to, envelope.to)",
      },
      {
        rule: "A log that a reorg removed is refused.",
        find: 'receipt.logs.some((log) => log.removed) && "a log was removed"',
        replace: "false",
      },
      {
        rule: "The logs of the transaction receipt are those of the block.",
        find: "canonicalJson(toJson(receipt.logs)) !== canonicalJson(toJson(block.logs))",
        replace: "false",
      },
      {
        rule: "The transaction succeeded.",
        find: 'equal("success", observed.receipt?.status ?? null)',
        replace: 'equal("success", "success")',
      },
      {
        rule: "The sender is the bound wallet.",
        find: "ok: sameAddress(address, expected.wallet) && reason === null",
        replace: "ok: reason === null",
      },
      {
        rule: "A wallet that runs code is refused in every role.",
        find: "ok: sameAddress(address, expected.wallet) && reason",
        replace: "ok: sameAddress(address, expected.wallet) || reason",
      },
      {
        rule: "A transaction that delegates an account to code is refused.",
        find: 'observed.envelope?.type === "eip7702"',
        replace: 'observed.envelope?.type === "eip4844"',
        tests: [attacks],
        only: "EIP-7702 authorization list",
      },
      {
        rule: "The recipient is the bound contract.",
        find: "ok: sameAddress(to, expected.call.to) && ",
        replace: "ok: ",
        tests: ["test/server/domain/binding/reported-sides.test.ts"],
      },
      {
        rule: "The bound contract has the code that was pinned.",
        find: " && observed.codeHash === expected.codeHash",
        replace: "",
      },
      {
        rule: "No ether is sent along.",
        find: 'value: equal("0", ',
        replace: "value: equal(observed.envelope?.value.toString() ?? null, ",
      },
      {
        rule: "The calldata is the expected call, byte for byte.",
        find: "if (actual === null || actual === expected) return equal(expected, actual);",
        replace:
          "if (actual === null || actual.startsWith(expected)) return equal(expected, actual && expected);",
      },
      {
        rule: "A refusal for its calldata names the first byte that differs.",
        find: "return (index - 2) / 2;",
        replace: "return index / 2;",
        tests: ["test/server/domain/binding/reported-sides.test.ts"],
      },
      {
        rule: "The purchase or enrollment of a step is on chain as the service knows it.",
        find: "ok: canonicalJson(expected) === canonicalJson(actual), expected, actual",
        replace: "ok: true, expected, actual",
      },
      {
        rule: "Every expected log is there.",
        find: "ok &&= [...due.values()].flat().every(({ optional = false }) => optional);",
        replace: "",
      },
      {
        rule: "A log that may be missing may be missing.",
        find: "return next?.optional && !isEvent(entry, next) ? nextFor(entry, awaited) : next;",
        replace: "return next;",
        tests: ["test/check-contract/attacks/attacks.test.ts"],
        only: "a front-run permit",
      },
      {
        rule: "A log that may be missing is exact where it is there.",
        find: "decoded !== null && matchesLog(decoded, next);",
        replace: "decoded !== null && (next.optional === true || matchesLog(decoded, next));",
        tests: ["test/check-contract/attacks/attacks.test.ts"],
        only: "changes the amount of the permit's approval",
      },
      {
        rule: "The bound contract emits nothing beyond the expected logs.",
        find: "ok &&= next !== undefined && decoded !== null && matchesLog(decoded, next);",
        replace: "ok &&= next === undefined || (decoded !== null && matchesLog(decoded, next));",
      },
      {
        rule: "The expected logs have the expected fields.",
        find: " && matchesLog(decoded, next)",
        replace: "",
        tests: [
          "test/server/domain/binding/reported-sides.test.ts",
          "test/check-contract/attacks/attacks.test.ts",
        ],
      },
      {
        rule: "A hash that serves something else is refused.",
        find: "unused: equal(null, expected.usedBy)",
        replace: "unused: equal(null, null)",
      },
      {
        rule: "A transaction is accepted only when every check holds.",
        find: "accepted: checks.every((check) => check.ok)",
        replace: "accepted: checks.some((check) => check.ok)",
      },
    ],
  },
  {
    file: "protocol/binding/match-log.ts",
    tests: ["test/protocol/binding/log.test.ts"],
    mutants: [
      {
        rule: "A log with other data than its fields encode to is none of the event.",
        find: "encodeAbiParameters(inputs, values) !== bytes",
        replace: "false",
      },
      {
        rule: "A log with another number of topics is none of the event.",
        find: "topics.length !== event.indexed.length",
        replace: "false",
      },
      {
        rule: "A topic that is only the hash of its value is not decoded.",
        find: "!event.isDecodable || ",
        replace: "",
      },
      {
        rule: "A log carries every expected field, not only one of them.",
        find: "Object.entries(expected.fields).every(",
        replace: "Object.entries(expected.fields).some(",
        tests: [
          "test/server/domain/binding/reported-sides.test.ts",
          "test/check-contract/attacks/attacks.test.ts",
        ],
      },
    ],
  },
  {
    file: "server/domain/binding/require-bound.ts",
    tests: ["test/server/api/errors/errors.test.ts"],
    mutants: [
      {
        rule: "The refusal of a late step names its deadline.",
        find: "toChainTimestamp(Number(timely.to))",
        replace: "toChainTimestamp(Number(timely.from))",
        tests: ["test/server/domain/binding/windows.test.ts"],
      },
      {
        rule: "A late claim is reported as claim_window_closed, any other late step as deadline_passed.",
        find: 'step === "claim"',
        replace: 'step !== "claim"',
        only: "claim_window_closed",
      },
      {
        rule: "A transaction that is only used already is reported as transaction_already_used.",
        find: 'if (only("unused")) return "transaction_already_used";',
        replace: "",
        only: "transaction_already_used",
      },
      {
        rule: "A transaction that only reverted is reported as transaction_reverted.",
        find: 'if (failed.includes("status") && only(...reverted)) return "transaction_reverted";',
        replace: "",
        only: "transaction_reverted",
      },
      {
        rule: "The refusal of a wallet's transaction that reverted has the contract's error.",
        find: "members: { revert: toJson(revert) }",
        replace: "members: {}",
        tests: ["test/server/api/operations/wallets/reverted-wallets.test.ts"],
      },
      {
        rule: "A transaction before its window is a binding mismatch and not late.",
        find: " && isLate(report)",
        replace: "",
        tests: [attacks],
        only: "a transaction older than the purchase",
      },
      {
        rule: "A transaction that waits for its block is reported as unconfirmed.",
        find: "observed.receipt === null || failed",
        replace: "failed",
        only: "transaction_unconfirmed",
      },
      {
        rule: "A transaction that the chain does not know is reported as not found.",
        find: "if (observed.envelope === null)",
        replace: "if (observed.hash.length === 0)",
        only: "transaction_not_found",
      },
    ],
  },
  {
    file: "server/domain/binding/used-transactions.ts",
    tests: ["test/server/domain/binding/used-transactions.test.ts"],
    mutants: [
      {
        rule: "A hash that the same step of the same object used may be sent for it again.",
        find: "used === undefined || (used.step === use.step && used.subject === use.subject)",
        replace: "used === undefined",
        tests: ["test/server/api/errors/errors.test.ts", "test/server/http/idempotency.test.ts"],
      },
      {
        rule: "A hash that the same step of another object used is used.",
        find: "used.step === use.step && used.subject === use.subject",
        replace: "used.step === use.step",
        tests: ["test/server/domain/binding/used-transactions.test.ts"],
      },
      {
        rule: "A transaction that a reorg took is free to be used again.",
        find: '.map((key): Change => ({ kind: "delete", collection, key }))',
        replace: ".flatMap((): Change[] => [])",
        tests: [attacks],
        only: "a reorg that removes a reconciled payment",
      },
      {
        rule: "A transaction that was mined again after a reorg stays used.",
        find: ".filter((key) => !withReceipt.has(key))",
        replace: ".filter((key) => key.length > 0)",
        tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
      },
      {
        rule: "A reconciled transaction is used.",
        find: "[...hashes(({ applied }) => applied)].map(",
        replace: "[...hashes(() => [])].map(",
        tests: [attacks],
        only: "one hash for two steps",
      },
      {
        rule: "A registration or an offer that takes its place again after a reorg is confirmed though its transaction is used already.",
        find: "=== undefined ? [markTransactionUsed(use)] : [];",
        replace: "=== null ? [] : [markTransactionUsed(use)];",
        tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
      },
      {
        rule: "The transaction of a registration is used by it.",
        find: "=== undefined ? [markTransactionUsed(use)] : [];",
        replace: "=== undefined ? [] : [];",
        tests: ["test/server/domain/binding/used-transactions.test.ts"],
      },
    ],
  },
];
