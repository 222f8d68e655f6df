import { type Hex, maxUint256 } from "viem";
import { claimCall, collectRefundCall, expireCall, withdrawOfferCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Scene } from "../scene.ts";
import { claimantOf, operatorOf } from "../steps.ts";
import { amounts, ends, zero } from "../values.ts";
import { byEveryone, define, isLate, isOutside, paidOf, type Variant } from "./table-call.ts";

const claimWith = (hash: Hex) => ({
  hash,
  by: "beneficiary" as const,
  call: ({ registrar, purchase }: Scene) => claimCall(registrar, purchase.id, hash),
});

/** The claims. */
export const claims = define<Variant & { hash: Hex }>(
  (state, { by, hash, ...variant }) => ({
    WrongCaller: by !== claimantOf(state),
    DeadlinePassed: isLate(state, variant, ends.claim),
    NothingPaid: state.paid === "nothing" && variant.after === undefined,
    AlreadyClaimed: state.claim === "claimed" || variant.after === "a claim between two payments",
    AlreadyRefunded: state.claim === "refunded",
    ZeroValue: hash === zero,
  }),
  [
    ...byEveryone("claim", claimWith(hashId("claim"))),
    // The buyer may claim where it is its own beneficiary.
    ...(["beneficiary", "buyer"] as const).flatMap((by) => {
      const who = by === "buyer" ? " by the buyer" : "";
      const claim = { ...claimWith(hashId("claim")), by };
      return [
        { ...claim, name: `claim in the last second of the claim deadline${who}`, second: ends.claim },
        { ...claim, name: `claim one second after the claim deadline${who}`, second: ends.claim + 1 },
        { ...claimWith(zero), by, name: `claim with a zero hash${who}` },
      ];
    }),
    {
      ...claimWith(hashId("claim")),
      name: "claim after a claim between two payments",
      after: "a claim between two payments",
      only: "offer, open",
    },
    {
      ...claimWith(hashId("claim")),
      name: "claim with the purchase's id as its hash",
      only: "offer, paid",
      call: ({ registrar, purchase: { id } }) => claimCall(registrar, id, id),
    },
  ],
);

interface Refund extends Variant {
  award: bigint;
  decision: Hex;
  /** Whether the token refuses the transfer. */
  refusedByToken?: true;
}

const refundOf = (award: bigint, decision: Hex = hashId("decision")) => ({
  award,
  decision,
  call: ({ registrar, purchase }: Scene) => collectRefundCall(registrar, purchase.id, award, decision),
});

/** The refunds. */
export const refunds = define<Refund>(
  (state, { by, award, decision, after, refusedByToken, ...variant }) => ({
    WrongCaller: by !== operatorOf(state),
    NotClaimed: state.claim === "none" && after !== "a claim",
    AlreadyRefunded: state.claim === "refunded",
    AmountOutOfRange: isOutside(award, paidOf(state)),
    ZeroValue: decision === zero,
    DeadlinePassed: isLate(state, variant, ends.funding),
    Error: refusedByToken === true,
    FundingInsufficient: award > (after === "a refund" ? amounts.rest : amounts.cap),
  }),
  [
    ...byEveryone("collectRefund", refundOf(1n)),
    ...[
      { ...refundOf(amounts.part), name: "collectRefund of a part" },
      {
        ...refundOf(1n),
        name: "collectRefund after an enrollment in another token",
        after: "an enrollment in another token" as const,
        plainOnly: true as const,
      },
      {
        ...refundOf(1n),
        name: "collectRefund of what is claimed after all other calls",
        after: "a claim" as const,
        plainOnly: true as const,
      },
      { ...refundOf(amounts.part + 1n), name: "collectRefund of more than a part" },
      { ...refundOf(amounts.purchase + 1n), name: "collectRefund of more than the amount" },
      {
        ...refundOf(amounts.part),
        name: "collectRefund above the allowance",
        after: "low allowances" as const,
        refusedByToken: true as const,
      },
      {
        ...refundOf(1n),
        name: "collectRefund from a blocked merchant",
        after: "a block" as const,
        refusedByToken: true as const,
      },
      { ...refundOf(0n), name: "collectRefund of zero" },
      { ...refundOf(1n, zero), name: "collectRefund with a zero decision hash" },
      { ...refundOf(amounts.part, zero), name: "collectRefund of a part with a zero decision hash" },
      { ...refundOf(amounts.purchase, zero), name: "collectRefund of all with a zero decision hash" },
      { ...refundOf(amounts.purchase), name: "collectRefund of all" },
      { ...refundOf(1n), name: "collectRefund in the last second of the funding", second: ends.funding },
      { ...refundOf(1n), name: "collectRefund one second after the funding", second: ends.funding + 1 },
      {
        ...refundOf(amounts.rest),
        name: "collectRefund of the rest of the cap",
        after: "a refund" as const,
      },
      {
        ...refundOf(amounts.rest + 1n),
        name: "collectRefund above the rest of the cap",
        after: "a refund" as const,
      },
    ].map((variant) => ({ ...variant, by: "operator" as const })),
  ],
);

const refundOther = (award: bigint) => ({
  call: ({ registrar, other }: Scene) => collectRefundCall(registrar, other.id, award, hashId("decision")),
});

