import type { Hex } from "viem";
import {
  type Call,
  claimCall,
  collectRefundCall,
  expireCall,
  offerCall,
  payCall,
  setBoundsCall,
  setPausedCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { readCommitment } from "../../sandbox/wallets/read-commitment.ts";
import type { CallRecorder, SignedCommitment } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";
import { registerPurchase } from "./payments.ts";

const unknown = hashId("pur_unknown");

/** The calls that close an offer or a registration. */
export const closingCalls: CallSequence = {
  name: "closing",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const id = fixture.purchase.commitment.hash;
    const other = fixture.second.commitment.hash;
    const withdraw = (purchase = id) => withdrawOfferCall(registrar, purchase);
    const expire = (purchase = id) => expireCall(registrar, purchase);
    const registered = await registerPurchase(recorder);
    await recorder.call("an unknown purchase cannot be withdrawn", "operator", withdraw(unknown));
    await recorder.call("an unknown purchase cannot expire", "stranger", expire(unknown));
    await recorder.call("only the program operator withdraws", "merchant", withdraw());
    await recorder.call("the admin cannot withdraw", "deployer", withdraw());
    await recorder.call("a registration cannot be withdrawn", "operator", withdraw(registered.id));
    await recorder.call("an offer cannot expire before its pay deadline", "stranger", expire());
    await withdrawAfterTheBounds(recorder, withdraw());
    const payAllButOne = (purchase: Hex, amount: bigint) => payCall(registrar, purchase, amount - 1n);
    await recorder.call("all but one unit is paid", "buyer", payAllButOne(id, 25n * usdc));
    await recorder.call("all but one unit of another is paid", "buyer", payAllButOne(other, 40n * usdc));
    await recorder.call("a withdrawal releases what is not paid", "operator", withdraw());
    await recorder.call("an offer cannot be withdrawn twice", "operator", withdraw());
    await recorder.call("a withdrawn offer cannot be paid", "buyer", payCall(registrar, id, 1n));
    await recorder.call(
      "what was paid before the withdrawal can be claimed",
      "beneficiary",
      claimCall(registrar, id, hashId("claim")),
    );
    await recorder.call(
      "a purchase that was withdrawn cannot be offered again",
      "operator",
      offerCall(registrar, readCommitment(fixture.purchase), fixture.purchase.commitment.signature),
    );
    const direct = registered.commitment.payDeadline;
    await recorder.call(
      "a registration cannot expire in the last second of its pay deadline",
      "stranger",
      expire(registered.id),
      direct,
    );
    await recorder.call(
      "a registration expires one second later, and releases no budget",
      "stranger",
      expire(registered.id),
      direct + 1n,
    );
    const end = BigInt(fixture.second.deadlines.pay_deadline);
    await recorder.call(
      "an offer cannot expire in the last second of its pay deadline",
      "stranger",
      expire(other),
      end,
    );
    await recorder.call(
      "an offer expires one second later, and releases its budget",
      "stranger",
      expire(other),
      end + 1n,
    );
    await recorder.call("an offer cannot expire twice", "stranger", expire(other));
    await recorder.call("a withdrawn offer cannot expire", "stranger", expire());
    await recorder.call("an expired offer cannot be withdrawn", "operator", withdraw(other));
  },
};

