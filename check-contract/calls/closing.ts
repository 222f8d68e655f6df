import type { Call } from "../../protocol/call.ts";
import {
  claimCall,
  expireCall,
  offerCall,
  payCall,
  setBoundsCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { readCommitment } from "../../sandbox/service/wallets/read-commitment.ts";
import type { CallRecorder } from "./call-recorder.ts";
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
    await withdrawAfterTheBounds(recorder, withdraw());
    await recorder.call("a part is paid", "buyer", payCall(registrar, id, 10n * usdc));
    await recorder.call("a withdrawal releases what is not paid", "operator", withdraw());
    await recorder.call("an offer cannot be withdrawn twice", "operator", withdraw());
    await recorder.call("a withdrawn offer cannot expire", "stranger", expire());
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
    await recorder.call("an expired offer cannot be withdrawn", "operator", withdraw(other));
  },
};

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
