import { encodeFunctionData, type Hex, pad } from "viem";
import {
  enrollCall,
  offerCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import type { Commitment } from "../../protocol/messages/commitment.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { contractSignerAbi } from "../adversary-abi.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import { askedByCode } from "../rules/signers.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const demo = hashId("prg_demo");

interface Sending {
  actor?: Actor;
  /** The program whose commitment signer signs. */
  signedBy?: string;
  /** The signature of another message, in place of one of the purchase. */
  signature?: Hex;
  /** Unix seconds of the block. */
  timestamp?: bigint;
  /** The errors that are accepted; by default exactly that of the sandbox's own contract, with its arguments. */
  errors?: readonly string[];
}

/** Returns a function that brings a purchase on chain by one route, with other fields instead of its own. */
function commitments(recorder: CallRecorder, route: typeof offerCall, sender: Actor) {
  return async (rule: string, fields: Partial<Commitment> = {}, sending: Sending = {}) => {
    const { actor = sender, signedBy = "prg_demo", timestamp, errors } = sending;
    const signed = await recorder.sign(fields, signedBy);
    const { signature = signed.signature } = sending;
    const call = route(recorder.registrar, signed.commitment, signature);
    if (errors === undefined) await recorder.call(rule, actor, call, timestamp);
    else await recorder.callRefusedWith(errors, rule, actor, call, timestamp);
    return signature;
  };
}

type Commit = ReturnType<typeof commitments>;

/** The conditions on a purchase, which are the same by both routes. */
async function tryConditions(recorder: CallRecorder, commit: Commit, what: string): Promise<void> {
  const { fixture, registrar } = recorder;
  const now = await recorder.now();
  const merchant = fixture.address("merchant");
  const deadlines = { offerDeadline: now + 1_000n, payDeadline: now + 2_000n, claimDeadline: now + 3_000n };
  await commit(`${what} of the smallest amount is accepted`, { amount: 1n });
  await commit(`${what} whose offer deadline is after its pay deadline is refused`, {
    ...deadlines,
    offerDeadline: now + 2_001n,
  });
  await commit(`${what} whose pay deadline is after its claim deadline is refused`, {
    ...deadlines,
    payDeadline: now + 3_001n,
  });
  await commit(`${what} with one deadline for all is accepted`, {
    offerDeadline: now + 2_000n,
    payDeadline: now + 2_000n,
    claimDeadline: now + 2_000n,
  });
  await commit(`${what} whose buyer is the merchant is refused`, { buyer: merchant });
  await commit(`${what} whose beneficiary is the merchant is refused`, { beneficiary: merchant });
  await commit(`${what} whose buyer is its own beneficiary is accepted`, {
    beneficiary: fixture.address("buyer"),
  });
  await commit(`${what} in another token than the funding's is refused`, {
    token: fixture.contracts.registrar,
  });
  const end = BigInt(fixture.merchant.funding.valid_until);
  await commit(`${what} whose claim deadline is after the end of the funding is refused`, {
    claimDeadline: end + 1n,
  });
  await commit(`${what} whose claim deadline is the end of the funding is accepted`, { claimDeadline: end });
  await commit(`${what} above what is left of the funding is refused`, { amount: 500n * usdc + 1n });
  await commit(
    `${what} that another program's commitment signer signed is refused`,
    {},
    { signedBy: "prg_other" },
  );
  const fixed = { purchaseRef: hashId("pur_once"), offerDeadline: now + 900n, payDeadline: now + 901n };
  const once = { ...fixed, claimDeadline: now + 902n };
  const used = await commit(`${what} is accepted with its event and state`, once);
  await commit(`${what} that is on chain is refused`, once);
  await commit(
    `${what} of another amount with its signature is refused`,
    { ...once, amount: 1n },
    { signature: used },
  );
  await recorder.call("the program is paused", "deployer", setPausedCall(registrar, demo, true));
  await commit(`${what} while the program is paused is refused`);
  await recorder.call("the pause is over", "deployer", setPausedCall(registrar, demo, false));
  await commit(`${what} in the last second of its offer deadline is accepted`, deadlines, {
    timestamp: now + 1_000n,
  });
  await commit(`${what} one second after its offer deadline is refused`, deadlines, {
    timestamp: now + 1_001n,
  });
}

/** The calls by which a merchant registers a purchase. */
export const registrationCalls: CallSequence = {
  name: "registrations",
  async run(recorder) {
    const register = commitments(recorder, registerCall, "merchant");
    const { commitment, signature } = await recorder.sign();
    const call = registerCall(recorder.registrar, commitment, signature);
    await recorder.returns("a registration returns the purchase's id", "merchant", call);
    await register("only the merchant registers", {}, { actor: "buyer" });
    await register("the program operator cannot register", {}, { actor: "operator" });
    await register(
      "a wallet without an enrollment cannot register",
      {
        merchant: recorder.fixture.address("stranger"),
      },
      { actor: "stranger" },
    );
    await register(
      "a registration in an unknown program is refused",
      { program: hashId("prg_unknown") },
      { errors: ["ProgramNotOpen", "NotEnrolled", "InvalidSignature"] },
    );
    await register("a registration of zero is refused", { amount: 0n });
    await tryConditions(recorder, register, "a registration");
    const { registrar } = recorder;
    const small = { maxPurchase: usdc, openBudget: usdc, validUntil: 0 };
    await recorder.call(
      "the admin lowers the bounds",
      "deployer",
      setBoundsCall(registrar, demo, await termsNow(recorder, small)),
    );
    await register("the bounds do not limit a registration", { amount: 450n * usdc });
    await recorder.call("the merchant revokes its funding", "merchant", revoke(recorder));
    await register("a registration after a revocation is refused");
  },
};

/** The calls by which the program operator offers a purchase. */
export const offerCalls: CallSequence = {
  name: "offers",
  async run(recorder) {
    const offer = commitments(recorder, offerCall, "operator");
    const { commitment, signature } = await recorder.sign();
    const call = offerCall(recorder.registrar, commitment, signature);
    await recorder.returns("an offer returns the purchase's id", "operator", call);
    await offer("only the program operator offers", {}, { actor: "merchant" });
    await offer("the admin cannot offer", {}, { actor: "deployer" });
    await offer(
      "an offer in an unknown program is refused",
      { program: hashId("prg_unknown") },
      // Its bounds are zero.
      {
        errors: [
          "ProgramNotOpen",
          "WrongCaller",
          "NotEnrolled",
          "InvalidSignature",
          "AmountOutOfRange",
          "BudgetExceeded",
          "DeadlinePassed",
        ],
      },
    );
    await offer("an offer of a merchant without an enrollment is refused", {
      merchant: recorder.fixture.address("stranger"),
    });
    // It is outside two ranges: that of any amount, and that of the bounds.
    await offer("an offer of zero is refused", { amount: 0n }, { errors: ["AmountOutOfRange"] });
    await tryConditions(recorder, offer, "an offer");
    await tryLargestBudget(recorder, offer);
    await tryBounds(recorder, offer);
  },
};

/** Calls that a commitment signer with code has signed (ERC-1271). */
export const contractSignerCalls: CallSequence = {
  name: "contract signer",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const { operator, commitmentSigner: owner, bounds } = await recorder.programState();
    const register = commitments(recorder, registerCall, "merchant");
    const offer = commitments(recorder, offerCall, "operator");
    await fixture.client.setCode({ address: owner, bytecode: "0x00" });
    await register("a signature of the key of a signer that has got code since is refused");
    recorder.tried("register", askedByCode);
    await fixture.client.setCode({ address: owner, bytecode: "0x" });
    const signer = await fixture.deploy("ContractSigner", "ContractSigner", pad(owner));
    const terms = {
      operator,
      commitmentSigner: signer,
      bounds: { ...bounds, validUntil: Number(bounds.validUntil) },
    };
    const set = setBoundsCall(registrar, demo, terms);
    await recorder.call("the admin names a contract as the commitment signer", "deployer", set);
    const { authorization, signature } = await recorder.authorize();
    const enroll = enrollCall(registrar, authorization, signature);
    await recorder.call("an enrollment that a contract signs is accepted", "other_merchant", enroll);
    recorder.tried("enroll", askedByCode);
    await register("a registration that a contract signs is accepted");
    recorder.tried("register", askedByCode);
    await offer("an offer that a contract signs is accepted");
    recorder.tried("offer", askedByCode);
    await register("a signature that the contract does not accept is refused", {}, { signedBy: "prg_other" });
    recorder.tried("register", askedByCode);
    const behave = (behavior: number) => ({
      to: signer,
      data: encodeFunctionData({ abi: contractSignerAbi, functionName: "setBehavior", args: [behavior] }),
    });
    for (const [behavior, what] of refusing) {
      await recorder.call(`the signer is set so that ${what}`, "stranger", behave(behavior));
      await offer(`an offer while ${what} is refused`);
      recorder.tried("offer", askedByCode);
    }
    await recorder.call("the signer accepts every signature", "stranger", behave(1));
    const { commitment } = await recorder.sign();
    const short = registerCall(registrar, commitment, "0x01");
    await recorder.call("a contract's signature can have any length", "merchant", short);
    recorder.tried("register", askedByCode);
    await signAlike(recorder, { register, offer });
  },
};