/** Purchases with a partial payment that end: what was paid can still be claimed and refunded. */
export const endedPurchaseCalls: CallSequence = {
  name: "ended purchases",
  async run(recorder) {
    const registered = await registerPurchase(recorder);
    await withdrawClaimed(recorder);
    await withdrawWhilePaused(recorder);
    const claimed = await offerClaimed(recorder);
    const refunded = await offerClaimed(recorder);
    const { registrar } = recorder;
    await recorder.call("an open offer is refunded", "operator", collect(recorder, refunded.id, 1n));
    const pay = payCall(registrar, registered.id, 4n * usdc);
    await recorder.call("a part of the registration is paid", "buyer", pay);
    const over = refunded.commitment.payDeadline + 1n;
    const expire = (id: Hex) => expireCall(registrar, id);
    await recorder.call("a claimed offer expires", "stranger", expire(claimed.id), over);
    await recorder.call("a refunded offer expires, and releases its budget", "stranger", expire(refunded.id));
    await recorder.call("a registration with a payment expires", "stranger", expire(registered.id));
    await recorder.call(
      "a claim from before the expiry can be refunded",
      "operator",
      collect(recorder, claimed.id, 4n * usdc),
    );
    const claim = claimCall(registrar, registered.id, hashId("claim"));
    await recorder.call("what was paid before the expiry can be claimed", "beneficiary", claim);
    await recorder.call(
      "a refund above what was paid for a registration is refused",
      "operator",
      collect(recorder, registered.id, 4n * usdc + 1n),
    );
    await recorder.call(
      "a claim from after the expiry can be refunded",
      "operator",
      collect(recorder, registered.id, 4n * usdc),
    );
  },
};

/** The refund of a purchase. */
function collect({ registrar }: CallRecorder, id: Hex, award: bigint): Call {
  return collectRefundCall(registrar, id, award, hashId("decision"));
}

/** Has the operator offer a purchase. */
async function offer(recorder: CallRecorder): Promise<SignedCommitment> {
  const signed = await recorder.sign();
  const call = offerCall(recorder.registrar, signed.commitment, signed.signature);
  await recorder.call("the operator offers another purchase", "operator", call);
  return signed;
}

/** Has the operator offer a purchase that is paid in part and claimed. */
async function offerClaimed(recorder: CallRecorder): Promise<SignedCommitment> {
  const { registrar } = recorder;
  const signed = await offer(recorder);
  const claim = claimCall(registrar, signed.id, hashId("claim"));
  await recorder.call("a part of the offer is paid", "buyer", payCall(registrar, signed.id, 4n * usdc));
  await recorder.call("the part is claimed", "beneficiary", claim);
  return signed;
}

async function withdrawClaimed(recorder: CallRecorder): Promise<void> {
  const { id } = await offerClaimed(recorder);
  const other = await offerClaimed(recorder);
  const withdraw = (purchase: Hex) => withdrawOfferCall(recorder.registrar, purchase);
  await recorder.call("a claimed offer can be withdrawn", "operator", withdraw(id));
  const refund = collect(recorder, id, 4n * usdc);
  await recorder.call("a refund leaves a withdrawn purchase withdrawn", "operator", refund);
  await recorder.call("a part of an open offer is refunded", "operator", collect(recorder, other.id, usdc));
  await recorder.call("a refunded offer can be withdrawn", "operator", withdraw(other.id));
}

async function withdrawWhilePaused(recorder: CallRecorder): Promise<void> {
  const { registrar } = recorder;
  const { id } = await offer(recorder);
  const pause = (paused: boolean) => setPausedCall(registrar, hashId("prg_demo"), paused);
  await recorder.call("the program is paused", "deployer", pause(true));
  const withdrawal = withdrawOfferCall(registrar, id);
  await recorder.call("an offer can be withdrawn while the program is paused", "operator", withdrawal);
  await recorder.call("the pause is over", "deployer", pause(false));
}

async function withdrawAfterTheBounds(recorder: CallRecorder, withdrawal: Call): Promise<void> {
  const { operator, commitmentSigner } = await recorder.programState();
  const setBounds = (validUntil: number) =>
    setBoundsCall(recorder.registrar, hashId("prg_demo"), {
      operator,
      commitmentSigner,
      bounds: { maxPurchase: 100n * usdc, openBudget: 1_000n * usdc, validUntil },
    });
  await recorder.call("the bounds end", "deployer", setBounds(1));
  await recorder.call("a withdrawal after the bounds is refused", "operator", withdrawal);
  await recorder.call("the bounds are renewed", "deployer", setBounds(4_000_000_000));
}
