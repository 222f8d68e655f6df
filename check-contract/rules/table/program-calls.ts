import { type Hex, zeroAddress } from "viem";
import {
  acceptAdminCall,
  offerCall,
  openProgramCall,
  type ProgramTerms,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
  transferAdminCall,
} from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { otherProgram, type Scene } from "../scene.ts";
import type { PurchaseState } from "../state.ts";
import { operatorOf, type Preparation } from "../steps.ts";
import { actors, amounts, ends, newProgram, type Role, zero } from "../values.ts";
import { byEveryone, define, isOutside, paidOf, type Rules, type Variant } from "./table-call.ts";

const revoke = (which: "merchantRef" | "newMerchantRef") => ({
  which,
  ignoresPurchase: true as const,
  call: (scene: Scene) => revokeFundingCall(scene.registrar, scene.program, scene[which]),
});

/** The revocations. */
export const revocations = define<Variant & { which: "merchantRef" | "newMerchantRef" }>(
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
    {
      ...revoke("merchantRef"),
      by: "merchant",
      name: "revokeFunding after the end of the funding",
      second: ends.funding + 1,
    },
    {
      ...revoke("merchantRef"),
      by: "merchant",
      name: "revokeFunding after the cap is used up",
      after: "a refund of the whole cap",
      only: "offer, open",
    },
  ],
);

/** A new purchase, by one of the routes. */
export interface NewPurchase extends Variant {
  amount: bigint;
}

