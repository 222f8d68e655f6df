import { hashId } from "../../protocol/values/id.ts";
import type { Actor } from "../fixture/fixture-chain.ts";

/** The wallets that act, by their role. */
export const actors = {
  admin: "deployer",
  operator: "operator",
  merchant: "other_merchant",
  buyer: "buyer",
  beneficiary: "beneficiary",
  "other operator": "other_buyer",
  "commitment signer": "commitment signer",
  stranger: "stranger",
} as const satisfies { [role: string]: Actor };

/** The role of a wallet. */
export type Role = keyof typeof actors;

/** Amounts in base units. */
export const amounts = {
  purchase: 10n,
  /** The payment of a purchase that is paid in part. */
  part: 5n,
  /** A low allowance: less than a part. */
  low: 4n,
  /** Covers the purchase, and the refund of another one. */
  cap: 20n,
  /** The rest of the cap after the refund of the other purchase. */
  rest: 4n,
  newCap: 100n,
  /** Added to any other one, it needs more bits than an amount has. */
  largest: 2n ** 128n - 1n,
  /** Its lower 128 bits are one that can be bought. */
  wide: 2n ** 128n + 10n,
  maxPurchase: 12n,
  /** The rest of the budget before the purchase is offered. */
  budget: 21n,
  /** The rest of the budget while the purchase is offered, and nothing of it is paid. */
  budgetLeft: 11n,
} as const;

/** The last seconds of periods, in seconds after the start. */
export const ends = {
  offer: 1_000,
  pay: 2_000,
  claim: 3_000,
  bounds: 4_000,
  /** Of the next purchase. */
  nextOffer: 5_000,
  nextPay: 6_000,
  nextClaim: 7_000,
  funding: 9_000,
  newFunding: 12_000,
} as const;

/** The program that calls open. */
export const newProgram = hashId("prg_new");

/** The hash that no call may pass. */
export const zero = `0x${"00".repeat(32)}` as const;
