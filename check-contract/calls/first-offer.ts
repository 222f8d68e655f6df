import { enrollCall, offerCall, openProgramCall, withdrawOfferCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { CallSequence } from "./call-sequence.ts";

const program = hashId("prg_first");
const budget = 1_000n;

/** The first offer of a program, and one after the last open one is withdrawn: the budget holds also while no offer is open. */
export const firstOfferCalls: CallSequence = {
  name: "first offer",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const { operator, commitmentSigner, bounds } = await recorder.programState();
    recorder.watchProgram(program);
    const open = openProgramCall(registrar, program, {
      operator,
      commitmentSigner,
      bounds: { maxPurchase: 2n * budget, openBudget: budget, validUntil: Number(bounds.validUntil) },
    });
    await recorder.call("a program opens", "stranger", open);
    const { authorization, signature } = await recorder.authorize({ program });
    const enroll = enrollCall(registrar, authorization, signature);
    await recorder.call("a merchant enrolls in it", "other_merchant", enroll);
    const offer = async (rule: string, amount: bigint) => {
      const merchant = fixture.address("other_merchant");
      const signed = await recorder.sign({ program, merchant, amount });
      const call = offerCall(registrar, signed.commitment, signed.signature);
      await recorder.call(rule, "operator", call);
      return signed.id;
    };
    await offer("its first offer cannot be above the budget", budget + 1n);
    const whole = await offer("its first offer can be of the whole budget", budget);
    await offer("another one cannot be above what is left", 1n);
    await recorder.call("the offer is withdrawn", "operator", withdrawOfferCall(registrar, whole));
    await offer("an offer after the last one cannot be above the budget", budget + 1n);
    await offer("an offer after the last one can be of the whole budget", budget);
  },
};
