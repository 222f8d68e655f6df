import type { ContractBug } from "./contract-bug.ts";

/** Keeps only the low bits of a value that is stored. A field can have the name of the value, which comes after it. */
const cut = (rule: string, bits: number, find: string, value: string): ContractBug => {
  const at = find.lastIndexOf(value);
  return {
    rule: `${rule}, not in ${bits} bits.`,
    find,
    replace: `${find.slice(0, at)}uint${bits}(${value})${find.slice(at + value.length)}`,
  };
};

/** Fields and counters that keep fewer bits than the interface declares. */
export const widths: readonly ContractBug[] = [
  ...[32, 64, 96].flatMap((bits) => [
    cut("The paid amount is kept whole", bits, "record.paid = uint128(paidTotal);", "paidTotal"),
    cut("The amount is kept whole", bits, "amount: uint128(purchase_.amount),", "purchase_.amount"),
    cut("The refund is kept whole", bits, "record.refunded = uint128(award);", "award"),
    cut(
      "What a funding has paid is kept whole",
      bits,
      "source.collected = uint128(collectedTotal);",
      "collectedTotal",
    ),
    cut(
      "Open offers of any sum are kept whole",
      bits,
      "record.openOffers = uint128(openOffers + amount);",
      "openOffers + amount",
    ),
    cut(
      "The largest purchase is kept whole",
      bits,
      "record.maxPurchase = uint128(maxPurchase);",
      "maxPurchase",
    ),
    cut("The budget is kept whole", bits, "record.openBudget = uint128(openBudget);", "openBudget"),
    cut("A payment frees the whole of its amount", bits, "program.openOffers -= uint128(amount);", "amount"),
  ]),
  ...[32, 40, 48].flatMap((bits) => [
    cut(
      "The pay deadline is kept whole",
      bits,
      "payDeadline: purchase_.payDeadline,",
      "purchase_.payDeadline",
    ),
    cut(
      "The claim deadline is kept whole",
      bits,
      "claimDeadline: purchase_.claimDeadline,",
      "purchase_.claimDeadline",
    ),
    cut(
      "The end of a funding is kept whole",
      bits,
      "validUntil: authorization.validUntil,",
      "authorization.validUntil",
    ),
    cut(
      "The end of the bounds is kept whole",
      bits,
      "record.validUntil = bounds.validUntil;",
      "bounds.validUntil",
    ),
  ]),
  {
    rule: "The time of a revocation is kept whole, not in 32 bits.",
    find: "uint64 revokedAt = uint64(block.timestamp);",
    replace: "uint64 revokedAt = uint32(block.timestamp);",
  },
  {
    rule: "A deadline is compared with the whole time, not with 32 bits of it.",
    find: "if (block.timestamp > deadline) revert",
    replace: "if (uint32(block.timestamp) > deadline) revert",
  },
  {
    rule: "Fundings are numbered beyond 8 bits.",
    find: "uint64 number = ++_fundingCount;",
    replace: "uint64 number = uint8(++_fundingCount);",
  },
  {
    rule: "The events of a purchase are counted beyond 8 bits.",
    find: "uint32 sequence = ++record.sequence;",
    replace: "unchecked { record.sequence = uint8(record.sequence + 1); } uint32 sequence = record.sequence;",
  },
];
