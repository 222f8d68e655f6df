import { type Address, encodeFunctionData, type Hex } from "viem";
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
import type { FundingAuthorization } from "../../protocol/messages/funding-authorization.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { declaredErrors, decodeRevert } from "../../relayer/node/decode-revert.ts";
import { hostileTokenAbi, reentrantBehavior } from "../adversary-abi.ts";
import { decodeView, encodeView } from "../fixture/effects.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import { revertText } from "../fixture/revert-text.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

/** The views that a payment or a refund changes, and those that show what it is of. */
const views = ["purchase", "figures", "funding", "programState", "enrolledAs"] as const;

const demo = hashId("prg_demo");
const opened = hashId("prg_opened");

/** Calls from inside a token's transfer, of every function that changes state, and of the views that show what the transfer is for. */
export const reentrancyCalls: CallSequence = {
  name: "reentrancy",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const hostile = await sellForHostileTokens(recorder);
    const { paid: first } = hostile;
    const pay = (id: Hex) => payCall(registrar, id, 1n);
    const inTwoTokens = [fixture.purchase.commitment.hash, first, fixture.second.commitment.hash];
    const batch = payBatchCall(registrar, inTwoTokens, [1n, 2n, 3n]);
    await recorder.call("a batch pays each purchase in its own token", "buyer", batch);
    const payments = paymentsOf(recorder, first, await recorder.now());
    const rule = "a payment whose permit the token refuses with an error of its own uses the allowance";
    await recorder.call(rule, "buyer", payments[1]);
    const inner = await validCalls(recorder);
    for (const { function: name, data } of inner)
      await callDuring(recorder, hostile, { name, data }, async () =>
        recorder.call(`${name} called during a transfer is refused`, "buyer", pay(first)),
      );
    for (const call of [pay(first), ...payments])
      await moveInexactly(recorder, hostile, "payment", ["buyer", call]);
    for (const call of [pay(first), ...payments])
      for (const name of views)
        await callDuring(recorder, hostile, viewOf(name, hostile, first), async () =>
          recorder.call(`${name}() called during a payment by ${call.function} shows it`, "buyer", call),
        );
    const refund = collectRefundCall(registrar, await hostile.claim(), 1n, hashId("decision"));
    await moveInexactly(recorder, hostile, "refund", ["operator", refund]);
    for (const name of views) {
      const id = await hostile.claim();
      const collect = collectRefundCall(registrar, id, 1n, hashId("decision"));
      await callDuring(recorder, hostile, viewOf(name, hostile, id), async () =>
        recorder.call(`${name}() called during a refund shows it`, "operator", collect),
      );
    }
    for (const { function: name, data } of inner) {
      const collect = collectRefundCall(registrar, await hostile.claim(), 1n, hashId("decision"));
      await callDuring(recorder, hostile, { name, data }, async () =>
        recorder.call(`in a refund, ${name} called during a transfer is refused`, "operator", collect),
      );
    }
    await openDuring(recorder, hostile);
  },
};

type ReadView = (typeof views)[number];

/** Returns the call of a view of a purchase, or of what it belongs to. */
function viewOf(name: ReadView, { authorization: { program, merchantRef, wallet } }: Hostile, id: Hex) {
  const args = {
    purchase: [id],
    figures: [id],
    funding: [program, merchantRef],
    programState: [program],
    enrolledAs: [program, wallet],
  } as const satisfies { [V in ReadView]: readonly Hex[] };
  return { name, data: encodeView(name, args[name]).data };
}

/** Returns a call of each function that changes state, valid in this sequence but for its caller. */
async function validCalls(recorder: CallRecorder): Promise<Call[]> {
  const { registrar, fixture } = recorder;
  const transfer = transferAdminCall(registrar, demo, fixture.address("stranger"));
  await recorder.call("the admin names a wallet that may accept", "deployer", transfer);
  const { operator, commitmentSigner } = await recorder.programState();
  const terms = { operator, commitmentSigner, bounds: { maxPurchase: 1n, openBudget: 1n, validUntil: 1 } };
  const signed = await recorder.sign({ purchaseRef: hashId("trailing") });
  const funding = await recorder.authorize();
  const { hash: id } = fixture.purchase.commitment;
  const { hash: other } = fixture.second.commitment;
  return [
    openProgramCall(registrar, opened, terms),
    setBoundsCall(registrar, demo, terms),
    setPausedCall(registrar, demo, false),
    transfer,
    acceptAdminCall(registrar, demo),
    enrollCall(registrar, funding.authorization, funding.signature),
    revokeFundingCall(registrar, demo, hashId(fixture.merchant.id)),
    registerCall(registrar, signed.commitment, signed.signature),
    offerCall(registrar, signed.commitment, signed.signature),
    withdrawOfferCall(registrar, other),
    collectRefundCall(registrar, id, 1n, hashId("decision")),
    payCall(registrar, other, 1n),
    payBatchCall(registrar, [other], [1n]),
    fixture.payWithPermit(fixture.second, 1n),
    claimCall(registrar, id, hashId("claim")),
    expireCall(registrar, other),
  ];
}

/** Returns a payment in a batch, and one with a permit. The allowance makes the permit, which is one of another token, needless. */
function paymentsOf(
  { registrar, fixture }: CallRecorder,
  id: Hex,
  now: bigint,
): [batch: Call, permitted: Call] {
  const permit = fixture.signPermit({ value: 1n, deadline: now + 1_000n });
  return [payBatchCall(registrar, [id], [1n]), payWithPermitCall(registrar, id, 1n, permit)];
}