/**
 * The refunds of another purchase that is claimed: with a decision hash that is another hash of the purchase too, of all that can be drawn, of too much,
 * after two changes, and by a merchant that is enrolled twice.
 */
export const otherRefunds = define<Variant & { errors?: readonly string[] }>(
  (_state, { errors = [] }) => Object.fromEntries(errors.map((error) => [error, true])),
  [
    {
      name: "collectRefund with the claim's hash as the decision hash",
      call: ({ registrar, other }: Scene) => collectRefundCall(registrar, other.id, 1n, hashId("claim")),
    },
    {
      name: "collectRefund with the purchase's id as the decision hash",
      call: ({ registrar, other }: Scene) => collectRefundCall(registrar, other.id, 1n, other.id),
    },
    {
      ...refundOther(1n),
      name: "collectRefund of the merchant's whole balance",
      after: "low balances" as const,
    },
    {
      ...refundOther(amounts.low),
      name: "collectRefund above the merchant's balance",
      after: "low balances" as const,
      errors: ["Error"],
    },
    {
      call: refundOf(amounts.purchase).call,
      name: "collectRefund of two payments, with the claim between them",
      after: "a claim between two payments" as const,
    },
    {
      ...refundOther(amounts.low),
      name: "collectRefund of the merchant's whole allowance",
      after: "low allowances" as const,
    },
    {
      ...refundOther(1n),
      name: "collectRefund from an infinite allowance",
      after: "infinite allowances" as const,
    },
    {
      ...refundOther(1n),
      name: "collectRefund to a blocked beneficiary",
      after: "a block of the beneficiary" as const,
      errors: ["Error"],
    },
    {
      call: refundOf(1n).call,
      name: "collectRefund in the second of a refund of one unit",
      after: "a refund of one unit" as const,
      errors: ["AlreadyRefunded"],
    },
    {
      ...refundOther(1n),
      name: "collectRefund after a revocation, and the end of the bounds",
      after: "a revocation, and the end of the bounds" as const,
    },
    {
      ...refundOther(amounts.wide),
      name: "collectRefund above 128 bits",
      // It is above what was paid, and above the cap.
      errors: ["AmountOutOfRange", "FundingInsufficient"],
    },
    {
      ...refundOther(maxUint256),
      name: "collectRefund of the largest number",
      errors: ["AmountOutOfRange", "FundingInsufficient"],
    },
    {
      ...refundOther(1n),
      name: "collectRefund of a merchant that is enrolled in two programs",
      after: "an enrollment in another program" as const,
      readsOthers: true as const,
    },
  ].map((variant) => ({ ...variant, by: "operator" as const, only: "offer, open" as const })),
);

const withdraw = { call: ({ registrar, purchase }: Scene) => withdrawOfferCall(registrar, purchase.id) };

/** The withdrawals. */
export const withdrawals = define<Variant>(
  (state, { by, ...variant }) => ({
    WrongStatus: state.status !== "open",
    WrongRoute: state.route !== "offer",
    WrongCaller: by !== operatorOf(state),
    DeadlinePassed:
      state.program === "without bounds" ||
      isLate(state, variant, variant.after === "longer bounds" ? ends.newFunding : ends.bounds),
    NothingOutstanding: state.paid === "all",
  }),
  [
    ...byEveryone("withdrawOffer", withdraw),
    {
      ...withdraw,
      by: "operator",
      name: "withdrawOffer in the last second of the bounds",
      second: ends.bounds,
    },
    {
      ...withdraw,
      by: "operator",
      name: "withdrawOffer one second after the bounds",
      second: ends.bounds + 1,
    },
    {
      ...withdraw,
      by: "operator",
      name: "withdrawOffer after the end of the funding, under longer bounds",
      second: ends.funding + 1,
      after: "longer bounds",
      only: "offer, open",
    },
    {
      ...withdraw,
      by: "operator",
      name: "withdrawOffer of the last unit",
      after: "a payment of all but one unit",
      only: "offer, open",
    },
  ],
);

const expire = { call: ({ registrar, purchase }: Scene) => expireCall(registrar, purchase.id) };

/** The expiries. */
export const expiries = define<Variant>(
  (state, variant) => ({
    WrongStatus: state.status !== "open",
    DeadlineNotPassed: !isLate(state, variant, ends.pay),
    NothingOutstanding: state.paid === "all",
  }),
  [
    { ...expire, by: "stranger", name: "expire one second after the pay deadline", second: ends.pay + 1 },
    { ...expire, by: "stranger", name: "expire after the claim deadline", second: ends.claim + 1 },
    {
      ...expire,
      by: "stranger",
      name: "expire of the last unit",
      second: ends.pay + 1,
      after: "a payment of all but one unit",
      only: "offer, open",
    },
    { ...expire, by: "stranger", name: "expire after the end of the funding", second: ends.newFunding + 1 },
    ...byEveryone("expire", { ...expire, second: ends.pay + 1, plainOnly: true as const }),
    ...byEveryone("expire in the last second of the pay deadline", { ...expire, second: ends.pay }).map(
      (variant) => (variant.by === "stranger" ? variant : { ...variant, plainOnly: true as const }),
    ),
  ],
);
