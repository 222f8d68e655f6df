import type { ContractBug } from "./contract-bug.ts";

/** Bugs in the funding source. */
export const fundingSource: readonly ContractBug[] = [
  {
    rule: "The merchant itself draws nothing.",
    find: "if (msg.sender != registrar) revert",
    replace: "if (msg.sender != registrar && msg.sender != from) revert",
  },
  {
    rule: "The deployer is the registrar contract, not the sender of its transaction.",
    find: "registrar = msg.sender;",
    replace: "registrar = tx.origin;",
  },
  {
    rule: "A draw moves from the merchant to the beneficiary.",
    find: "exactTransferFrom(from, to, amount)",
    replace: "exactTransferFrom(to, from, amount)",
  },
];

/** Bugs in exact transfers. */
export const exactTransfer: readonly ContractBug[] = [
  {
    rule: "A token that returns false is named as the one that failed.",
    find: "token.safeTransferFrom(from, to, amount);",
    replace: "token.trySafeTransferFrom(from, to, amount);",
  },
  {
    rule: "A receiver gets no more than the amount.",
    find: "if (actual != toExpected) revert",
    replace: "if (actual < toExpected) revert",
  },
  {
    rule: "A sender loses no less than the amount.",
    find: "if (actual != fromExpected) {",
    replace: "if (actual < fromExpected) {",
  },
];

/** Bugs in the comparison of calldata. */
export const canonicalCalldata: readonly ContractBug[] = [
  {
    rule: "A single trailing byte is refused.",
    find: "if (msg.data.length != expected) revert",
    replace: "if (msg.data.length / 32 != expected / 32) revert",
  },
  {
    rule: "Calldata of the canonical length is compared byte for byte.",
    find: "bytes32 actual = keccak256(msg.data);",
    replace: "bytes32 actual = msg.data.length == encoded.length ? keccak256(encoded) : keccak256(msg.data);",
  },
];
