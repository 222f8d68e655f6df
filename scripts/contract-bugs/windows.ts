import type { ContractBug } from "./contract-bug.ts";

/** Bugs that show at another time, with another token, or after a revocation. */
export const windows: readonly ContractBug[] = [
  {
    rule: "A wallet has one active enrollment, not one for each token.",
    find: "if (active != 0) revert",
    replace: "if (active != 0 && _fundings[active].token == authorization.token) revert",
  },
  {
    rule: "A revocation ends new purchases in the same second.",
    find: "delete _active[program][msg.sender];",
    replace: "",
  },
  {
    rule: "A payment is possible long after a revocation.",
    find: "FundingRecord storage source = _fundings[record.funding];\n        ProgramRecord storage program",
    replace:
      "FundingRecord storage source = _fundings[record.funding];\n        if (source.revokedAt != 0) _requireWithin(source.revokedAt + 30 days);\n        ProgramRecord storage program",
  },
  {
    rule: "A refund is possible long after a revocation.",
    find: "_requireWithin(source.validUntil);",
    replace: "_requireWithin(source.revokedAt == 0 ? source.validUntil : source.revokedAt + 30 days);",
  },
  {
    rule: "A claim is possible long after a revocation.",
    find: "_requireWithin(record.claimDeadline);",
    replace:
      "_requireWithin(_fundings[record.funding].revokedAt == 0 ? record.claimDeadline : _fundings[record.funding].revokedAt + 30 days);",
  },
];

const signatureEnd = "eq(calldatasize(), add(start, and(add(last.length, 31), not(31))))";
const batchEnd = "eq(calldatasize(), add(second.offset, mul(32, second.length)))";

/** Bugs in what may follow canonical calldata. */
export const suffixes: readonly ContractBug[] = [
  {
    rule: "No zero word follows arguments of a fixed length.",
    find: "if (msg.data.length != expected) revert",
    replace: "if (msg.data.length != expected && msg.data.length != expected + 32) revert",
  },
  {
    rule: "No selector follows arguments of a fixed length.",
    find: "if (msg.data.length != expected) revert",
    replace: "if (msg.data.length != expected && msg.data.length != expected + 4) revert",
  },
  {
    rule: "No zero word follows a signature.",
    find: signatureEnd,
    replace: `or(${signatureEnd}, eq(calldatasize(), add(start, and(add(last.length, 63), not(31)))))`,
  },
  {
    rule: "No selector follows a signature.",
    find: signatureEnd,
    replace: `or(${signatureEnd}, eq(calldatasize(), add(start, add(4, and(add(last.length, 31), not(31))))))`,
  },
  {
    rule: "No zero word comes before a signature.",
    find: "let end := add(start, last.length)",
    replace:
      "if eq(last.offset, add(start, 32)) { start := last.offset }\n            let end := add(start, last.length)",
  },
  {
    rule: "No zero word follows a batch.",
    find: batchEnd,
    replace: `or(${batchEnd}, eq(calldatasize(), add(second.offset, mul(32, add(second.length, 1)))))`,
  },
];

/** Bugs in who draws from the funding source. */
export const draws: readonly ContractBug[] = [
  {
    rule: "The account that deployed the registrar contract draws nothing.",
    find: "if (msg.sender != registrar) revert",
    replace:
      "if (msg.sender != registrar && msg.sender != 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266) revert",
  },
  {
    rule: "The receiver draws nothing.",
    find: "if (msg.sender != registrar) revert",
    replace: "if (msg.sender != registrar && msg.sender != to) revert",
  },
  {
    rule: "A draw of nothing is refused too.",
    find: "if (msg.sender != registrar) revert",
    replace: "if (msg.sender != registrar && amount != 0) revert",
  },
];
