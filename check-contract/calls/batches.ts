import { payBatchCall } from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import type { CallSequence } from "./call-sequence.ts";

/** A batch of two offers of one program. */
export const batchCalls: CallSequence = {
  name: "batches",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const id = fixture.purchase.commitment.hash;
    const other = fixture.second.commitment.hash;
    const both = payBatchCall(registrar, [id, other], [2n * usdc, 3n * usdc]);
    await recorder.call("a batch pays each purchase its own amount", "buyer", both);
  },
};
