import { type Hex, maxUint256 } from "viem";
import { type Call, payBatchCall, payCall, payWithPermitCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Payer, Scene } from "../scene.ts";
import type { PurchaseState } from "../state.ts";
import { amounts, ends, type Role } from "../values.ts";
import { define, everyone, isLate, isOutside, paidOf, type Rules, type Variant } from "./table-call.ts";
import { payWithOwnPermit } from "./valid-calls.ts";

interface Payment extends Variant {
  amount: bigint;
}

/** The rules of a payment of the state's purchase, alone or in a batch. */
function paymentRules(state: PurchaseState, { by, amount, ...variant }: Payment): Rules {
  return {
    WrongStatus: state.status !== "open",
    WrongCaller: by !== "buyer",
    AlreadyRefunded: state.claim === "refunded",
    ProgramPaused: state.program === "paused",
    DeadlinePassed: isLate(state, variant, ends.pay),
    AmountOutOfRange: isOutside(amount, amounts.purchase - paidOf(state)),
  };
}

/** The payments of the purchase alone. */
export const payments = define<Payment>(
  paymentRules,
  (["pay", "payBatch", "payWithPermit"] as const).flatMap((how) => {
    const pay = (amount: bigint) => ({ by: "buyer", amount, call: payment(how, amount) }) as const;
    return [
      // The valid call first: if it is refused, so are the others.
      ...everyone
        .toSorted((left, right) => Number(right === "buyer") - Number(left === "buyer"))
        .map((by) => ({
          by,
          amount: amounts.part,
          name: `${how}${how === "payBatch" ? " of one purchase" : ""} by the ${by}`,
          call: payment(how, amounts.part, by),
        })),
      {
        ...pay(amounts.part),
        name: `${how} in the last second of the pay deadline${how === "payWithPermit" ? ", which is the permit's too" : ""}`,
        second: ends.pay,
      },
      { ...pay(amounts.part), name: `${how} one second after the pay deadline`, second: ends.pay + 1 },
      { ...pay(0n), name: `${how} of zero` },
      { ...pay(amounts.part + 1n), name: `${how} of more than a part` },
      { ...pay(amounts.purchase + 1n), name: `${how} of more than the amount` },
      { ...pay(amounts.wide), name: `${how} above 128 bits`, only: "offer, open" as const },
      ...(["open", "paid"] as const).map((status) => ({
        ...pay(maxUint256),
        name: `${how} of the largest number while it is ${status}`,
        only: `offer, ${status}` as const,
      })),
      { ...pay(amounts.part), name: `${how} of an expired purchase`, only: "offer, expired" as const },
      {
        ...pay(1n),
        name: `${how} of the last unit`,
        after: "a payment of all but one unit" as const,
        only: "offer, open" as const,
      },
    ];
  }),
);

function payment(how: "pay" | "payBatch" | "payWithPermit", amount: bigint, by?: Role) {
  return (scene: Scene): Call => {
    const { registrar, purchase } = scene;
    if (how === "pay") return payCall(registrar, purchase.id, amount);
    if (how === "payBatch") return payBatchCall(registrar, [purchase.id], [amount]);
    return payWithOwnPermit(scene, amount, by);
  };
}

