import type { Hex } from "viem";
import {
  type Call,
  claimCall,
  collectRefundCall,
  expireCall,
  payBatchCall,
  payCall,
  payWithPermitCall,
  withdrawOfferCall,
} from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { amounts, ends, type Scene } from "./scene.ts";
import { operatorOf } from "./steps.ts";
import { byEveryone, define, isLate, isOutside, paidOf, type Variant, zero } from "./table-call.ts";

interface Payment extends Variant {
  amount: bigint;
}

/** The payments. */
export const payments = define<Payment>(
  (state, { by, amount, ...variant }) => ({
    WrongStatus: state.status !== "open",
    WrongCaller: by !== "buyer",
    AlreadyRefunded: state.claim === "refunded",
    ProgramPaused: state.program === "paused",
    DeadlinePassed: isLate(state, variant, ends.pay),
    AmountOutOfRange: isOutside(amount, amounts.purchase - paidOf(state)),
  }),
  (["pay", "payBatch", "payWithPermit"] as const).flatMap((how) => {
    const pay = (amount: bigint) => ({ by: "buyer", amount, call: payment(how, amount) }) as const;
    const shared = [
      ...byEveryone(how, pay(amounts.part)),
      { ...pay(amounts.part), name: `${how} one second after the pay deadline`, second: ends.pay + 1 },
      { ...pay(amounts.purchase + 1n), name: `${how} of more than the amount` },
    ];
    // Of a stranger, the buyer's permit would break a rule too.
    if (how === "payWithPermit") return shared.filter(({ by }) => by === "buyer");
    if (how === "payBatch") return shared.filter(({ by }) => by === "buyer" || by === "stranger");
    return [
      ...shared,
      { ...pay(amounts.part), name: "pay in the last second of the pay deadline", second: ends.pay },
      { ...pay(0n), name: "pay of zero" },
      { ...pay(amounts.part + 1n), name: "pay of more than a part" },
    ];
  }),
);

function payment(how: "pay" | "payBatch" | "payWithPermit", amount: bigint) {
  return ({ registrar, purchase: { id, commitment }, fixture }: Scene): Call => {
    if (how === "pay") return payCall(registrar, id, amount);
    if (how === "payBatch") return payBatchCall(registrar, [id], [amount]);
    const permit = fixture.signPermit({ value: amount, deadline: commitment.payDeadline });
    return payWithPermitCall(registrar, id, amount, permit);
  };
}

const claimWith = (hash: Hex) => ({
  hash,
  by: "beneficiary" as const,
  call: ({ registrar, purchase }: Scene) => claimCall(registrar, purchase.id, hash),
});

/** The claims. */
export const claims = define<Variant & { hash: Hex }>(
  (state, { by, hash, ...variant }) => ({
    WrongCaller: by !== "beneficiary",
    DeadlinePassed: isLate(state, variant, ends.claim),
    NothingPaid: state.paid === "nothing",
    AlreadyClaimed: state.claim === "claimed",
    AlreadyRefunded: state.claim === "refunded",
    ZeroValue: hash === zero,
  }),
  [
    ...byEveryone("claim", claimWith(hashId("claim"))),
    {
      ...claimWith(hashId("claim")),
      name: "claim in the last second of the claim deadline",
      second: ends.claim,
    },
    {
      ...claimWith(hashId("claim")),
      name: "claim one second after the claim deadline",
      second: ends.claim + 1,
    },
    { ...claimWith(zero), name: "claim with a zero hash" },
  ],
);

interface Refund extends Variant {
  award: bigint;
  decision: Hex;
}

const refundOf = (award: bigint, decision: Hex = hashId("decision")) => ({
  award,
  decision,
  call: ({ registrar, purchase }: Scene) => collectRefundCall(registrar, purchase.id, award, decision),
});

/** The refunds. */
export const refunds = define<Refund>(
  (state, { by, award, decision, afterRefund, ...variant }) => ({
    WrongCaller: by !== operatorOf(state),
    NotClaimed: state.claim === "none",
    AlreadyRefunded: state.claim === "refunded",
    AmountOutOfRange: isOutside(award, paidOf(state)),
    ZeroValue: decision === zero,
    DeadlinePassed: isLate(state, variant, ends.funding),
    FundingInsufficient: award > (afterRefund ? amounts.rest : amounts.cap),
  }),
  [
    ...byEveryone("collectRefund", refundOf(1n)),
    ...[
      { ...refundOf(amounts.part), name: "collectRefund of a part" },
      { ...refundOf(amounts.part + 1n), name: "collectRefund of more than a part" },
      { ...refundOf(amounts.purchase + 1n), name: "collectRefund of more than the amount" },
      { ...refundOf(0n), name: "collectRefund of zero" },
      { ...refundOf(1n, zero), name: "collectRefund with a zero decision hash" },
      { ...refundOf(1n), name: "collectRefund in the last second of the funding", second: ends.funding },
      { ...refundOf(1n), name: "collectRefund one second after the funding", second: ends.funding + 1 },
      {
        ...refundOf(amounts.rest),
        name: "collectRefund of the rest of the cap",
        afterRefund: true as const,
      },
      {
        ...refundOf(amounts.rest + 1n),
        name: "collectRefund above the rest of the cap",
        afterRefund: true as const,
      },
    ].map((variant) => ({ ...variant, by: "operator" as const })),
  ],
);

const withdraw = { call: ({ registrar, purchase }: Scene) => withdrawOfferCall(registrar, purchase.id) };

/** The withdrawals. */
export const withdrawals = define<Variant>(
  (state, { by, ...variant }) => ({
    WrongStatus: state.status !== "open",
    WrongRoute: state.route !== "offer",
    WrongCaller: by !== operatorOf(state),
    DeadlinePassed: state.program === "without bounds" || isLate(state, variant, ends.bounds),
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
    ...byEveryone("expire", { ...expire, second: ends.pay + 1, plainOnly: true as const }),
    ...byEveryone("expire in the last second of the pay deadline", { ...expire, second: ends.pay }).filter(
      ({ by }) => by === "stranger" || by === "admin" || by === "operator",
    ),
  ],
);
