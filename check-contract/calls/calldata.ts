import { encodeFunctionData, type Hex } from "viem";
import { fundingSourceAbi } from "../../protocol/abi.generated.ts";
import {
  type Call,
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
import { contractWalletAbi } from "../adversary-abi.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const demo = hashId("prg_demo");
const opened = hashId("prg_opened");

/** The errors of calldata that is not canonical: a contract may compare its length first, or all of it at once. */
const notCanonical = ["NonCanonicalLength", "NonCanonicalEncoding"];

/** Each function's valid call with a byte too many, and two calls in one transaction. */
export const calldataCalls: CallSequence = {
  name: "calldata",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const id = fixture.purchase.commitment.hash;
    await recorder.call("the buyer pays", "buyer", payCall(registrar, id, 10n * usdc));
    await recorder.call("a part is claimed", "beneficiary", claimCall(registrar, id, hashId("claim")));
    for (const [actor, call] of await validCalls(recorder))
      await recorder.callRefusedWith(
        notCanonical,
        `${call.function} with a trailing byte is refused`,
        actor,
        {
          to: registrar,
          data: `${call.data}00`,
        },
      );
    const { hash: other } = fixture.second.commitment;
    const both = payBatchCall(registrar, [id, other], [1n, 1n]);
    const trailing = "payBatch of two purchases with a trailing byte is refused";
    await recorder.callRefusedWith(notCanonical, trailing, "buyer", {
      to: registrar,
      data: `${both.data}00`,
    });
    await dirtyThePadding(recorder);
    await drawDirectly(recorder);
    await callTwice(recorder);
  },
};

/** Returns a call of each function that changes state, valid in this sequence, and who may send it. */
export async function validCalls(recorder: CallRecorder): Promise<[Actor, Call][]> {
  const { registrar, fixture } = recorder;
  const { operator, commitmentSigner } = await recorder.programState();
  const terms = { operator, commitmentSigner, bounds: { maxPurchase: 1n, openBudget: 1n, validUntil: 1 } };
  const signed = await recorder.sign({ purchaseRef: hashId("trailing") });
  const funding = await recorder.authorize();
  const { hash: id } = fixture.purchase.commitment;
  const { hash: other } = fixture.second.commitment;
  return [
    ["stranger", openProgramCall(registrar, opened, terms)],
    ["deployer", setBoundsCall(registrar, demo, terms)],
    ["deployer", setPausedCall(registrar, demo, false)],
    ["other_merchant", enrollCall(registrar, funding.authorization, funding.signature)],
    ["merchant", revokeFundingCall(registrar, demo, hashId(fixture.merchant.id))],
    ["merchant", registerCall(registrar, signed.commitment, signed.signature)],
    ["operator", offerCall(registrar, signed.commitment, signed.signature)],
    ["operator", withdrawOfferCall(registrar, other)],
    ["operator", collectRefundCall(registrar, id, 1n, hashId("decision"))],
    ["buyer", payCall(registrar, other, 1n)],
    ["buyer", payBatchCall(registrar, [other], [1n])],
    ["buyer", fixture.payWithPermit(fixture.second, 1n)],
    ["beneficiary", claimCall(registrar, id, hashId("claim"))],
    ["stranger", expireCall(registrar, other)],
  ];
}

/** Calls of the canonical length with another last byte, in the padding of the signature, which nothing decodes. */
async function dirtyThePadding(recorder: CallRecorder): Promise<void> {
  const padded = ["enroll", "register", "offer"];
  for (const [actor, call] of await validCalls(recorder))
    if (padded.includes(call.function))
      await recorder.callRefusedWith(
        notCanonical,
        `${call.function} with another byte in its padding is refused`,
        actor,
        { to: recorder.registrar, data: `${call.data.slice(0, -2)}01` as Hex },
      );
}

/** Calls of the funding source, past the registrar contract. */
async function drawDirectly(recorder: CallRecorder): Promise<void> {
  const { token, funding_source: to } = recorder.fixture.contracts;
  const [merchant, beneficiary] = [
    recorder.fixture.address("merchant"),
    recorder.fixture.address("beneficiary"),
  ];
  const args = [token, merchant, beneficiary, 1n] as const;
  const data = encodeFunctionData({ abi: fundingSourceAbi, functionName: "draw", args });
  for (const actor of ["stranger", "merchant", "operator"] as const)
    await recorder.call(`a draw by the ${actor} is refused`, actor, { to, data });
  await recorder.call("a draw with a trailing byte is refused", "stranger", { to, data: `${data}00` });
}

/** The guard against calls from inside a call must end with the call. */
async function callTwice(recorder: CallRecorder): Promise<void> {
  const { registrar, fixture } = recorder;
  const wallet = await fixture.deploy("ContractWallet");
  const { operator, commitmentSigner } = await recorder.programState();
  const terms = {
    operator,
    commitmentSigner,
    bounds: { maxPurchase: 1n, openBudget: 1n, validUntil: 1_900_000_000 },
  };
  const programs = [hashId("prg_first"), hashId("prg_second")];
  for (const program of programs) recorder.watchProgram(program);
  const calls = programs.map((program) => ({
    target: registrar,
    data: openProgramCall(registrar, program, terms).data as Hex,
  }));
  const data = encodeFunctionData({ abi: contractWalletAbi, functionName: "multicall", args: [calls] });
  await recorder.call("two calls in one transaction succeed", "stranger", { to: wallet, data });
}
