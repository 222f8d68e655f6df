import { type Address, concatHex, encodeFunctionData, type Hex, maxUint64 } from "viem";
import {
  type Call,
  claimCall,
  collectRefundCall,
  enrollCall,
  expireCall,
  offerCall,
  payBatchCall,
  payCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { hashCommitment } from "../../protocol/messages/commitment.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { hostileTokenAbi } from "../adversary-abi.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import { signersWithCode } from "../rules/signers.ts";
import type { CallRecorder, SignedCommitment, SimulatedStep } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const demo = hashId("prg_demo");
const largest = 2n ** 128n - 1n;

/** Unix seconds that do not fit into 32 bits, and then not into 48. */
const times = {
  offer: 2n ** 33n + 5n,
  bounds: 2n ** 48n + 5n,
  pay: 2n ** 49n + 5n,
  claim: 2n ** 50n + 5n,
  funding: 2n ** 51n + 5n,
} as const;

const amount = 2n ** 127n + 2n ** 97n + 2n ** 65n + 2n ** 33n + 1n;
/** Two payments of the amount but for its last unit, each of which needs more than 96 bits. */
const parts = [2n ** 126n + 2n ** 64n + 3n, amount - 2n ** 126n - 2n ** 64n - 4n] as const;
const award = 2n ** 126n + 2n ** 96n + 2n ** 64n + 2n ** 32n + 7n;

/** A purchase of a large amount, with deadlines in the far future, whose merchant revokes its funding long before they end. */
export const largeValueCalls: CallSequence = {
  name: "large values",
  // Long: one list of calls in the order of their times.
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const token = await fixture.deploy("HostileToken");
    const now = await recorder.now();
    const { authorization, signature } = await recorder.authorize({
      token,
      cap: largest,
      validUntil: times.funding,
    });
    const { merchantRef, wallet: merchant } = authorization;
    const sign = async (name: string, fields: object = {}) =>
      await recorder.sign({
        purchaseRef: hashId(name),
        merchant,
        token,
        amount,
        offerDeadline: times.offer,
        payDeadline: times.pay,
        claimDeadline: times.claim,
        ...fields,
      });
    const large = await sign("large");
    const small = await sign("small", { amount: 1_000n, offerDeadline: times.pay });
    const late = await sign("late", { amount: 1n, offerDeadline: times.pay });
    const largestOne = await sign("largest", { amount: largest });
    const { operator, commitmentSigner, openOffers } = await recorder.programState();
    const rest = await sign("rest", { amount: largest - openOffers - amount });
    const above = await sign("above", { amount: 1n });
    const offer = ({ commitment, signature: signed }: SignedCommitment) =>
      offerCall(registrar, commitment, signed);
    const bounds = { maxPurchase: largest, openBudget: largest, validUntil: Number(times.bounds) };
    const claim = (id: Hex) => claimCall(registrar, id, hashId("claim"));
    const refund = (id: Hex, of: bigint) => collectRefundCall(registrar, id, of, hashId("decision"));
    const steps: [timestamp: bigint, rule: string, actor: Actor, call: Pick<Call, "to" | "data">][] = [
      [
        now,
        "the admin sets large bounds",
        "deployer",
        setBoundsCall(registrar, demo, { operator, commitmentSigner, bounds }),
      ],
      [now, "the buyer has many tokens", "buyer", tokenCall(token, "mint", fixture.address("buyer"))],
      [now, "the buyer lets them be drawn", "buyer", tokenCall(token, "approve", registrar)],
      [now, "a merchant enrolls for long", "other_merchant", enrollCall(registrar, authorization, signature)],
      [
        now,
        "the merchant lets refunds be drawn",
        "other_merchant",
        tokenCall(token, "approve", fixture.contracts.funding_source),
      ],
      [
        times.offer,
        "a large purchase is offered in the last second of its offer deadline",
        "operator",
        offer(large),
      ],
      [times.offer, "an offer of the rest of the largest budget is accepted", "operator", offer(rest)],
      [times.offer, "an offer above the largest budget is refused", "operator", offer(above)],
      [
        times.offer,
        "a withdrawal releases a large part of the budget",
        "operator",
        withdrawOfferCall(registrar, rest.id),
      ],
      [
        times.offer,
        "the largest amount is registered",
        "other_merchant",
        registerCall(registrar, largestOne.commitment, largestOne.signature),
      ],
      [times.offer, "a large part is paid", "buyer", payCall(registrar, large.id, parts[0])],
      [times.bounds, "an offer in the last second of far bounds is accepted", "operator", offer(small)],
      [times.bounds, "a part of it is paid", "buyer", payCall(registrar, small.id, 10n)],
      [times.bounds + 1n, "an offer one second after far bounds is refused", "operator", offer(late)],
      [
        times.bounds + 2n,
        "the merchant revokes its funding",
        "other_merchant",
        revokeFundingCall(registrar, demo, merchantRef),
      ],
      [
        times.pay,
        "a payment long after a revocation is accepted",
        "buyer",
        payCall(registrar, large.id, parts[1]),
      ],
      [times.pay, "the last unit of a large amount is paid", "buyer", payCall(registrar, large.id, 1n)],
      [
        times.pay,
        "a batch of amounts with a sum above 128 bits is accepted",
        "buyer",
        payBatchCall(registrar, [largestOne.id, small.id], [largest, 1n]),
      ],
      [
        times.pay + 1n,
        "a payment one second after a far deadline is refused",
        "buyer",
        payCall(registrar, small.id, 1n),
      ],
      [times.pay + 1n, "an offer expires after a far deadline", "stranger", expireCall(registrar, small.id)],
      [times.claim, "a claim long after a revocation is accepted", "beneficiary", claim(large.id)],
      [times.claim, "a claim of an expired purchase is accepted", "beneficiary", claim(small.id)],
      [
        times.funding,
        "a large refund long after a revocation is accepted",
        "operator",
        refund(large.id, award),
      ],
      [
        times.funding + 1n,
        "a refund one second after a far end of the funding is refused",
        "operator",
        refund(small.id, 1n),
      ],
    ];
    await recorder.simulate(
      steps.map(([timestamp, rule, actor, call]) => ({ timestamp, rule, actor, call })),
    );
  },
};

