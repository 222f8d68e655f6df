import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import {
  type Call,
  claimCall,
  collectRefundCall,
  enrollCall,
  payCall,
  registerCall,
} from "../../protocol/call.ts";
import type { FundingAuthorization } from "../../protocol/messages/funding-authorization.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { contractJson, type Json } from "../../protocol/values/json.ts";
import { hostileTokenAbi, reentrantBehavior } from "../adversary-abi.ts";
import { revertText } from "../fixture/revert-text.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";
import { validCalls } from "./calldata.ts";

const unknown = hashId("pur_unknown");

/** Calls from inside a token's transfer, of every function that changes state, and of the views that show what the transfer is for. */
export const reentrancyCalls: CallSequence = {
  name: "reentrancy",
  async run(recorder) {
    const { registrar } = recorder;
    const hostile = await sellForHostileTokens(recorder);
    const { program, merchantRef } = hostile.authorization;
    const [first = unknown, second = unknown] = hostile.ids;
    const pay = (id: Hex) => payCall(registrar, id, 1n);
    const collect = (id: Hex) => collectRefundCall(registrar, id, 1n, hashId("decision"));
    for (const [, { function: name, data }] of await validCalls(recorder))
      await callDuring(recorder, hostile, { name, data }, async () =>
        recorder.call(`${name} called during a transfer is refused`, "buyer", pay(first)),
      );
    const reads = (functionName: "purchase" | "funding", args: readonly Hex[]) => {
      const read = { abi: purchaseRegistrarAbi, functionName, args } as Parameters<
        typeof encodeFunctionData
      >[0];
      return { name: functionName, data: encodeFunctionData(read) };
    };
    await payInexactly(recorder, hostile, pay(second));
    await callDuring(recorder, hostile, reads("purchase", [second]), async () =>
      recorder.call("a payment is recorded before its transfer", "buyer", pay(second)),
    );
    for (const id of [first, second])
      await recorder.call("a purchase is claimed", "beneficiary", claimCall(registrar, id, hashId("claim")));
    await callDuring(recorder, hostile, reads("purchase", [first]), async () =>
      recorder.call("a refund is recorded before its transfer", "operator", collect(first)),
    );
    await callDuring(recorder, hostile, reads("funding", [program, merchantRef]), async () =>
      recorder.call("what a funding has paid is recorded before the transfer", "operator", collect(second)),
    );
  },
};

interface Hostile {
  token: Address;
  authorization: FundingAuthorization;
  ids: readonly Hex[];
}

/** Has a merchant register two purchases in hostile tokens, which the buyer can pay and the merchant can refund. */
async function sellForHostileTokens(recorder: CallRecorder): Promise<Hostile> {
  const { registrar, fixture } = recorder;
  const token = await fixture.deploy("HostileToken");
  const amount = 1_000n * usdc;
  const abi = hostileTokenAbi;
  const mint = encodeFunctionData({ abi, functionName: "mint", args: [fixture.address("buyer"), amount] });
  await recorder.call("the buyer has tokens of a hostile contract", "stranger", { to: token, data: mint });
  const approve = (spender: Address) => ({
    to: token,
    data: encodeFunctionData({ abi, functionName: "approve", args: [spender, amount] }),
  });
  await recorder.call("the buyer lets them be drawn", "buyer", approve(registrar));
  const { authorization, signature } = await recorder.authorize({ token });
  const enroll = enrollCall(registrar, authorization, signature);
  await recorder.call("a merchant enrolls for them", "other_merchant", enroll);
  const refunds = approve(fixture.contracts.funding_source);
  await recorder.call("the merchant lets refunds be drawn", "other_merchant", refunds);
  const ids: Hex[] = [];
  for (const salt of [hashId("first"), hashId("second")]) {
    const sold = await recorder.sign({ merchant: authorization.wallet, token, salt });
    const register = registerCall(registrar, sold.commitment, sold.signature);
    await recorder.call("the merchant registers a purchase in them", "other_merchant", register);
    ids.push(sold.id);
  }
  return { token, authorization, ids };
}

/** Behaviors of HostileToken whose transfers are not exact. */
const inexact = [
  [1, "the merchant gets less than the payment"],
  [2, "the buyer loses more than the payment"],
  [3, "the merchant gets more than the payment"],
  [4, "nothing moves"],
  [5, "the token answers false"],
] as const;

/** Pays while the token moves another amount, or says that it did not move it. */
async function payInexactly(recorder: CallRecorder, { token }: Hostile, payment: Call): Promise<void> {
  const set = (behavior: number) => ({
    to: token,
    data: encodeFunctionData({ abi: hostileTokenAbi, functionName: "setBehavior", args: [behavior] }),
  });
  for (const [behavior, what] of inexact) {
    await recorder.call(`the token changes its transfers: ${what}`, "stranger", set(behavior));
    await recorder.call(`a payment by which ${what} is refused`, "buyer", payment);
  }
  await recorder.call("the token is exact again", "stranger", set(0));
}

/** Makes a call during which the token makes another one, and notes the answer of that. */
async function callDuring(
  recorder: CallRecorder,
  { token }: Hostile,
  { name, data }: { name: string; data: Hex },
  call: () => Promise<void>,
): Promise<void> {
  const args = [reentrantBehavior, recorder.registrar, data] as const;
  const reenter = encodeFunctionData({ abi: hostileTokenAbi, functionName: "reenter", args });
  await recorder.call(`the token is set to call ${name}`, "stranger", { to: token, data: reenter });
  await call();
  const { client } = recorder.fixture;
  const query = { address: token, abi: hostileTokenAbi } as const;
  const [succeeded, answer] = await Promise.all([
    client.readContract({ ...query, functionName: "succeeded" }),
    client.readContract({ ...query, functionName: "answer" }),
  ]);
  recorder.note("inner call", describeAnswer(name, succeeded, answer));
}

/** Describes what a call from inside a transfer did. For a view, returns its decoded answer. */
function describeAnswer(name: string, succeeded: boolean, answer: Hex): Json {
  if (!succeeded) return `reverted with ${revertText(answer)}`;
  if (name !== "purchase" && name !== "funding") return "succeeded";
  return contractJson(decodeFunctionResult({ abi: purchaseRegistrarAbi, functionName: name, data: answer }));
}
