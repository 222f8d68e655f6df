import type { Hex } from "viem";
import {
  type Call,
  claimCall,
  collectRefundCall,
  expireCall,
  offerCall,
  openProgramCall,
  payBatchCall,
  payCall,
  payWithPermitCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
  withdrawOfferCall,
} from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { actors, amounts, ends, type Role, type Scene } from "./scene.ts";
import type { PurchaseState } from "./state.ts";
import { operatorOf, secondOf } from "./steps.ts";

/** A call that is tried in every state. */
export interface TableCall {
  /** The call with its caller, such as "collectRefund by the admin". */
  name: string;
  by: Role;
  call: (scene: Scene) => Call;
  /** In seconds after the start; by default as soon as the state is reached. */
  second?: number;
  /** Whether the other purchase of the funding is refunded first. */
  afterRefund?: true;
  /** Whether the call neither reads nor changes the purchase, so that it succeeds in the same way whatever its state is. */
  ignoresPurchase?: true;
  /** Whether the call is tried only while the funding is active and the program runs. */
  plainOnly?: true;
  /** The errors of the rules that the call breaks in a state; the call must succeed if there are none. */
  broken: (state: PurchaseState) => readonly string[];
}

/** The rules of a call by their errors, and whether the call breaks them. */
interface Rules {
  readonly [error: string]: boolean;
}

type Variant = Omit<TableCall, "broken">;

const zero = `0x${"00".repeat(32)}` as const;
const everyone = Object.keys(actors) as Role[];

/** Returns the calls of one function, which has these rules. */
function define<V extends Variant>(
  rules: (state: PurchaseState, variant: V) => Rules,
  variants: readonly V[],
): readonly TableCall[] {
  return variants.map((variant) => ({
    ...variant,
    broken: (state) =>
      Object.entries(rules(state, variant)).flatMap(([error, isBroken]) => (isBroken ? [error] : [])),
  }));
}

/** Returns one call for each role. */
function byEveryone<V>(name: string, variant: V): (V & { name: string; by: Role })[] {
  return everyone.map((by) => ({ ...variant, name: `${name} by the ${by}`, by }));
}

function isLate(state: PurchaseState, { second }: { second?: number }, end: number): boolean {
  return (second ?? secondOf(state)) > end;
}

function paidOf({ paid }: PurchaseState): bigint {
  return { nothing: 0n, "a part": amounts.part, all: amounts.purchase }[paid];
}

function isOutside(amount: bigint, largest: bigint): boolean {
  return amount < 1n || amount > largest;
}

interface Payment extends Variant {
  amount: bigint;
}

