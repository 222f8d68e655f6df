import type { ContractBug } from "./contract-bug.ts";

/** Bugs in the funding source. */
export const fundingSource: readonly ContractBug[] = [
  {
    rule: "The merchant itself draws nothing.",
    find: "if (msg.sender != registrar) revert",
    replace: "if (msg.sender != registrar && msg.sender != from) revert",
  },
  {
    rule: "The sender of the transaction draws nothing.",
    find: "if (msg.sender != registrar) revert",
    replace: "if (msg.sender != registrar && tx.origin != registrar) revert",
  },
  {
    rule: "The account that deployed the registrar contract draws nothing.",
    find: "        registrar = msg.sender;",
    replace: "        registrar = tx.origin == msg.sender ? msg.sender : tx.origin;",
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
    rule: "A long suffix is refused.",
    find: "if (msg.data.length != expected) revert",
    replace: "if (msg.data.length != expected && msg.data.length < expected + 500) revert",
  },
  {
    rule: "An attribution suffix is refused.",
    find: "if (msg.data.length != expected) revert",
    replace:
      'if (msg.data.length != expected && (msg.data.length < expected + 16 || bytes16(msg.data[msg.data.length - 16:]) != bytes16(hex"80218021802180218021802180218021"))) revert',
  },
  {
    rule: "A signature begins right after the static arguments.",
    find: "eq(last.offset, start)",
    replace: "or(1, eq(last.offset, start))",
  },
  {
    rule: "Calldata ends with the padding of the signature.",
    find: "eq(calldatasize(), add(start, and(add(last.length, 31), not(31))))",
    replace: "iszero(lt(calldatasize(), add(start, and(add(last.length, 31), not(31)))))",
  },
  {
    rule: "The padding of a signature is not left out.",
    find: "eq(calldatasize(), add(start, and(add(last.length, 31), not(31))))",
    replace:
      "or(eq(calldatasize(), end), eq(calldatasize(), add(start, and(add(last.length, 31), not(31)))))",
  },
  {
    rule: "A signature of whole words has no padding.",
    find: "and(add(last.length, 31), not(31))",
    replace: "and(add(last.length, 32), not(31))",
  },
  {
    rule: "The padding of a signature is zero.",
    find: "iszero(calldataload(end))",
    replace: "1",
  },
  {
    rule: "Every byte of the padding of a signature is zero.",
    find: "iszero(calldataload(end))",
    replace: "iszero(byte(0, calldataload(end)))",
  },
  {
    rule: "The ids of a batch begin right after both offsets.",
    find: "eq(first.offset, 100)",
    replace: "iszero(lt(first.offset, 100))",
  },
  {
    rule: "The amounts of a batch begin right after its ids.",
    find: "eq(second.offset, add(end, 32))",
    replace: "1",
  },
  {
    rule: "A batch ends with its last amount.",
    find: "eq(calldatasize(), add(second.offset, mul(32, second.length)))",
    replace: "1",
  },
];
