import { type Hex, maxUint256 } from "viem";
import {
  claimCall,
  collectRefundCall,
  enrollCall,
  payCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
} from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const zero = `0x${"00".repeat(32)}` as const;
const unknown = hashId("pur_unknown");
/** Of an award above what was paid and above the cap. */
const aboveAll = ["AmountOutOfRange", "FundingInsufficient"];

/** The calls that claim and refund. */
export const refundCalls: CallSequence = {
  name: "claims and refunds",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const id = fixture.purchase.commitment.hash;
    const other = fixture.second.commitment.hash;
    const claim = (hash = hashId("claim"), purchase = id) => claimCall(registrar, purchase, hash);
    const collect = (award: bigint, decision = hashId("decision"), purchase = id) =>
      collectRefundCall(registrar, purchase, award, decision);
    await recorder.call("an unknown purchase cannot be claimed", "beneficiary", claim(undefined, unknown));
    await recorder.call(
      "an unknown purchase cannot be refunded",
      "operator",
      collect(usdc, hashId("decision"), unknown),
    );
    await recorder.call("a claim before a payment is refused", "beneficiary", claim());
    await recorder.call("the buyer pays", "buyer", payCall(registrar, id, 10n * usdc));
    await recorder.call("only the beneficiary claims", "buyer", claim());
    await recorder.call("a claim with a zero hash is refused", "beneficiary", claim(zero));
    await recorder.call("a refund without a claim is refused", "operator", collect(usdc));
    await recorder.call(
      "the program is paused",
      "deployer",
      setPausedCall(registrar, hashId("prg_demo"), true),
    );
    await recorder.call("a claim is recorded while the program is paused", "beneficiary", claim());
    await recorder.call("the pause is over", "deployer", setPausedCall(registrar, hashId("prg_demo"), false));
    await recorder.call("a purchase cannot be claimed twice", "beneficiary", claim(hashId("another claim")));
    await recorder.call("a claim does not end the payments", "buyer", payCall(registrar, id, 5n * usdc));
    await recorder.call("only the program operator refunds", "merchant", collect(usdc));
    await recorder.call("the admin cannot refund", "deployer", collect(usdc));
    await recorder.call("a refund with a zero decision hash is refused", "operator", collect(usdc, zero));
    await recorder.call("a refund of zero is refused", "operator", collect(0n));
    await recorder.call("a refund above what was paid is refused", "operator", collect(15n * usdc + 1n));
    const wide = "a refund above 128 bits is refused";
    await recorder.callRefusedWith(aboveAll, wide, "operator", collect(2n ** 128n + 1n));
    await recorder.call("a refund of all that was paid is collected", "operator", collect(15n * usdc));
    await recorder.call(
      "a purchase cannot be refunded twice",
      "operator",
      collect(1n, hashId("another decision")),
    );
    await recorder.call("a claim after the refund is refused", "beneficiary", claim(hashId("another claim")));
    await recorder.call("a payment after the refund is refused", "buyer", payCall(registrar, id, usdc));
    await recorder.call("the buyer pays another purchase", "buyer", payCall(registrar, other, 20n * usdc));
    const end = BigInt(fixture.second.deadlines.claim_deadline);
    await recorder.call(
      "a claim in the last second is recorded",
      "beneficiary",
      claim(hashId("claim"), other),
      end,
    );
    await recorder.call(
      "a second refund adds to what the funding has paid",
      "operator",
      collect(4n * usdc, hashId("decision"), other),
    );
    await collectUpToTheCap(recorder);
  },
};

/** Two paid and claimed purchases of another merchant, whose funding is smaller than what they may be refunded. */
async function openSmallFunding(recorder: CallRecorder) {
  const { registrar, fixture } = recorder;
  const validUntil = (await recorder.now()) + 9_000n;
  const { authorization, signature } = await recorder.authorize({ cap: 10n * usdc, validUntil });
  const enroll = enrollCall(registrar, authorization, signature);
  await recorder.call("another merchant enrolls", "other_merchant", enroll);
  const other = await recorder.authorize({ program: hashId("prg_other") }, "prg_other");
  const elsewhere = enrollCall(registrar, other.authorization, other.signature);
  await recorder.call("also in another program, under the same merchantRef", "other_merchant", elsewhere);
  const approve = fixture.approve(maxUint256, fixture.contracts.funding_source);
  await recorder.call("and lets any refund be drawn", "other_merchant", approve);
  const ids: Hex[] = [];
  for (const name of ["first", "second"]) ids.push(await claimPurchase(recorder, name, "other_merchant"));
  return { authorization, ids };
}

/** A purchase that a merchant registers, and that is paid and claimed. */
async function claimPurchase(
  recorder: CallRecorder,
  name: string,
  merchant: "merchant" | "other_merchant",
): Promise<Hex> {
  const { registrar, fixture } = recorder;
  const purchaseRef = hashId(name);
  const signed = await recorder.sign({ merchant: fixture.address(merchant), purchaseRef });
  const { id, commitment, signature } = signed;
  const register = registerCall(registrar, commitment, signature);
  await recorder.call(`the ${name} purchase is registered`, merchant, register);
  await recorder.call(`the ${name} purchase is paid`, "buyer", payCall(registrar, id, 10n * usdc));
  const claim = claimCall(registrar, id, hashId(name));
  await recorder.call(`the ${name} purchase is claimed`, "beneficiary", claim);
  return id;
}

/** Refunds that use up a funding. */
async function collectUpToTheCap(recorder: CallRecorder): Promise<void> {
  const { registrar, fixture } = recorder;
  const { authorization, ids } = await openSmallFunding(recorder);
  const { program, merchantRef, wallet: merchant, validUntil } = authorization;
  const [first = unknown, second = unknown] = ids;
  const third = await claimPurchase(recorder, "third", "merchant");
  const collect = (id: Hex, award: bigint) => collectRefundCall(registrar, id, award, hashId("decision"));
  const rest = 4n * usdc;
  const more = "a refund above the rest of the funding is refused";
  await recorder.call("a refund leaves the rest of the funding", "operator", collect(first, 6n * usdc));
  await recorder.call(more, "operator", collect(second, rest + 1n));
  const { commitment, signature } = await recorder.sign({ merchant, amount: rest + 1n });
  const register = registerCall(registrar, commitment, signature);
  await recorder.call("a purchase above the rest of the funding is refused", "other_merchant", register);
  const revoke = revokeFundingCall(registrar, program, merchantRef);
  await recorder.call("a revocation leaves cap and validity", "other_merchant", revoke);
  const { operator, commitmentSigner } = await recorder.programState();
  const bounds = { maxPurchase: 0n, openBudget: 0n, validUntil: 0 };
  const end = setBoundsCall(registrar, program, { operator, commitmentSigner, bounds });
  await recorder.call("the bounds end", "deployer", end);
  const last = "the rest of the funding is collected in its last second";
  await recorder.call(last, "operator", collect(second, rest), validUntil);
  const late = "a refund one second after the funding is refused";
  const merchantEnd = BigInt(fixture.merchant.funding.valid_until);
  await recorder.call(late, "operator", collect(third, 1n), merchantEnd + 1n);
}