/** Payments with another permit than that of the payment, those of all that can be moved, and those that cannot move tokens. */
export const transfers = define<Payment & { error?: string }>(
  (state, { error, ...payment }) => ({
    ...paymentRules(state, payment),
    ...(error === undefined ? {} : { [error]: true }),
  }),
  [
    {
      call: payment("pay", amounts.part),
      name: "pay after an enrollment in another token",
      after: "an enrollment in another token" as const,
      plainOnly: true as const,
    },
    { call: payExpired, name: "payWithPermit with an expired permit, which the allowance makes needless" },
    {
      call: payExpired,
      name: "payWithPermit with an expired permit, above the allowance",
      error: "PermitRefused",
      after: "low allowances" as const,
    },
    { call: payForged, name: "payWithPermit with a stranger's permit, which the allowance makes needless" },
    {
      call: payForged,
      name: "payWithPermit with a stranger's permit, above the allowance",
      error: "PermitRefused",
      after: "low allowances" as const,
    },
    {
      // The permit of the buyer is none of the caller's.
      call: payment("payWithPermit", amounts.part),
      by: "stranger" as const,
      name: "payWithPermit by the stranger with the buyer's permit",
      error: "PermitRefused",
      only: "offer, open" as const,
    },
    {
      call: ({ registrar, purchase: { id }, mates }: Scene) => {
        const [one, two] = mates["other operator"];
        return payBatchCall(registrar, [one, two, id, one], [1n, 1n, amounts.part, 1n]);
      },
      by: "other operator" as const,
      name: "payBatch by another buyer with the purchase third of four",
      only: "offer, open" as const,
    },
    {
      call: payment("pay", amounts.part),
      name: "pay above the allowance",
      error: "Error",
      after: "low allowances" as const,
    },
    {
      call: payment("pay", amounts.low),
      amount: amounts.low,
      name: "pay of the whole allowance",
      after: "low allowances" as const,
      only: "offer, open" as const,
    },
    {
      call: payWithLowV,
      name: "payWithPermit with a permit whose v is 0 or 1, above the allowance",
      error: "PermitRefused",
      after: "low allowances" as const,
      only: "offer, open" as const,
    },
    {
      // With the other two, it pays the whole allowance.
      call: batchAt("middle", "buyer", ({ purchase }) => [purchase.id, amounts.low - 3n]),
      amount: amounts.low - 3n,
      name: "payBatch of the whole allowance",
      after: "low allowances" as const,
      only: "offer, open" as const,
    },
    ...(["pay", "payWithPermit"] as const).map((how) => ({
      call: payment(how, amounts.part),
      name: `${how} from an infinite allowance`,
      after: "infinite allowances" as const,
      only: "offer, open" as const,
    })),
    {
      call: payUntilAnyTime,
      name: "payWithPermit with a permit without an end",
    },
    ...(["pay", "payBatch", "payWithPermit"] as const).map((how) => ({
      call: payment(how, amounts.part),
      name: `${how} of the buyer's whole balance`,
      after: "low balances" as const,
      only: "offer, open" as const,
    })),
    {
      call: payment("pay", amounts.part),
      name: "pay to a blocked merchant",
      error: "Error",
      after: "a block" as const,
    },
    {
      call: payment("payWithPermit", amounts.part),
      name: "payWithPermit to a blocked merchant",
      error: "Error",
      after: "a block" as const,
    },
  ].map((variant) => ({ by: "buyer" as const, amount: amounts.part, ...variant })),
);

function payExpired({ registrar, purchase: { id }, fixture, start }: Scene): Call {
  const permit = fixture.signPermit({ value: amounts.part, deadline: BigInt(start) });
  return payWithPermitCall(registrar, id, amounts.part, permit);
}

function payWithLowV({ registrar, purchase: { id, commitment }, fixture }: Scene): Call {
  const permit = fixture.signPermit({ value: amounts.part, deadline: commitment.payDeadline });
  return payWithPermitCall(registrar, id, amounts.part, { ...permit, v: permit.v - 27 });
}

function payForged({ registrar, purchase: { id, commitment }, fixture }: Scene): Call {
  const permit = fixture.signPermit({ value: amounts.part, deadline: commitment.payDeadline }, "stranger");
  return payWithPermitCall(registrar, id, amounts.part, permit);
}

function payUntilAnyTime({ registrar, purchase: { id }, fixture }: Scene): Call {
  const permit = fixture.signPermit({ value: amounts.part, deadline: maxUint256 });
  return payWithPermitCall(registrar, id, amounts.part, permit);
}

/** The places of a batch of three. */
const places = ["first", "middle", "last"] as const;

type Place = (typeof places)[number];

/** Where a purchase is in a batch, for the names of checks. */
const whereIn = { first: "first", middle: "in the middle", last: "last" } as const;

/** A batch that pays the state's purchase at one place, and two others that can be paid in every state. */
interface BatchPayment extends Payment {
  place: Place;
  /** An error that the call causes in every state. */
  error?: string;
}

/** Returns the batch, with `part` at a place between payments of 1 and 2 for the purchases that the payer has elsewhere. */
function batchAt(place: Place, payer: Payer, part: (scene: Scene) => readonly [id: Hex, amount: bigint]) {
  return (scene: Scene): Call => {
    const [one, two] = scene.mates[payer];
    const parts: (readonly [Hex, bigint])[] = [
      [one, 1n],
      [two, 2n],
    ];
    parts.splice(places.indexOf(place), 0, part(scene));
    return payBatchCall(
      scene.registrar,
      parts.map(([id]) => id),
      parts.map(([, amount]) => amount),
    );
  };
}