/** Returns the rules of a new purchase, by both routes. */
function newPurchaseRules(state: PurchaseState, { amount, second, after }: NewPurchase): Rules {
  const enrolled = state.funding !== "revoked";
  const refunded = after === "a refund" ? amounts.rest : amounts.cap;
  const usedUp = after === "a refund of the whole cap";
  const rest = state.funding === "re-enrolled" ? amounts.newCap : usedUp ? 0n : refunded;
  return {
    ProgramPaused: state.program === "paused",
    AmountOutOfRange: isOutside(amount, amounts.largest),
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

/** Returns the rules of a registration. */
export function registrationRules(state: PurchaseState, variant: NewPurchase): Rules {
  return { ...newPurchaseRules(state, variant), WrongCaller: variant.by !== "merchant" };
}

/** The registrations. */
export const registrations = define<NewPurchase>(registrationRules, [
  ...byEveryone("register", register(amounts.purchase)),
  ...[
    { ...register(0n), name: "register with an amount of zero" },
    { ...register(amounts.maxPurchase + 1n), name: "register above the largest offer" },
    { ...register(amounts.cap), name: "register up to the cap" },
    { ...register(amounts.cap + 1n), name: "register above the cap" },
    {
      ...register(amounts.rest + 1n),
      name: "register above the rest of the cap",
      after: "a refund" as const,
    },
    { ...register(amounts.wide), name: "register above 128 bits", only: "offer, open" as const },
    {
      ...register(1n),
      name: "register after the cap is used up",
      after: "a refund of the whole cap" as const,
      only: "offer, open" as const,
    },
    {
      ...register(amounts.largest),
      name: "register the largest amount",
      after: "a refund" as const,
    },
    {
      ...register(amounts.newCap),
      name: "register up to the cap of a new enrollment",
      after: "a refund" as const,
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
]);

/** Returns the rules of an offer. */
export function offerRules(state: PurchaseState, variant: NewPurchase): Rules {
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
}

/** The offers. */
export const offers = define<NewPurchase>(offerRules, [
  ...byEveryone("offer", offer(amounts.purchase)),
  ...[
    { ...offer(0n), name: "offer with an amount of zero" },
    { ...offer(amounts.maxPurchase), name: "offer of the largest amount" },
    { ...offer(amounts.maxPurchase + 1n), name: "offer above the largest amount" },
    { ...offer(amounts.wide), name: "offer above 128 bits", only: "offer, open" as const },
    {
      ...offer(amounts.budgetLeft),
      name: "offer of all that is left of the budget",
      only: "offer, open" as const,
    },
    { ...offer(amounts.rest + 1n), name: "offer above the rest of the cap", after: "a refund" as const },
    {
      ...offer(1n),
      name: "offer after the cap is used up",
      after: "a refund of the whole cap" as const,
      only: "offer, open" as const,
    },
    { ...offer(amounts.purchase), name: "offer in the last second of the bounds", second: ends.bounds },
    { ...offer(amounts.purchase), name: "offer one second after the bounds", second: ends.bounds + 1 },
  ].map((variant) => ({ ...variant, by: "operator" as const })),
]);

const repeat = (route: typeof registerCall) => ({
  call: ({ registrar, purchase }: Scene) => route(registrar, purchase.commitment, purchase.signature),
});

/** The purchase that is on chain is put there again. */
export const repetitions = define(
  (state, { by }) => ({
    PurchaseExists: true,
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

/** Roles that are enrolled merchants in every state whose funding is active. */
const enrolled = ["merchant", "other operator"] as const;

/** The enrollments. */
export const enrollments = define<Enrollment>(
  (state, { by, which }) => ({
    WrongCaller: by !== (which === "stranger" ? "stranger" : "merchant"),
    ProgramPaused: state.program === "paused",
    MerchantRefTaken: which === "first" || (which === "again" && state.funding === "re-enrolled"),
    // Of an account that is enrolled: the caller's own enrollment counts, also if the authorization is another merchant's.
    AlreadyEnrolled:
      by === "other operator" ||
      (by === "merchant" && state.funding !== "revoked" && which !== "in another program"),
  }),
  [
    ...byEveryone("enroll of another merchant", enroll("stranger")).filter(
      ({ by }) => by !== "other operator",
    ),
    ...enrolled.map((by) => ({
      ...enroll("stranger"),
      by,
      name: `enroll of another merchant by the enrolled ${by}`,
      only: "offer, open" as const,
    })),
    { ...enroll("again"), by: "merchant", name: "enroll again under another reference" },
    { ...enroll("first"), by: "merchant", name: "enroll again under the same reference" },
    { ...enroll("first"), by: "merchant", name: "enroll with the same authorization", only: "offer, open" },
    {
      ...enroll("in another program"),
      by: "merchant",
      name: "enroll in another program under the same reference",
      only: "offer, open" as const,
      readsOthers: true as const,
    },
    {
      ...enroll("again"),
      by: "merchant",
      name: "enroll again after the end of the funding",
      second: ends.funding + 1,
    },
    {
      ...enroll("again"),
      by: "merchant",
      name: "enroll again after the cap is used up",
      after: "a refund of the whole cap" as const,
      only: "offer, open" as const,
    },
  ],
);

export const setPaused = (paused: boolean) => ({
  call: ({ registrar, program }: Scene) => setPausedCall(registrar, program, paused),
  ignoresPurchase: true as const,
  readsOthers: true as const,
});

const acceptAdmin = {
  call: ({ registrar, program }: Scene) => acceptAdminCall(registrar, program),
  ignoresPurchase: true as const,
};

/** The wallet that may accept after each transfer. */
const namedAfter: { readonly [P in Preparation]?: Role } = {
  "a transfer of the admin": "stranger",
  "a transfer of the admin to another wallet": "beneficiary",
  "a transfer of the admin to itself": "admin",
  "a transfer of the admin, which is the operator": "stranger",
  "a transfer of the admin, and longer bounds": "stranger",
  "a transfer of the admin, and of another program's": "stranger",
};

/** The calls by which another wallet becomes the admin. */
export const handovers = define<Variant & { elsewhere?: true }>(
  (_state, { by, after, elsewhere }) => ({
    WrongCaller: elsewhere || after === undefined || by !== namedAfter[after],
  }),
  [
    ...byEveryone("acceptAdmin", acceptAdmin),
    ...byEveryone("acceptAdmin after a transfer to the stranger", {
      ...acceptAdmin,
      after: "a transfer of the admin" as const,
    }),
    ...(
      [
        ["stranger", "a transfer of the admin to another wallet"],
        ["beneficiary", "a transfer of the admin to another wallet"],
        ["admin", "a transfer of the admin to itself"],
        ["stranger", "a withdrawn transfer of the admin"],
        ["stranger", "a transfer of the admin, which is the operator"],
        ["stranger", "a transfer of the admin, and longer bounds"],
        ["stranger", "a transfer of the admin, and of another program's"],
        ["stranger", "the acceptance of another admin"],
      ] as const
    ).map(([by, after]) => ({
      ...acceptAdmin,
      by,
      after,
      name: `acceptAdmin by the ${by} after ${after}`,
      only: "offer, open" as const,
    })),
    {
      call: ({ registrar }) => acceptAdminCall(registrar, hashId(otherProgram)),
      by: "stranger",
      after: "a transfer of the admin",
      name: "acceptAdmin of another program of the admin",
      only: "offer, open",
      elsewhere: true,
    },
  ],
);

const setBounds = (changes: (scene: Scene) => Partial<ProgramTerms>) => ({
  call: (scene: Scene) => setBoundsCall(scene.registrar, scene.program, scene.terms(changes(scene))),
});

/** Calls of the admin whose caller a contract may check in some other way: for these values only. */
export const specialAdminCalls: readonly Pick<Variant, "name" | "call">[] = [
  {
    name: "transferAdmin to address 0",
    call: ({ registrar, program }) => transferAdminCall(registrar, program, zeroAddress),
  },
  ...(["operator", "other operator"] as const).map((role) => ({
    name: `transferAdmin to the ${role}`,
    call: ({ registrar, program, fixture }: Scene) =>
      transferAdminCall(registrar, program, fixture.address(actors[role])),
  })),
  { name: "setBounds to the same", ...setBounds(() => ({})) },
  {
    name: "setBounds to zero",
    ...setBounds(() => ({ bounds: { maxPurchase: 0n, openBudget: 0n, validUntil: 0 } })),
  },
  { name: "setBounds without an operator", ...setBounds(() => ({ operator: zeroAddress })) },
  { name: "setBounds without a commitment signer", ...setBounds(() => ({ commitmentSigner: zeroAddress })) },
  {
    name: "setBounds with another operator",
    ...setBounds(({ fixture }) => ({ operator: fixture.address(actors.stranger) })),
  },
  {
    name: "setBounds with another commitment signer",
    ...setBounds(({ fixture }) => ({ commitmentSigner: fixture.address(actors.stranger) })),
  },
];

/** The calls of the admin. */
export const adminCalls = define<Variant>(
  (_state, { by }) => ({ WrongCaller: by !== "admin" }),
  [
    ...byEveryone("setPaused false", setPaused(false)),
    ...byEveryone("setPaused true", setPaused(true)),
    {
      ...setPaused(false),
      by: "admin",
      name: "setPaused false after two pauses",
      after: "two pauses",
      only: "offer, open",
    },
    ...byEveryone("transferAdmin", {
      call: ({ registrar, program, fixture }: Scene) =>
        transferAdminCall(registrar, program, fixture.address(actors.stranger)),
      ignoresPurchase: true as const,
      readsOthers: true as const,
    }),
    ...byEveryone("setBounds", {
      ...setBounds(({ fixture }) => ({
        operator: fixture.address(actors.stranger),
        commitmentSigner: fixture.address(actors.merchant),
        bounds: { maxPurchase: 1n, openBudget: 2n, validUntil: 3 },
      })),
      ignoresPurchase: true as const,
      readsOthers: true as const,
    }),
    ...specialAdminCalls.flatMap(({ name, call }) =>
      byEveryone(name, { call, only: "offer, open" as const }),
    ),
  ],
);

const open = (id?: Hex, changes: (scene: Scene) => Partial<ProgramTerms> = () => ({})) => ({
  call: (scene: Scene) => openProgramCall(scene.registrar, id ?? scene.program, scene.terms(changes(scene))),
  ignoresPurchase: true as const,
  readsOthers: true as const,
});

const taken = { ...open(), error: "ProgramAlreadyOpen" };

/** The openings. */
export const openings = define<Variant & { error?: string }>(
  (_state, { error }): Rules => (error === undefined ? {} : { [error]: true }),
  [
    { ...taken, name: "openProgram by the admin", by: "admin" },
    { ...taken, name: "openProgram by the stranger", by: "stranger" },
    {
      ...taken,
      name: "openProgram by the named admin",
      by: "stranger",
      after: "a transfer of the admin",
      only: "offer, open",
    },
    {
      ...taken,
      name: "openProgram by the former admin",
      by: "admin",
      after: "the acceptance of another admin",
      only: "offer, open",
    },
    { ...open(newProgram), name: "openProgram of a new program by the stranger", by: "stranger" },
    ...[
      { ...open(zero), name: "openProgram with a zero id", error: "ZeroValue" },
      {
        ...open(newProgram, ({ terms }) => ({
          bounds: { ...terms().bounds, maxPurchase: 0n, openBudget: 0n },
        })),
        name: "openProgram for registrations only",
      },
      {
        ...open(newProgram, ({ terms }) => ({ bounds: { ...terms().bounds, validUntil: 1 } })),
        name: "openProgram with bounds that have ended",
      },
      {
        ...open(newProgram, () => ({ operator: zeroAddress, commitmentSigner: zeroAddress })),
        name: "openProgram without an operator and a commitment signer",
      },
    ].map((variant) => ({ ...variant, by: "stranger" as const, only: "offer, open" as const })),
  ],
);

const largestBounds = { maxPurchase: amounts.largest, openBudget: amounts.largest };

/** The settings of the largest bounds, and of larger ones. */
export const wideBounds = define<Variant & { isWide: boolean }>(
  (_state, { isWide }) => ({ AmountOutOfRange: isWide }),
  [
    { what: "the largest bounds", changes: {} },
    { what: "a largest purchase above 128 bits", changes: { maxPurchase: amounts.largest + 1n } },
    { what: "a budget above 128 bits", changes: { openBudget: amounts.largest + 1n } },
  ].flatMap(({ what, changes }) => {
    const wide = ({ terms }: Scene) => ({ bounds: { ...terms().bounds, ...largestBounds, ...changes } });
    const variant = { only: "offer, open" as const, isWide: Object.keys(changes).length > 0 };
    return [
      { ...open(newProgram, wide), ...variant, name: `openProgram with ${what}`, by: "stranger" as const },
      { ...setBounds(wide), ...variant, name: `setBounds with ${what}`, by: "admin" as const },
    ];
  }),
);
