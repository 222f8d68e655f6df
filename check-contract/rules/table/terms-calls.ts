import { offerCall, registerCall } from "../../../protocol/call.ts";
import type { Scene } from "../scene.ts";
import { type Enrolling, type EnrollmentTerms, otherSigners, type PurchaseTerms } from "../signed-terms.ts";
import type { PurchaseState } from "../state.ts";
import { amounts, ends } from "../values.ts";
import { type NewPurchase, offerRules, registrationRules } from "./program-calls.ts";
import { define, type Rules, type Variant } from "./table-call.ts";

/** A new purchase with other terms, or signed by another wallet. */
interface PurchaseWithTerms extends NewPurchase {
  terms: PurchaseTerms;
}

/** Returns the rules that the terms break. An error that needs a funding is not possible without one. */
function termsRules(state: PurchaseState, { terms, second = 0 }: PurchaseWithTerms): Rules {
  const enrolled = state.funding !== "revoked";
  return {
    TokenMismatch: enrolled && terms.startsWith("in "),
    FundingTooShort: enrolled && terms.endsWith("after the funding"),
    SameParty: terms.startsWith("with the merchant as"),
    DeadlinesOutOfOrder:
      terms.endsWith("after the pay deadline") || terms.endsWith("after the claim deadline"),
    InvalidSignature: terms.startsWith("signed by") || terms.endsWith("signed by no key"),
    DeadlinePassed:
      terms === "with an offer deadline of zero" ||
      (terms === "with an early offer deadline" && second > ends.offer),
  };
}

const termsOf = (route: typeof registerCall, terms: PurchaseTerms) => ({
  terms,
  amount: amounts.rest,
  ignoresPurchase: true as const,
  call: ({ registrar, signed }: Scene) => {
    const { commitment, signature } = signed.purchases[terms];
    return route(registrar, commitment, signature);
  },
});

const brokenTerms: readonly PurchaseTerms[] = [
  "in another token",
  "with a claim deadline after the funding",
  "with the merchant as the buyer",
  "with the merchant as the beneficiary",
  "with an offer deadline after the pay deadline",
  "with a pay deadline after the claim deadline",
  ...otherSigners.map((role) => `signed by the ${role}` as const),
];

/** Terms at the end of what is allowed. Only in the first state, whose funding they are about. */
const extremeTerms: readonly PurchaseTerms[] = [
  "with a used purchaseRef",
  "with one deadline for all",
  "with an offer deadline of zero",
  "in token 0",
  "with the buyer as the beneficiary",
  "with the buyer as the beneficiary, signed by no key",
  "with the merchant as the buyer and the beneficiary",
  "with a claim deadline at the end of the funding",
  "with a claim deadline one second after the funding",
];

/** Returns the calls of a route with other terms, each also after a refund under the same funding. */
function withTerms(name: string, route: typeof registerCall): readonly Omit<PurchaseWithTerms, "by">[] {
  const early = termsOf(route, "with an early offer deadline");
  const variants = [
    ...brokenTerms.map((terms) => ({ ...termsOf(route, terms), name: `${name} ${terms}` })),
    { ...early, name: `${name} in the last second of an early offer deadline`, second: ends.offer },
    { ...early, name: `${name} one second after an early offer deadline`, second: ends.offer + 1 },
  ];
  return [
    ...extremeTerms.map((terms) => ({
      ...termsOf(route, terms),
      name: `${name} ${terms}`,
      only: "offer, open" as const,
    })),
    ...variants.flatMap((variant) => [
      variant,
      { ...variant, name: `${variant.name}, after a refund`, after: "a refund" as const },
    ]),
  ];
}

/** The registrations with other terms. */
export const registrationTerms = define<PurchaseWithTerms>(
  (state, variant) => merge(registrationRules(state, variant), termsRules(state, variant)),
  withTerms("register", registerCall).map((variant) => ({ ...variant, by: "merchant" })),
);

/** The offers with other terms. */
export const offerTerms = define<PurchaseWithTerms>(
  (state, variant) => merge(offerRules(state, variant), termsRules(state, variant)),
  withTerms("offer", offerCall).map((variant) => ({ ...variant, by: "operator" })),
);

/** The purchases of a merchant that has never enrolled. */
export const purchasesOfOthers = define<Variant>(
  () => ({ NotEnrolled: true }),
  [
    { name: "register", by: "stranger" as const, route: registerCall },
    { name: "offer", by: "operator" as const, route: offerCall },
  ].map(({ name, by, route }) => ({
    ...termsOf(route, "of a merchant without an enrollment"),
    name: `${name} of a merchant without an enrollment`,
    by,
    only: "offer, open",
  })),
);

/** An error is caused if either rules cause it. */
function merge(left: Rules, right: Rules): Rules {
  return {
    ...left,
    ...right,
    DeadlinePassed: left["DeadlinePassed"] === true || right["DeadlinePassed"] === true,
  };
}

interface EnrollmentWithTerms extends Variant {
  by: Enrolling;
  terms: EnrollmentTerms;
}

/** The enrollments with other terms: the first one of a stranger, and another one of the merchant. */
export const enrollmentsWithTerms = define<EnrollmentWithTerms>(
  (state, { by, terms, after, second = 0 }) => ({
    ProgramPaused: state.program === "paused",
    AlreadyEnrolled: by === "merchant" && state.funding !== "revoked" && after !== "a revocation",
    DeadlinePassed: terms === "with an end of zero" || (terms === "with an early end" && second > ends.offer),
    AmountOutOfRange: terms === "with a cap of zero" || terms === "with a cap above 128 bits",
    MerchantRefTaken: terms === "under a taken reference",
    ZeroValue: terms === "with a zero reference",
    InvalidSignature: /signed/.test(terms),
  }),
  (["stranger", "merchant"] as const).flatMap((by) => {
    const enroll = (terms: EnrollmentTerms) => ({
      by,
      terms,
      ignoresPurchase: true as const,
      call: ({ signed }: Scene) => signed.enrollments[by][terms],
    });
    const what = by === "merchant" ? "enroll again" : "enroll of another merchant";
    const early = enroll("with an early end");
    const taken = enroll("under a taken reference");
    const broken: readonly EnrollmentTerms[] = [
      "under a third reference",
      "under a taken reference",
      "in another token",
      "with a smaller cap",
      "with a cap of zero",
      "with a cap above 128 bits",
      "with an end of zero",
      "with a zero reference",
      "with lower terms that no key has signed",
      ...otherSigners.map((role) => `signed by the ${role}` as const),
    ];
    return [
      ...broken.map((terms) => ({ ...enroll(terms), name: `${what} ${terms}` })),
      {
        ...taken,
        name: `${what} under the reference of a revoked funding that has ended`,
        second: ends.funding + 1,
        after: "a revocation" as const,
        only: "offer, open" as const,
      },
      { ...early, name: `${what} in the last second of its validity`, second: ends.offer },
      { ...early, name: `${what} one second after its validity`, second: ends.offer + 1 },
    ];
  }),
);