/** Calls under the largest deadlines that there are, which are those of what has no end. */
export const endlessCalls: CallSequence = { name: "without an end", run: endNever };

async function endNever(recorder: CallRecorder): Promise<void> {
  const { registrar, fixture } = recorder;
  const timestamp = await recorder.now();
  const { authorization, signature } = await recorder.authorize({
    validUntil: maxUint64,
    merchantRef: hashId("mrc_endless"),
  });
  const offered = await recorder.sign({
    purchaseRef: hashId("endless"),
    merchant: authorization.wallet,
    offerDeadline: maxUint64,
    payDeadline: maxUint64,
    claimDeadline: maxUint64,
  });
  const { operator, commitmentSigner, bounds } = await recorder.programState();
  const endless = { operator, commitmentSigner, bounds: { ...bounds, validUntil: maxUint64 } };
  const steps: [rule: string, actor: Actor, call: Pick<Call, "to" | "data">][] = [
    ["the admin sets bounds without an end", "deployer", setBoundsCall(registrar, demo, endless)],
    [
      "a funding without an end is enrolled",
      "other_merchant",
      enrollCall(registrar, authorization, signature),
    ],
    [
      "the merchant lets refunds be drawn",
      "other_merchant",
      fixture.approve(usdc, fixture.contracts.funding_source),
    ],
    [
      "a purchase without deadlines is offered",
      "operator",
      offerCall(registrar, offered.commitment, offered.signature),
    ],
    ["a payment without a deadline is accepted", "buyer", payCall(registrar, offered.id, usdc)],
    ["a purchase without a deadline cannot expire", "stranger", expireCall(registrar, offered.id)],
    [
      "a claim without a deadline is recorded",
      "beneficiary",
      claimCall(registrar, offered.id, hashId("claim")),
    ],
    [
      "a refund of a funding without an end is collected",
      "operator",
      collectRefundCall(registrar, offered.id, usdc, hashId("decision")),
    ],
  ];
  await recorder.simulate(steps.map(([rule, actor, call]) => ({ timestamp, rule, actor, call })));
}

function tokenCall(to: Address, functionName: "mint" | "approve", account: Address) {
  const args = [account, 3n * largest] as const;
  return { to, data: encodeFunctionData({ abi: hostileTokenAbi, functionName, args }) };
}

