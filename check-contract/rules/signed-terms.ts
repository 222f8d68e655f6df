import { zeroAddress } from "viem";
import { type Call, enrollCall } from "../../protocol/call.ts";
import { type Commitment, commitmentTypedData } from "../../protocol/messages/commitment.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypedData,
} from "../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { CallRecorder, SignedCommitment } from "../calls/call-recorder.ts";
import { actors, amounts, ends, type Role, zero } from "./values.ts";

/** The wallets that sign in place of the commitment signer. */
export const otherSigners = ["admin", "operator", "merchant", "stranger"] as const satisfies readonly Role[];

/** The wallet that a purchase or an enrollment of this name is signed by. */
type SignedBy = `signed by the ${(typeof otherSigners)[number]}`;

/** Purchases that are not on chain: some that break no rule, and others that break one in every state. */
export type PurchaseTerms =
  | "with an early offer deadline"
  | "with a used purchaseRef"
  | "with one deadline for all"
  | "with an offer deadline of zero"
  | "in token 0"
  | "with the buyer as the beneficiary"
  | "with the buyer as the beneficiary, signed by no key"
  | "with the merchant as the buyer and the beneficiary"
  | "with a claim deadline at the end of the funding"
  | "with a claim deadline one second after the funding"
  | "of a merchant without an enrollment"
  | "in another token"
  | "with a claim deadline after the funding"
  | "with the merchant as the buyer"
  | "with the merchant as the beneficiary"
  | "with an offer deadline after the pay deadline"
  | "with a pay deadline after the claim deadline"
  | SignedBy;

/** Enrollments: one with an early end, one under a third reference, and others that break a rule in every state. */
export type EnrollmentTerms =
  | "with an early end"
  | "under a third reference"
  | "under a taken reference"
  | "in another token"
  | "with a smaller cap"
  | "with a cap of zero"
  | "with a cap above 128 bits"
  | "with an end of zero"
  | "with a zero reference"
  | "with lower terms that no key has signed"
  | SignedBy;

/** The purchases, and the enrollments of each wallet. */
export interface SignedTerms {
  purchases: { readonly [T in PurchaseTerms]: SignedCommitment };
  enrollments: { readonly [W in Enrolling]: { readonly [T in EnrollmentTerms]: Call } };
}

/** The wallets that enroll: for the first time, and again. */
export type Enrolling = "stranger" | "merchant";

/** Signs purchases and enrollments. */
export async function signTerms(recorder: CallRecorder, start: number): Promise<SignedTerms> {
  return {
    purchases: await signPurchases(recorder, start),
    enrollments: {
      stranger: await signEnrollments(recorder, start, "stranger"),
      merchant: await signEnrollments(recorder, start, "merchant"),
    },
  };
}

async function signPurchases(recorder: CallRecorder, start: number): Promise<SignedTerms["purchases"]> {
  const { fixture } = recorder;
  const second = (end: number) => BigInt(start + end);
  const merchant = fixture.address(actors.merchant);
  const sign = async (fields: Partial<Commitment> = {}) =>
    await recorder.sign({
      purchaseRef: hashId("terms"),
      merchant,
      amount: amounts.rest,
      offerDeadline: second(ends.nextOffer),
      payDeadline: second(ends.nextPay),
      claimDeadline: second(ends.nextClaim),
      ...fields,
    });
  const plain = await sign();
  const own = await sign({ beneficiary: fixture.address(actors.buyer) });
  const signedBy = async (role: Role) => ({
    ...plain,
    signature: await fixture
      .account(actors[role])
      .signTypedData(commitmentTypedData(fixture.domain, plain.commitment)),
  });
  return {
    "with an early offer deadline": await sign({ offerDeadline: second(ends.offer) }),
    "with a used purchaseRef": await sign({ purchaseRef: hashId("purchase") }),
    "with one deadline for all": await sign({
      payDeadline: second(ends.nextOffer),
      claimDeadline: second(ends.nextOffer),
    }),
    "with an offer deadline of zero": await sign({ offerDeadline: 0n }),
    "in token 0": await sign({ token: zeroAddress }),
    "with the buyer as the beneficiary": own,
    "with the buyer as the beneficiary, signed by no key": { ...own, signature: `0x${"11".repeat(64)}1b` },
    "with the merchant as the buyer and the beneficiary": await sign({
      buyer: merchant,
      beneficiary: merchant,
    }),
    "with a claim deadline at the end of the funding": await sign({ claimDeadline: second(ends.funding) }),
    "with a claim deadline one second after the funding": await sign({
      claimDeadline: second(ends.funding + 1),
    }),
    "of a merchant without an enrollment": await sign({ merchant: fixture.address(actors.stranger) }),
    "in another token": await sign({ token: recorder.registrar }),
    "with a claim deadline after the funding": await sign({ claimDeadline: second(ends.newFunding + 1) }),
    "with the merchant as the buyer": await sign({ buyer: merchant }),
    "with the merchant as the beneficiary": await sign({ beneficiary: merchant }),
    "with an offer deadline after the pay deadline": await sign({ offerDeadline: second(ends.nextPay + 1) }),
    "with a pay deadline after the claim deadline": await sign({ payDeadline: second(ends.nextClaim + 1) }),
    "signed by the admin": await signedBy("admin"),
    "signed by the operator": await signedBy("operator"),
    "signed by the merchant": await signedBy("merchant"),
    "signed by the stranger": await signedBy("stranger"),
  };
}

async function signEnrollments(
  recorder: CallRecorder,
  start: number,
  wallet: Enrolling,
): Promise<SignedTerms["enrollments"][Enrolling]> {
  const { fixture, registrar } = recorder;
  const sign = async (fields: Partial<FundingAuthorization> = {}) =>
    await recorder.authorize({
      merchantRef: hashId(`mrc_third_${wallet}`),
      wallet: fixture.address(actors[wallet]),
      cap: amounts.newCap,
      validUntil: BigInt(start + ends.newFunding),
      ...fields,
    });
  const enroll = async (fields?: Partial<FundingAuthorization>) => {
    const { authorization, signature } = await sign(fields);
    return enrollCall(registrar, authorization, signature);
  };
  const { authorization } = await sign();
  const lower = { ...authorization, cap: 1n, validUntil: BigInt(start + ends.pay) };
  const typedData = fundingAuthorizationTypedData(fixture.domain, authorization);
  const signedBy = async (role: Role) =>
    enrollCall(registrar, authorization, await fixture.account(actors[role]).signTypedData(typedData));
  return {
    "with an early end": await enroll({ validUntil: BigInt(start + ends.offer) }),
    "under a third reference": await enroll(),
    "under a taken reference": await enroll({ merchantRef: hashId("mrc_first") }),
    "in another token": await enroll({ token: registrar }),
    "with a smaller cap": await enroll({ cap: 1n }),
    "with a cap of zero": await enroll({ cap: 0n }),
    "with a cap above 128 bits": await enroll({ cap: amounts.wide }),
    "with an end of zero": await enroll({ validUntil: 0n }),
    "with a zero reference": await enroll({ merchantRef: zero }),
    "with lower terms that no key has signed": enrollCall(registrar, lower, `0x${"11".repeat(64)}1b`),
    "signed by the admin": await signedBy("admin"),
    "signed by the operator": await signedBy("operator"),
    "signed by the merchant": await signedBy("merchant"),
    "signed by the stranger": await signedBy("stranger"),
  };
}