/** Calls with the same bytes as their signatures, by which a contract may say that it has approved each. */
async function signAlike(recorder: CallRecorder, { register, offer }: { [route: string]: Commit }) {
  const signature = "0x01";
  await register?.("another registration with the same signature of a contract", {}, { signature });
  for (const what of ["an offer", "another offer"])
    await offer?.(`${what} with the same signature of a contract`, {}, { signature });
  for (const actor of ["other_buyer", "stranger"] as const) {
    const fields = { wallet: recorder.fixture.address(actor), merchantRef: hashId(`mrc_${actor}`) };
    const { authorization } = await recorder.authorize(fields);
    const call = enrollCall(recorder.registrar, authorization, signature);
    await recorder.call(`an enrollment of the ${actor} with the same signature of a contract`, actor, call);
  }
}

/** Behaviors of ContractSigner by which it accepts no signature. */
const refusing = [
  [2, "its signer accepts no signature"],
  [3, "its signer returns too few bytes"],
  [4, "its signer reverts"],
] as const;

/** Open offers that add up to the largest number that the contract can hold. */
async function tryLargestBudget(recorder: CallRecorder, offer: Commit): Promise<void> {
  const { registrar } = recorder;
  const largest = 2n ** 128n - 1n;
  const bounds = { maxPurchase: largest, openBudget: largest, validUntil: 4_000_000_000 };
  const raise = setBoundsCall(registrar, demo, await termsNow(recorder, bounds));
  await recorder.call("the admin sets the largest bounds", "deployer", raise);
  const { authorization, signature } = await recorder.authorize({ cap: largest, validUntil: 3_000_000_000n });
  const enroll = enrollCall(registrar, authorization, signature);
  await recorder.call("another merchant enrolls with the largest funding", "other_merchant", enroll);
  const { openOffers } = await recorder.programState();
  const merchant = authorization.wallet;
  const whole = await recorder.sign({ merchant, amount: largest - openOffers });
  const call = offerCall(registrar, whole.commitment, whole.signature);
  await recorder.call("an offer of the whole budget is accepted", "operator", call);
  await offer("an offer above the largest budget is refused", { merchant, amount: 1n });
  const withdraw = withdrawOfferCall(registrar, whole.id);
  await recorder.call("a withdrawal releases the whole budget", "operator", withdraw);
}

