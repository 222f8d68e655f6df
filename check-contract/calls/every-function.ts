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

const demo = hashId("prg_demo");

/** The seconds between two groups, if no more time is to pass: longer than an offer that expires can be paid. */
export const between = 20n;

type Steps = readonly (readonly [rule: string, actor: Actor, call: Pick<Call, "to" | "data">])[];

/**
 * Signs what a call of every function needs, and returns the calls in their order: some time passes between one group and the next.
 *
 * @param end - the last second of all periods, but for an offer that expires.
 */
// Long: one list of calls in the order of their times.
export async function callEveryFunction(
  recorder: CallRecorder,
  now: bigint,
  end: bigint,
): Promise<readonly Steps[]> {
  const { registrar, fixture } = recorder;
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
      ["the admin sets bounds", "deployer", setBoundsCall(registrar, demo, terms)],
      ["a merchant enrolls", "other_merchant", enroll(first)],
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
      ["a payment is accepted", "buyer", payCall(registrar, paid.id, usdc)],
      ["a batch is accepted", "buyer", payBatchCall(registrar, [paid.id], [usdc])],
      ["a payment with a permit is accepted", "buyer", payWithPermitCall(registrar, paid.id, usdc, permit)],
      ["an offer is withdrawn", "operator", withdrawOfferCall(registrar, withdrawn.id)],
      ["an offer expires", "stranger", expireCall(registrar, expired.id)],
      ["an offer is accepted", "operator", offer(offered)],
      [
        "a registration is accepted",
        "other_merchant",
        registerCall(registrar, registered.commitment, registered.signature),
      ],
      ["the admin pauses", "deployer", setPausedCall(registrar, demo, true)],
    ],
    [
      ["the admin ends a pause", "deployer", setPausedCall(registrar, demo, false)],
      ["the admin sets the bounds again", "deployer", setBoundsCall(registrar, demo, terms)],
      ["a claim is recorded", "beneficiary", claimCall(registrar, paid.id, hashId("claim"))],
      ["the merchant revokes a funding", "other_merchant", revokeFundingCall(registrar, demo, merchantRef)],
      [
        "the admin names another admin",
        "deployer",
        transferAdminCall(registrar, demo, fixture.address("stranger")),
      ],
    ],
    [
      ["a refund is collected", "operator", collectRefundCall(registrar, paid.id, usdc, hashId("decision"))],
      ["a merchant enrolls again after a revocation", "other_merchant", enroll(again)],
      ["another admin accepts", "stranger", acceptAdminCall(registrar, demo)],
      ["a program opens", "stranger", openProgramCall(registrar, opened, terms)],
    ],
  ];
}
