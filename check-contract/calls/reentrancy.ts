import { encodeFunctionData, type Hex } from "viem";
import {
  claimCall,
  collectRefundCall,
  enrollCall,
  expireCall,
  offerCall,
  openProgramCall,
  payBatchCall,
  payCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { contractJson } from "../../protocol/values/json.ts";
import { hostileTokenAbi, reentrantBehavior } from "../adversary-abi.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

/** Calls from inside a token's transfer, of every function that changes state. */
export const reentrancyCalls: CallSequence = {
  name: "reentrancy",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const token = await fixture.deploy("HostileToken");
    const send = async (rule: string, data: Hex, actor: "buyer" | "stranger" = "stranger") =>
      await recorder.call(rule, actor, { to: token, data });
    const amount = 1_000n * usdc;
    const mint = {
      abi: hostileTokenAbi,
      functionName: "mint",
      args: [fixture.address("buyer"), amount],
    } as const;
    await send("the buyer has tokens of a hostile contract", encodeFunctionData(mint));
    const approve = { abi: hostileTokenAbi, functionName: "approve", args: [registrar, amount] } as const;
    await send("and lets them be drawn", encodeFunctionData(approve), "buyer");
    const { authorization, signature } = await recorder.authorize({ token });
    await recorder.call(
      "a merchant enrolls for them",
      "other_merchant",
      enrollCall(registrar, authorization, signature),
    );
    const bought = await recorder.sign({ merchant: authorization.wallet, token });
    await recorder.call(
      "and registers a purchase",
      "other_merchant",
      registerCall(registrar, bought.commitment, bought.signature),
    );
    for (const [name, data] of await innerCalls(recorder, bought.id)) {
      const args = [reentrantBehavior, registrar, data] as const;
      const reenter = encodeFunctionData({ abi: hostileTokenAbi, functionName: "reenter", args });
      await send(`the token is set to call ${name}`, reenter);
      await recorder.call(
        `${name} called during a transfer is refused`,
        "buyer",
        payCall(registrar, bought.id, 1n),
      );
      const answer = { address: token, abi: hostileTokenAbi, functionName: "answer" } as const;
      recorder.note("inner call", contractJson(await fixture.client.readContract(answer)));
    }
  },
};

/** A call of each function that changes state. */
async function innerCalls(recorder: CallRecorder, id: Hex): Promise<[string, Hex][]> {
  const { registrar, fixture } = recorder;
  const demo = hashId("prg_demo");
  const signed = await recorder.sign({ purchaseRef: hashId("inner") });
  const { authorization, signature } = await recorder.authorize({ merchantRef: hashId("inner") });
  const { operator, commitmentSigner } = await recorder.programState();
  const terms = { operator, commitmentSigner, bounds: { maxPurchase: 1n, openBudget: 1n, validUntil: 1 } };
  const calls = [
    openProgramCall(registrar, hashId("inner"), terms),
    setBoundsCall(registrar, demo, terms),
    setPausedCall(registrar, demo, true),
    enrollCall(registrar, authorization, signature),
    revokeFundingCall(registrar, demo, hashId("mrc_calls")),
    registerCall(registrar, signed.commitment, signed.signature),
    offerCall(registrar, signed.commitment, signed.signature),
    withdrawOfferCall(registrar, fixture.purchase.commitment.hash),
    collectRefundCall(registrar, id, 1n, hashId("decision")),
    payCall(registrar, id, 1n),
    payBatchCall(registrar, [id], [1n]),
    fixture.payWithPermit(fixture.purchase, 1n),
    claimCall(registrar, id, hashId("claim")),
    expireCall(registrar, id),
  ];
  return calls.map((call) => [call.function, call.data]);
}