/** Each of the other functions that transfer tokens must keep its guard until the transfer has ended. */
async function openDuring(recorder: CallRecorder, hostile: Hostile): Promise<void> {
  const { registrar, fixture } = recorder;
  const { operator, commitmentSigner, bounds } = await recorder.programState();
  const terms = { operator, commitmentSigner, bounds: { ...bounds, validUntil: Number(bounds.validUntil) } };
  const inner = { name: "openProgram", data: openProgramCall(registrar, opened, terms).data };
  const { paid } = hostile;
  const other = await hostile.claim();
  const [batch, permitted] = paymentsOf(recorder, paid, await recorder.now());
  const around = [fixture.purchase.commitment.hash, paid, fixture.second.commitment.hash];
  const outer: [what: string, actor: Actor, call: Call][] = [
    ["a batch", "buyer", batch],
    ["a payment between two others of a batch", "buyer", payBatchCall(registrar, around, [1n, 1n, 1n])],
    ["the last payment of a batch", "buyer", payBatchCall(registrar, [paid, other], [1n, 1n])],
    ["a payment with a permit", "buyer", permitted],
  ];
  for (const [what, actor, call] of outer)
    await callDuring(recorder, hostile, inner, async () =>
      recorder.call(`in ${what}, openProgram called during a transfer is refused`, actor, call),
    );
}

interface Hostile {
  token: Address;
  authorization: FundingAuthorization;
  /** An offered purchase that is paid, unit by unit. */
  paid: Hex;
  /** Has another purchase registered, paid in part and claimed, and returns its id. */
  claim(): Promise<Hex>;
}

/** Has a merchant sell purchases in hostile tokens, one for payments and others for refunds, which the buyer can pay and the merchant can refund. */
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
  const sign = async (name: string) =>
    await recorder.sign({ merchant: authorization.wallet, token, salt: hashId(name) });
  const { id: paid, commitment, signature: signed } = await sign("paid");
  await recorder.call("a purchase in them is offered", "operator", offerCall(registrar, commitment, signed));
  let count = 0;
  const claim = async () => {
    count += 1;
    const sold = await sign(`claimed ${count}`);
    const register = registerCall(registrar, sold.commitment, sold.signature);
    await recorder.call("the merchant registers a purchase in them", "other_merchant", register);
    await recorder.call("a purchase is paid", "buyer", payCall(registrar, sold.id, 1n));
    const filed = claimCall(registrar, sold.id, hashId("claim"));
    await recorder.call("a purchase is claimed", "beneficiary", filed);
    return sold.id;
  };
  return { token, authorization, paid, claim };
}

/** Who pays whom by a call that moves tokens, and from which wallet. */
const parties = {
  payment: { payer: "buyer", wallet: "buyer", payee: "merchant" },
  refund: { payer: "merchant", wallet: "other_merchant", payee: "beneficiary" },
} as const;

const nothingMoves = "nothing moves";

/** Makes a call while the token moves another amount, or says that it did not move it. */
async function moveInexactly(
  recorder: CallRecorder,
  { token }: Hostile,
  what: keyof typeof parties,
  [actor, call]: [Actor, Call],
): Promise<void> {
  const { payer, wallet, payee } = parties[what];
  const abi = hostileTokenAbi;
  const set = (behavior: number) => ({
    to: token,
    data: encodeFunctionData({ abi, functionName: "setBehavior", args: [behavior] }),
  });
  const mint = encodeFunctionData({
    abi,
    functionName: "mint",
    args: [recorder.fixture.address(wallet), 1n],
  });
  const mintFirst = [reentrantBehavior, token, mint] as const;
  /** By the behaviors of HostileToken. */
  const inexact = [
    [set(1), `the ${payee} gets less than the ${what}`],
    [set(2), `the ${payer} loses more than the ${what}`],
    [set(3), `the ${payee} gets more than the ${what}`],
    [
      { to: token, data: encodeFunctionData({ abi, functionName: "reenter", args: mintFirst }) },
      `the ${payer} loses less than the ${what}`,
    ],
    [set(4), nothingMoves],
    [set(5), "the token answers false"],
  ] as const;
  for (const [change, how] of inexact) {
    await recorder.call(`the token changes its transfers: ${how}`, "stranger", change);
    await recorder.call(`a ${what} by ${call.function} by which ${how} is refused`, actor, call);
    // Both balances are wrong: the error may name either.
    if (how === nothingMoves) recorder.accept(["InexactTransfer"]);
  }
  await recorder.call("the token is exact again", "stranger", set(0));
}

/** Makes a call during which the token makes another one, and notes the result of that. */
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
  // A call that is refused takes back what the token has recorded.
  if (recorder.recorded.at(-1)?.effect["outcome"] !== "succeeded") return;
  const { client } = recorder.fixture;
  const query = { address: token, abi: hostileTokenAbi } as const;
  const [succeeded, answer] = await Promise.all([
    client.readContract({ ...query, functionName: "succeeded" }),
    client.readContract({ ...query, functionName: "answer" }),
  ]);
  const view = views.find((one) => one === name);
  if (view === undefined) recorder.noteInner(succeeded ? "succeeded" : describeRefusal(answer));
  else recorder.note(`${view}() during the transfer`, decodeView(view, succeeded ? answer : null));
}

/** The error of the interface for a call from inside a transfer, and Solidity's own of a text, which other guards revert with. */
const guardErrors = ["ReentrancyGuardReentrantCall", "Error"];

/** Returns whether revert data is the guard's: also that of an error that the interface does not declare is, of a guard of the contract's own. */
function isGuarded(answer: Hex): boolean {
  return !declaredErrors.has(answer.slice(0, 10)) || guardErrors.includes(decodeRevert(answer)?.name ?? "");
}

/** Describes why a call from inside a transfer was refused. */
function describeRefusal(answer: Hex): string {
  return isGuarded(answer) ? "reverted with an error of a guard" : `reverted with ${revertText(answer)}`;
}