const payments = define<Payment>(
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
    if (how !== "pay") return shared.filter(({ by }) => by === "buyer" || by === "stranger");
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

const claims = define<Variant & { hash: Hex }>(
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

const refunds = define<Refund>(
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

const withdrawals = define<Variant>(
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

const expiries = define<Variant>(
  (state, variant) => ({
    WrongStatus: state.status !== "open",
    DeadlineNotPassed: !isLate(state, variant, ends.pay),
    NothingOutstanding: state.paid === "all",
  }),
  [
    { ...expire, by: "stranger", name: "expire one second after the pay deadline", second: ends.pay + 1 },
    ...byEveryone("expire", { ...expire, second: ends.pay + 1, plainOnly: true as const }),
    ...byEveryone("expire in the last second of the pay deadline", { ...expire, second: ends.pay }),
  ],
);

const revoke = (which: "merchantRef" | "newMerchantRef") => ({
  which,
  ignoresPurchase: true as const,
  call: (scene: Scene) => revokeFundingCall(scene.registrar, scene.program, scene[which]),
});

const revocations = define<Variant & { which: "merchantRef" | "newMerchantRef" }>(
  (state, { by, which }) => {
    if (which === "newMerchantRef" && state.funding !== "re-enrolled") return { UnknownFunding: true };
    return {
      WrongCaller: by !== "merchant",
      AlreadyRevoked: which === "merchantRef" && state.funding !== "active",
    };
  },
  [
    ...byEveryone("revokeFunding", revoke("merchantRef")),
    ...byEveryone("revokeFunding of a new enrollment", revoke("newMerchantRef")),
  ],
);

interface NewPurchase extends Variant {
  amount: bigint;
}

/** The rules of a new purchase, by both routes. */
function newPurchaseRules(state: PurchaseState, { amount, second, afterRefund }: NewPurchase): Rules {
  const enrolled = state.funding !== "revoked";
  const rest = state.funding === "re-enrolled" ? amounts.newCap : afterRefund ? amounts.rest : amounts.cap;
  return {
    ProgramPaused: state.program === "paused",
    AmountOutOfRange: amount < 1n,
    DeadlinePassed: (second ?? 0) > ends.nextOffer,
    NotEnrolled: !enrolled,
    FundingInsufficient: enrolled && amount > rest,
  };
}

const next = (route: typeof registerCall) => (amount: bigint) => ({
  amount,
  ignoresPurchase: true as const,
  call: ({ registrar, next: purchase }: Scene) => {
    const { commitment, signature } = purchase(amount);
    return route(registrar, commitment, signature);
  },
});
const register = next(registerCall);
const offer = next(offerCall);

const registrations = define<NewPurchase>(
  (state, variant) => ({ ...newPurchaseRules(state, variant), WrongCaller: variant.by !== "merchant" }),
  [
    ...byEveryone("register", register(amounts.purchase)),
    ...[
      { ...register(0n), name: "register with an amount of zero" },
      { ...register(amounts.maxPurchase + 1n), name: "register above the largest offer" },
      { ...register(amounts.cap), name: "register up to the cap" },
      { ...register(amounts.cap + 1n), name: "register above the cap" },
      {
        ...register(amounts.purchase),
        name: "register above the rest of the cap",
        afterRefund: true as const,
      },
      {
        ...register(amounts.purchase),
        name: "register in the last second of the offer deadline",
        second: ends.nextOffer,
      },
      {
        ...register(amounts.purchase),
        name: "register one second after the offer deadline",
        second: ends.nextOffer + 1,
      },
    ].map((variant) => ({ ...variant, by: "merchant" as const })),
  ],
);

const offers = define<NewPurchase>(
  (state, variant) => {
    const { by, amount, second = 0 } = variant;
    const rules = newPurchaseRules(state, variant);
    const none = state.program === "without bounds";
    const open = state.route === "offer" && state.status === "open" ? amounts.purchase - paidOf(state) : 0n;
    return {
      ...rules,
      WrongCaller: by !== operatorOf(state),
      DeadlinePassed: rules["DeadlinePassed"] || none || second > ends.bounds,
      AmountOutOfRange: isOutside(amount, none ? 0n : amounts.maxPurchase),
      BudgetExceeded: none || amount > amounts.budget - open,
    };
  },
  [
    ...byEveryone("offer", offer(amounts.purchase)),
    ...[
      { ...offer(0n), name: "offer with an amount of zero" },
      { ...offer(amounts.maxPurchase), name: "offer of the largest amount" },
      { ...offer(amounts.maxPurchase + 1n), name: "offer above the largest amount" },
      { ...offer(amounts.purchase), name: "offer above the rest of the cap", afterRefund: true as const },
      { ...offer(amounts.purchase), name: "offer in the last second of the bounds", second: ends.bounds },
      { ...offer(amounts.purchase), name: "offer one second after the bounds", second: ends.bounds + 1 },
    ].map((variant) => ({ ...variant, by: "operator" as const })),
  ],
);

const repeat = (route: typeof registerCall) => ({
  call: ({ registrar, purchase }: Scene) => route(registrar, purchase.commitment, purchase.signature),
});

/** The purchase that is on chain is put there again. */
const repetitions = define(
  (state, { by }) => ({
    PurchaseExists: state.funding !== "revoked",
    NotEnrolled: state.funding === "revoked",
    ProgramPaused: state.program === "paused",
    WrongCaller: by === "operator" && operatorOf(state) !== "operator",
    DeadlinePassed: state.status === "expired" || (by === "operator" && state.program === "without bounds"),
    AmountOutOfRange: by === "operator" && state.program === "without bounds",
    BudgetExceeded: by === "operator" && state.program === "without bounds",
  }),
  [
    { ...repeat(registerCall), by: "merchant", name: "register of the purchase again" },
    { ...repeat(offerCall), by: "operator", name: "offer of the purchase again" },
  ],
);

interface Enrollment extends Variant {
  which: keyof Scene["enroll"];
}

const enroll = (which: keyof Scene["enroll"]) => ({
  which,
  ignoresPurchase: true as const,
  call: (scene: Scene) => scene.enroll[which],
});

const enrollments = define<Enrollment>(
  (state, { by, which }) => ({
    WrongCaller: by !== (which === "stranger" ? "stranger" : "merchant"),
    ProgramPaused: state.program === "paused",
    MerchantRefTaken: which === "first" || (which === "again" && state.funding === "re-enrolled"),
    AlreadyEnrolled: which !== "stranger" && state.funding !== "revoked",
  }),
  [
    ...byEveryone("enroll of another merchant", enroll("stranger")),
    { ...enroll("again"), by: "merchant", name: "enroll again under another reference" },
    { ...enroll("first"), by: "merchant", name: "enroll again under the same reference" },
  ],
);

const setPaused = (paused: boolean) => ({
  call: ({ registrar, program }: Scene) => setPausedCall(registrar, program, paused),
  ignoresPurchase: true as const,
});

const adminCalls = define<Variant>(
  (_state, { by }) => ({ WrongCaller: by !== "admin" }),
  [
    ...byEveryone("setPaused false", setPaused(false)),
    { ...setPaused(true), name: "setPaused true by the admin", by: "admin" },
    ...byEveryone("setBounds", {
      call: ({ registrar, program, terms, fixture }: Scene) =>
        setBoundsCall(
          registrar,
          program,
          terms({
            operator: fixture.address(actors.stranger),
            commitmentSigner: fixture.address(actors.merchant),
            bounds: { maxPurchase: 1n, openBudget: 2n, validUntil: 3 },
          }),
        ),
      ignoresPurchase: true as const,
    }),
  ],
);

const openings = define(
  () => ({ ProgramAlreadyOpen: true }),
  (["admin", "stranger"] as const).map((by) => ({
    name: `openProgram by the ${by}`,
    by,
    call: ({ registrar, program, terms }: Scene) => openProgramCall(registrar, program, terms()),
    ignoresPurchase: true as const,
  })),
);

/** All calls that are tried in every state. */
export const table: readonly TableCall[] = [
  ...payments,
  ...claims,
  ...refunds,
  ...withdrawals,
  ...expiries,
  ...revocations,
  ...registrations,
  ...offers,
  ...repetitions,
  ...enrollments,
  ...adminCalls,
  ...openings,
];
