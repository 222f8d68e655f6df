import { payBatchCall } from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import type { CallSequence } from "./call-sequence.ts";

/** The interface sets no largest number of payments in a batch. */
const largeBatch = 50;
/** A contract may use more gas than the sandbox's own: near what a transaction may have (EIP-7825). */
const mostGas = 16_000_000n;

/** Batches of two offers of one program, and of many payments. */
export const batchCalls: CallSequence = {
  name: "batches",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const id = fixture.purchase.commitment.hash;
    const other = fixture.second.commitment.hash;
    const both = payBatchCall(registrar, [id, other], [2n * usdc, 3n * usdc]);
    await recorder.call("a batch pays each purchase its own amount", "buyer", both);
    const amounts = Array.from({ length: largeBatch }, (_, index) => BigInt(index + 1));
    const ids = amounts.map(() => other);
    const large = { ...payBatchCall(registrar, ids, amounts), gas: mostGas };
    await recorder.call(`a batch of ${largeBatch} payments pays each`, "buyer", large);
  },
};