/** The batches in which the purchase is the first, in the middle or the last. */
export const batches = define<BatchPayment>(
  (state, { error, ...payment }) => ({
    ...paymentRules(state, payment),
    ...(error === undefined ? {} : { [error]: true }),
  }),
  places.flatMap((place) => {
    const pay = (amount: bigint, by: Payer = "buyer") => ({
      by,
      amount,
      place,
      readsOthers: true as const,
      call: batchAt(place, by, ({ purchase }) => [purchase.id, amount]),
    });
    const unknown = batchAt(place, "buyer", () => [hashId("unknown"), 1n]);
    return [
      { ...pay(amounts.part), name: `payBatch of both routes with the purchase ${whereIn[place]}` },
      { ...pay(0n), name: `payBatch with zero for the ${place} purchase` },
      { ...pay(amounts.part + 1n), name: `payBatch with more than a part for the ${place} purchase` },
      { ...pay(amounts.purchase + 1n), name: `payBatch with more than the amount for the ${place} purchase` },
      {
        ...pay(amounts.part),
        name: `payBatch in the last second of the pay deadline of the ${place} purchase`,
        second: ends.pay,
      },
      {
        ...pay(amounts.part),
        name: `payBatch one second after the pay deadline of the ${place} purchase`,
        second: ends.pay + 1,
      },
      {
        ...pay(amounts.part, "other operator"),
        name: `payBatch by another buyer with the purchase ${whereIn[place]}`,
      },
      {
        ...pay(amounts.part, "beneficiary"),
        name: `payBatch by the beneficiary with the purchase ${whereIn[place]}`,
      },
      {
        ...pay(amounts.part),
        name: `payBatch with an unknown purchase ${whereIn[place]}`,
        error: "UnknownPurchase",
        ignoresPurchase: true as const,
        call: unknown,
      },
      {
        ...pay(amounts.part),
        name: `payBatch with a payment above the allowance ${whereIn[place]}`,
        error: "Error",
        after: "low allowances" as const,
      },
      {
        ...pay(amounts.part),
        name: `payBatch with a blocked merchant ${whereIn[place]}`,
        error: "Error",
        after: "a block" as const,
      },
    ];
  }),
);

/** The batches whose lists are empty, or have different lengths. */
export const batchLengths = define<Variant>(
  () => ({ BatchLengths: true }),
  (
    [
      ["payBatch of nothing", 0, 0],
      ["payBatch without amounts", 1, 0],
      ["payBatch without purchases", 0, 1],
      ["payBatch with an amount too few", 2, 1],
      ["payBatch with an amount too many", 1, 2],
    ] as const
  ).map(([name, ids, parts]) => ({
    name,
    by: "buyer",
    only: "offer, open",
    call: ({ registrar, purchase, mates }: Scene) =>
      payBatchCall(registrar, [purchase.id, mates.buyer[0]].slice(0, ids), [1n, 1n].slice(0, parts)),
  })),
);

/** Returns a batch that pays the purchase two times, and another one in between. */
function payTwice(first: bigint, second: bigint) {
  return ({ registrar, purchase: { id }, mates }: Scene): Call =>
    payBatchCall(registrar, [id, mates.buyer[0], id], [first, 1n, second]);
}

/** The batches that pay the purchase two times. `amount` is the sum of both payments. */
export const repeatedPayments = define<Payment>(
  paymentRules,
  [
    { name: "payBatch with the purchase twice", call: payTwice(1n, 2n), amount: 3n },
    {
      name: "payBatch with the same payment twice",
      call: ({ registrar, purchase: { id } }: Scene) => payBatchCall(registrar, [id, id], [1n, 1n]),
      amount: 2n,
    },
    {
      name: "payBatch with the purchase twice, of its amount in sum",
      call: payTwice(amounts.part, amounts.part),
      amount: amounts.purchase,
    },
    {
      name: "payBatch with the purchase twice, of more than its amount in sum",
      // The same two times: a wrong order of the payments is a rule of its own.
      call: payTwice(amounts.part + 1n, amounts.part + 1n),
      amount: amounts.purchase + 2n,
    },
  ].map((variant) => ({ ...variant, by: "buyer" as const, readsOthers: true as const })),
);