/** More than fit into 8 bits. */
const many = 260;

/** So many payments of one purchase, and so many enrollments, that their numbers need more than 8 bits. */
export const manyCalls: CallSequence = {
  name: "many calls",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const timestamp = (await recorder.now()) + 1n;
    const pay: SimulatedStep = {
      rule: null,
      actor: "buyer",
      call: payCall(registrar, fixture.purchase.commitment.hash, 1n),
      timestamp,
    };
    const payments = Array.from({ length: many }, () => pay);
    await recorder.simulate([...payments, { ...pay, rule: "every payment of many has its own number" }]);
    await enrollOften(recorder, timestamp);
    await payInOneBatch(recorder, timestamp);
  },
};

/** A commitment signer that is a contract, because this many signatures would take long to make. */
const { address: anySigner, code } = signersWithCode["that accepts every signature"];

/** Returns the step by which it becomes the signer. */
async function setAnySigner(recorder: CallRecorder, timestamp: bigint): Promise<SimulatedStep> {
  const { operator, bounds } = await recorder.programState();
  const terms = {
    operator,
    commitmentSigner: anySigner,
    bounds: { ...bounds, validUntil: Number(bounds.validUntil) },
  };
  return { rule: null, actor: "deployer", call: setBoundsCall(recorder.registrar, demo, terms), timestamp };
}

/** Returns a signature as long as a key's, and for each reference another one: the length and the single use of signatures are rules of their own. */
function signatureFor(reference: Hex): Hex {
  return concatHex([reference, reference, "0x1b"]);
}

/** The interface sets no largest number of payments in a batch. */
const largeBatch = 50;
/** A contract may use more gas than the sandbox's own: near what a transaction may have (EIP-7825). */
const mostGas = 16_000_000n;

/** Registers purchases, and pays another amount of each of them in one batch. */
async function payInOneBatch(recorder: CallRecorder, timestamp: bigint): Promise<void> {
  const { registrar, fixture } = recorder;
  const { commitment } = await recorder.sign();
  const sold = Array.from({ length: largeBatch }, (_, index) => ({
    ...commitment,
    salt: hashId(`in a batch ${index}`),
  }));
  const ids = sold.map((one) => hashCommitment(fixture.domain, one));
  for (const id of ids) recorder.watchPurchase(id);
  const pay = payBatchCall(
    registrar,
    ids,
    ids.map((_, index) => BigInt(index + 1)),
  );
  await recorder.simulate(
    [
      await setAnySigner(recorder, timestamp),
      ...sold.map(
        (one): SimulatedStep => ({
          rule: null,
          actor: "merchant",
          call: registerCall(registrar, one, signatureFor(one.salt)),
          timestamp,
        }),
      ),
      {
        rule: `a batch that pays ${largeBatch} purchases pays each`,
        actor: "buyer",
        call: { ...pay, gas: mostGas },
        timestamp,
      },
    ],
    { [anySigner]: { code } },
  );
}

/** Enrolls and revokes again and again. */
async function enrollOften(recorder: CallRecorder, timestamp: bigint): Promise<void> {
  const { registrar } = recorder;
  const { authorization } = await recorder.authorize();
  const { commitment } = await recorder.sign({ merchant: authorization.wallet });
  const step = (call: Call): SimulatedStep => ({ rule: null, actor: "other_merchant", call, timestamp });
  const enroll = (merchantRef: Hex) =>
    step(enrollCall(registrar, { ...authorization, merchantRef }, signatureFor(merchantRef)));
  const enrollments = Array.from({ length: many }, (_, index) => hashId(`mrc_many_${index}`)).flatMap(
    (merchantRef) => [enroll(merchantRef), step(revokeFundingCall(registrar, demo, merchantRef))],
  );
  await recorder.simulate(
    [
      await setAnySigner(recorder, timestamp),
      ...enrollments,
      { ...enroll(authorization.merchantRef), rule: "every enrollment of many has a funding of its own" },
      {
        ...step(registerCall(registrar, commitment, signatureFor(commitment.purchaseRef))),
        rule: "a purchase belongs to the last enrollment of many",
      },
    ],
    { [anySigner]: { code } },
  );
}
