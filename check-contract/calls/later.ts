import {
  acceptAdminCall,
  type Call,
  claimCall,
  collectRefundCall,
  enrollCall,
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
  transferAdminCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const demo = hashId("prg_demo");
/** In seconds. */
const years = 40n * 365n * 86_400n;

/** Calls of every function decades after those that they depend on: no period ends by itself but those of the interface. */
export const laterCalls: CallSequence = {
  name: "years later",
  async run(recorder) {
    const now = await recorder.now();
    const groups = await prepareCalls(recorder, now);
    await recorder.simulate(
      groups.flatMap((group, decades) =>
        group.map(([rule, actor, call]) => ({ timestamp: now + BigInt(decades) * years, rule, actor, call })),
      ),
    );
  },
};

type Steps = readonly (readonly [rule: string, actor: Actor, call: Pick<Call, "to" | "data">])[];

/** Signs what the calls need, and returns the calls at the start, decades later, and so on. */
// Long: one list of calls in the order of their times.
async function prepareCalls(recorder: CallRecorder, now: bigint): Promise<readonly Steps[]> {
  const { registrar, fixture } = recorder;
  const end = now + 5n * years;
  const first = await recorder.authorize({ validUntil: end });
  const { merchantRef, wallet: merchant } = first.authorization;
  const again = await recorder.authorize({ validUntil: end, merchantRef: hashId("mrc_later") });
  const sign = async (name: string, payDeadline = end) =>
    await recorder.sign({
      purchaseRef: hashId(name),
      merchant,
      offerDeadline: payDeadline,
      payDeadline,
      claimDeadline: end,
    });
  const paid = await sign("paid");
  const withdrawn = await sign("withdrawn");
  const expired = await sign("expired", now + 10n);
  const offered = await sign("offered later");
  const registered = await sign("registered later");
  const enroll = ({ authorization, signature }: typeof first) =>
    enrollCall(registrar, authorization, signature);
  const offer = ({ commitment, signature }: typeof paid) => offerCall(registrar, commitment, signature);
  const { operator, commitmentSigner } = await recorder.programState();
  const bounds = { maxPurchase: 100n * usdc, openBudget: 1_000n * usdc, validUntil: Number(end) };
  const terms = { operator, commitmentSigner, bounds };
  const permit = fixture.signPermit({ value: usdc, deadline: end });
  const opened = hashId("prg_later");
  recorder.watchProgram(opened);
  return [
    [
      ["the admin sets bounds for decades", "deployer", setBoundsCall(registrar, demo, terms)],
      ["a merchant enrolls for decades", "other_merchant", enroll(first)],
      [
        "the merchant lets refunds be drawn",
        "other_merchant",
        fixture.approve(100n * usdc, fixture.contracts.funding_source),
      ],
      ["a purchase is offered", "operator", offer(paid)],
      ["another purchase is offered", "operator", offer(withdrawn)],
      ["a third purchase is offered", "operator", offer(expired)],
    ],
    [
      ["a payment decades after the offer is accepted", "buyer", payCall(registrar, paid.id, usdc)],
      ["so is one in a batch", "buyer", payBatchCall(registrar, [paid.id], [usdc])],
      ["so is one with a permit", "buyer", payWithPermitCall(registrar, paid.id, usdc, permit)],
      ["an offer is withdrawn decades later", "operator", withdrawOfferCall(registrar, withdrawn.id)],
      ["an offer expires decades after its pay deadline", "stranger", expireCall(registrar, expired.id)],
      ["an offer decades after the enrollment is accepted", "operator", offer(offered)],
      [
        "a registration decades after the enrollment is accepted",
        "other_merchant",
        registerCall(registrar, registered.commitment, registered.signature),
      ],
      ["the admin pauses decades later", "deployer", setPausedCall(registrar, demo, true)],
    ],
    [
      ["the admin ends a pause decades later", "deployer", setPausedCall(registrar, demo, false)],
      ["the admin sets the bounds decades later", "deployer", setBoundsCall(registrar, demo, terms)],
      [
        "a claim decades after the payments is recorded",
        "beneficiary",
        claimCall(registrar, paid.id, hashId("claim")),
      ],
      [
        "the merchant revokes a funding decades later",
        "other_merchant",
        revokeFundingCall(registrar, demo, merchantRef),
      ],
      [
        "the admin names another admin decades later",
        "deployer",
        transferAdminCall(registrar, demo, fixture.address("stranger")),
      ],
    ],
    [
      [
        "a refund decades after the claim is collected",
        "operator",
        collectRefundCall(registrar, paid.id, usdc, hashId("decision")),
      ],
      ["a merchant enrolls again decades after a revocation", "other_merchant", enroll(again)],
      ["another admin accepts decades later", "stranger", acceptAdminCall(registrar, demo)],
      ["a program opens decades later", "stranger", openProgramCall(registrar, opened, terms)],
    ],
  ];
}