async function tryBounds(recorder: CallRecorder, offer: Commit): Promise<void> {
  const { registrar } = recorder;
  const { openOffers } = await recorder.programState();
  const end = Number(await recorder.now()) + 500;
  const bounds = { maxPurchase: 20n * usdc, openBudget: openOffers + 30n * usdc, validUntil: end };
  const set = async (changed: Partial<typeof bounds> = {}) =>
    setBoundsCall(registrar, demo, await termsNow(recorder, { ...bounds, ...changed }));
  await recorder.call("the admin lowers the bounds of offers", "deployer", await set());
  await offer("an offer above the largest purchase is refused", { amount: 20n * usdc + 1n });
  await offer("an offer of the largest purchase is accepted", { amount: 20n * usdc });
  await offer("an offer above the budget of open offers is refused", { amount: 10n * usdc + 1n });
  await offer("an offer of all that is left of the budget is accepted", { amount: 10n * usdc });
  await offer("an offer without a budget is refused", { amount: 1n });
  await recorder.call(
    "the admin lowers the budget below the open offers",
    "deployer",
    await set({ openBudget: usdc }),
  );
  await offer("an offer while the open offers exceed the budget is refused", { amount: 1n });
  await recorder.call("the admin raises the budget", "deployer", await set({ openBudget: 2n ** 128n - 1n }));
  await offer(
    "an offer in the last second of the bounds is accepted",
    { amount: usdc },
    { timestamp: BigInt(end) },
  );
  await offer(
    "an offer one second after the bounds is refused",
    { amount: usdc },
    { timestamp: BigInt(end) + 1n },
  );
  await recorder.call(
    "the admin renews the bounds",
    "deployer",
    await set({ openBudget: 2n ** 128n - 1n, validUntil: end + 1_000 }),
  );
  await recorder.call("the merchant revokes its funding", "merchant", revoke(recorder));
  await offer("an offer after a revocation is refused", { amount: usdc });
}

function revoke({ registrar, fixture }: CallRecorder) {
  return revokeFundingCall(registrar, demo, hashId(fixture.merchant.id));
}

/** The program's terms with other bounds. */
async function termsNow(
  recorder: CallRecorder,
  bounds: { maxPurchase: bigint; openBudget: bigint; validUntil: number },
) {
  const { operator, commitmentSigner } = await recorder.programState();
  return { operator, commitmentSigner, bounds };
}
