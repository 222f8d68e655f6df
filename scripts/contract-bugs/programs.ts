import type { ContractBug } from "./contract-bug.ts";

/** Bugs in programs and their bounds. */
export const programs: readonly ContractBug[] = [
  {
    rule: "The caller that opens a program is its admin.",
    find: "record.admin = msg.sender;\n        _setBounds",
    replace: "record.admin = operator;\n        _setBounds",
  },
  {
    rule: "New bounds leave the open offers as they are.",
    find: "record.maxPurchase = uint128(maxPurchase);",
    replace: "record.maxPurchase = uint128(maxPurchase); record.openOffers = 0;",
  },
  {
    rule: "New bounds do not end a pause.",
    find: "record.commitmentSigner = commitmentSigner;",
    replace: "record.commitmentSigner = commitmentSigner; record.paused = false;",
  },
  {
    rule: "The largest purchase and the budget are two bounds.",
    find: "record.openBudget = uint128(openBudget);",
    replace: "record.openBudget = uint128(maxPurchase);",
  },
  {
    rule: "A bound can be as large as half a slot, and no larger.",
    find: "MAX_AMOUNT = type(uint128).max;",
    replace: "MAX_AMOUNT = type(uint256).max;",
  },
  {
    rule: "The wallet itself calls, not a contract that it calls.",
    find: "if (msg.sender != expected) revert WrongCaller(msg.sender, expected);",
    replace: "if (tx.origin != expected) revert WrongCaller(msg.sender, expected);",
  },
];

/** Bugs in enrollments and revocations. */
export const enrollment: readonly ContractBug[] = [
  {
    rule: "A merchantRef is used once, also after a revocation.",
    find: "if (taken != 0) revert",
    replace: "if (taken != 0 && _fundings[taken].revokedAt == 0) revert",
  },
  {
    rule: "A wallet can be enrolled in several programs.",
    find: "uint64 active = _active[program][msg.sender];",
    replace: "uint64 active = _active[0][msg.sender]; _active[0][msg.sender] = 1;",
  },
  {
    rule: "The commitment signer signs, not the admin.",
    find: "address signer = record.commitmentSigner;",
    replace: "address signer = record.admin;",
  },
  {
    rule: "The commitment signer signs, not the operator.",
    find: "address signer = record.commitmentSigner;",
    replace: "address signer = record.operator;",
  },
  {
    rule: "A cap of any size is stored whole.",
    find: "cap: uint128(authorization.cap),",
    replace: "cap: uint64(authorization.cap),",
  },
  {
    rule: "An authorization's validity is in the digest as a uint64.",
    find: "uint256 cap,uint64 validUntil,bytes32 salt)",
    replace: "uint256 cap,uint256 validUntil,bytes32 salt)",
  },
  {
    rule: "The admin revokes no merchant's funding.",
    find: "_requireCaller(source.wallet);",
    replace: "if (msg.sender != _programs[program].admin) _requireCaller(source.wallet);",
  },
  {
    rule: "A revocation leaves the enrolled validity.",
    find: "source.revokedAt = revokedAt;",
    replace: "source.revokedAt = revokedAt; source.validUntil = uint64(block.timestamp);",
  },
  {
    rule: "A revocation leaves the cap.",
    find: "source.revokedAt = revokedAt;",
    replace: "source.revokedAt = revokedAt; source.cap = source.collected;",
  },
];
