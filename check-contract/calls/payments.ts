import { type Hex, maxUint256 } from "viem";
import {
  expireCall,
  payBatchCall,
  payCall,
  registerCall,
  setBoundsCall,
  setPausedCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { CallRecorder, SignedCommitment } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const demo = hashId("prg_demo");
const unknown = hashId("pur_unknown");
/** The interface sets no largest number of payments in a batch. */
const largeBatch = 50;
/** A contract may use more gas than the sandbox's own: near what a transaction may have (EIP-7825). */
const mostGas = 16_000_000n;

/** The calls that pay. */
export const paymentCalls: CallSequence = {
  name: "payments",
  async run(recorder) {
    await payOnce(recorder);
    await payBatches(recorder);
    const registered = await registerPurchase(recorder);
    await payWhilePaused(recorder, registered.id);
    await payAboveTheBounds(recorder, registered.id);
    await payTheRest(recorder);
    await payWithPermits(recorder);
    await payUntilTheDeadline(recorder);
  },
};

/** The fixture's purchases, and the call that pays one. */
function purchasesOf({ registrar, fixture }: CallRecorder) {
  const id = fixture.purchase.commitment.hash;
  const other = fixture.second.commitment.hash;
  return { id, other, pay: (amount: bigint, purchase = id) => payCall(registrar, purchase, amount) };
}

async function payOnce(recorder: CallRecorder): Promise<void> {
  const { pay } = purchasesOf(recorder);
  const ether = { data: "0x", value: 1n } as const;
  const { registrar, funding_source: source } = recorder.fixture.contracts;
  await recorder.callRefused("a plain transfer of ETH is refused", "buyer", { ...ether, to: registrar });
  const toSource = "a plain transfer of ETH to the funding source is refused";
  await recorder.callRefused(toSource, "buyer", { ...ether, to: source });
  await recorder.call("an unknown purchase cannot be paid", "buyer", pay(usdc, unknown));
  await recorder.call("only the buyer pays", "other_buyer", pay(usdc));
  await recorder.call("the merchant cannot pay", "merchant", pay(usdc));
  await recorder.call("a payment of zero is refused", "buyer", pay(0n));
  await recorder.call("a payment above the amount is refused", "buyer", pay(25n * usdc + 1n));
  await recorder.call("a payment above 128 bits is refused", "buyer", pay(2n ** 128n + 1n));
  await recorder.call("the smallest payment is recorded", "buyer", pay(1n));
  await recorder.call("the buyer lets any amount be drawn", "buyer", recorder.fixture.approve(maxUint256));
  await recorder.call("a payment from an infinite allowance is recorded", "buyer", pay(1n));
  await recorder.call("the allowance is limited again", "buyer", recorder.fixture.approve(100n * usdc));
  await recorder.call("a payment above what is left is refused", "buyer", pay(25n * usdc));
}

async function payBatches(recorder: CallRecorder): Promise<void> {
  const { id, other } = purchasesOf(recorder);
  const batch = (ids: readonly Hex[], ...amounts: bigint[]) => payBatchCall(recorder.registrar, ids, amounts);
  const both = [id, other];
  await recorder.call("an empty batch is refused", "buyer", batch([]));
  await recorder.call("a batch with an amount too few is refused", "buyer", batch(both, usdc));
  await recorder.call("a batch with an amount too many is refused", "buyer", batch([id], usdc, usdc));
  await recorder.call("a batch without amounts is refused", "buyer", batch([id]));
  await recorder.call("a batch above one of the amounts is refused", "buyer", batch(both, usdc, 41n * usdc));
  await recorder.call("a batch above 128 bits is refused", "buyer", batch([id], 2n ** 128n + 1n));
  await recorder.call("a batch of one pays one purchase", "buyer", batch([id], usdc));
  await recorder.call(
    "a batch pays each purchase its own amount",
    "buyer",
    batch(both, 2n * usdc, 3n * usdc),
  );
  await recorder.call("a batch pays one purchase twice", "buyer", batch([id, id], usdc, 2n * usdc));
  await recorder.call("an allowance of the sum of a batch is given", "buyer", recorder.fixture.approve(5n));
  await recorder.call("a batch of the whole allowance is paid", "buyer", batch([other, other], 2n, 3n));
  await recorder.call("the allowance is raised again", "buyer", recorder.fixture.approve(100n * usdc));
  const amounts = Array.from({ length: largeBatch }, (_, index) => BigInt(index + 1));
  const ids = amounts.map(() => other);
  const large = { ...batch(ids, ...amounts), gas: mostGas };
  await recorder.call(`a batch of ${largeBatch} payments pays each`, "buyer", large);
}

async function payWhilePaused(recorder: CallRecorder, registered: Hex): Promise<void> {
  const { registrar } = recorder;
  const { id, pay } = purchasesOf(recorder);
  await recorder.call("the program is paused", "deployer", setPausedCall(registrar, demo, true));
  await recorder.call("a payment while the program is paused is refused", "buyer", pay(usdc));
  const direct = "a payment of a registration while the program is paused is refused";
  await recorder.call(direct, "buyer", pay(usdc, registered));
  const batch = payBatchCall(registrar, [id], [usdc]);
  await recorder.call("a batch while the program is paused is refused", "buyer", batch);
  await recorder.call("the pause is over", "deployer", setPausedCall(registrar, demo, false));
  await recorder.call("a payment of a registration releases no budget", "buyer", pay(usdc, registered));
}

/** The admin's bounds limit new offers, not payments. */
async function payAboveTheBounds(recorder: CallRecorder, registered: Hex): Promise<void> {
  const { other, pay } = purchasesOf(recorder);
  const { operator, commitmentSigner, bounds } = await recorder.programState();
  const set = ({ maxPurchase, openBudget, validUntil }: typeof bounds) => {
    const changed = { maxPurchase, openBudget, validUntil: Number(validUntil) };
    return setBoundsCall(recorder.registrar, demo, { operator, commitmentSigner, bounds: changed });
  };
  const none = set({ maxPurchase: 0n, openBudget: 0n, validUntil: 0n });
  await recorder.call("the admin lowers the bounds to zero", "deployer", none);
  const lowered = "is recorded while the open offers exceed a lowered budget";
  await recorder.call(`a payment of an offer ${lowered}`, "buyer", pay(1n, other));
  await recorder.call(`a payment of a registration ${lowered}`, "buyer", pay(1n, registered));
  await recorder.call("the admin raises the bounds again", "deployer", set(bounds));
}

async function payTheRest(recorder: CallRecorder): Promise<void> {
  const { id, pay } = purchasesOf(recorder);
  await recorder.call("a payment of the largest number is refused", "buyer", pay(maxUint256));
  await recorder.call("a payment of all that is left is recorded", "buyer", pay(19n * usdc - 2n));
  await recorder.call("a payment of a paid purchase is refused", "buyer", pay(1n));
  const withdrawal = withdrawOfferCall(recorder.registrar, id);
  await recorder.call("a paid purchase cannot be withdrawn", "operator", withdrawal);
}

async function payUntilTheDeadline(recorder: CallRecorder): Promise<void> {
  const { registrar, fixture } = recorder;
  const { id, other, pay } = purchasesOf(recorder);
  const end = BigInt(fixture.second.deadlines.pay_deadline);
  const late = "a payment one second after the pay deadline is refused";
  await recorder.call("a payment in the last second is recorded", "buyer", pay(usdc, other), end);
  await recorder.call(late, "buyer", pay(usdc, other), end + 1n);
  await recorder.call("a paid purchase cannot expire", "stranger", expireCall(registrar, id));
  const expiry = expireCall(registrar, other);
  await recorder.call("a purchase with something outstanding expires", "stranger", expiry);
  const expired = "an expired purchase cannot be paid";
  await recorder.callRefusedWith(["WrongStatus", "DeadlinePassed"], expired, "buyer", pay(usdc, other));
}

/** Payments under a permit. */
async function payWithPermits(recorder: CallRecorder): Promise<void> {
  const { fixture } = recorder;
  const { other } = purchasesOf(recorder);
  const pay = (amount: bigint) => fixture.payWithPermit(fixture.second, amount);
  const deadline = BigInt(fixture.second.deadlines.pay_deadline);
  const refused = fixture.signPermit({ value: usdc, deadline }, "stranger");
  const forTwo = fixture.signPermit({ value: 2n * usdc, deadline }, "stranger");
  await recorder.call("the allowance is taken back", "buyer", fixture.approve(0n));
  await recorder.call(
    "a payment without an allowance is refused",
    "buyer",
    payCall(recorder.registrar, other, usdc),
  );
  await recorder.call(
    "a permit of another wallet is refused",
    "buyer",
    fixture.payWithPermit(fixture.second, usdc, refused),
  );
  await recorder.call("an allowance for a part is given", "buyer", fixture.approve(usdc - 1n));
  const part = fixture.payWithPermit(fixture.second, usdc, refused);
  await recorder.call("a permit of another wallet and an allowance for a part are refused", "buyer", part);
  await recorder.call("an allowance for more is given", "buyer", fixture.approve(9n * usdc));
  const covered = "a payment that the allowance covers needs no valid permit, and takes no more";
  await recorder.call(covered, "buyer", fixture.payWithPermit(fixture.second, 2n * usdc, forTwo));
  await recorder.call("a payment under a permit of zero is refused", "buyer", pay(0n));
  await recorder.call("a payment under a permit above what is left is refused", "buyer", pay(38n * usdc));
  const permitted = pay(4n * usdc);
  await recorder.call("a payment under a permit is recorded", "buyer", permitted);
  await recorder.call("a payment under a used permit is refused", "buyer", permitted);
  // The permit of the buyer is none of the caller's.
  const only = "only the buyer pays under a permit";
  await recorder.callRefusedWith(["WrongCaller", "PermitRefused"], only, "stranger", pay(usdc));
  await recorder.call("the allowance is given again", "buyer", fixture.approve(100n * usdc));
}

/** Has the merchant register a purchase. */
export async function registerPurchase(recorder: CallRecorder): Promise<SignedCommitment> {
  const signed = await recorder.sign({ purchaseRef: hashId("pur_registered") });
  const call = registerCall(recorder.registrar, signed.commitment, signed.signature);
  await recorder.call("the merchant registers a purchase", "merchant", call);
  return signed;
}
