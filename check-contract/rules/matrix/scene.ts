import type { Address, Hex } from "viem";
import {
  type Call,
  claimCall,
  enrollCall,
  type ProgramTerms,
  payCall,
  registerCall,
  setBoundsCall,
} from "../../../protocol/call.ts";
import type { Commitment } from "../../../protocol/messages/commitment.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { CallRecorder, type SignedCommitment } from "../../calls/call-recorder.ts";
import type { ContractFixture } from "../../fixture/contract-fixture.ts";
import type { Actor } from "../../fixture/fixture-chain.ts";

/** The wallets that act, by their role. */
export const actors = {
  admin: "deployer",
  operator: "operator",
  merchant: "other_merchant",
  buyer: "buyer",
  beneficiary: "beneficiary",
  "other operator": "other_buyer",
  stranger: "stranger",
} as const satisfies { [role: string]: Actor };

/** The role of a wallet. */
export type Role = keyof typeof actors;

/** Amounts in base units. */
export const amounts = {
  purchase: 10n,
  /** The payment of a purchase that is paid in part. */
  part: 5n,
  /** Covers the purchase, and the refund of another one. */
  cap: 20n,
  /** The rest of the cap after the refund of the other purchase. */
  rest: 4n,
  newCap: 100n,
  maxPurchase: 12n,
  /** The rest of the budget before the purchase is offered. */
  budget: 21n,
} as const;

/** The last seconds of periods, in seconds after the start. */
export const ends = {
  offer: 1_000,
  pay: 2_000,
  claim: 3_000,
  bounds: 4_000,
  /** Of the next purchase. */
  nextOffer: 5_000,
  nextPay: 6_000,
  nextClaim: 7_000,
  funding: 9_000,
  newFunding: 12_000,
} as const;

/** The start of all states: the fixture's program with lower bounds, and another merchant with one claimed purchase. */
export interface Scene {
  fixture: ContractFixture;
  registrar: Address;
  program: Hex;
  /** Unix seconds. */
  start: number;
  merchantRef: Hex;
  newMerchantRef: Hex;
  /** The program's terms, with other ones instead of them. */
  terms: (changes?: Partial<ProgramTerms>) => ProgramTerms;
  /** The purchase whose states are tried. */
  purchase: SignedCommitment;
  /** A purchase of the same merchant that is paid and claimed. */
  other: SignedCommitment;
  /** Purchases of the same merchant that are not on chain, by their amount. */
  next: (amount: bigint) => SignedCommitment;
  enroll: { first: Call; again: Call; stranger: Call };
  /** The code of a contract wallet. */
  walletCode: Hex;
}

/** The amounts of the purchases that are not on chain. */
const nextAmounts = [0n, 10n, 12n, 13n, 20n, 21n];

/** Signs the messages of all states, and mines what these start from. */
export async function prepareScene(fixture: ContractFixture): Promise<Scene> {
  await fixture.reset();
  const recorder = new CallRecorder(fixture);
  const start = Number(await recorder.now()) + 100;
  const sign = async (name: string, amount: bigint, fields: Partial<Commitment> = {}) =>
    await recorder.sign({
      ...deadlines(start, ends.offer, ends.pay, ends.claim),
      purchaseRef: hashId(name),
      merchant: fixture.address(actors.merchant),
      amount,
      ...fields,
    });
  const later = deadlines(start, ends.nextOffer, ends.nextPay, ends.nextClaim);
  const next = new Map<bigint, SignedCommitment>();
  for (const amount of nextAmounts) next.set(amount, await sign(`next ${amount}`, amount, later));
  const scene: Scene = {
    fixture,
    registrar: recorder.registrar,
    program: hashId("prg_demo"),
    start,
    merchantRef: hashId("mrc_first"),
    newMerchantRef: hashId("mrc_again"),
    terms: await termsOf(recorder, start),
    purchase: await sign("purchase", amounts.purchase),
    other: await sign("other", amounts.cap - amounts.rest),
    next: (amount) => next.get(amount) ?? fail(amount),
    enroll: await signEnrollments(recorder, start),
    walletCode: "0x",
  };
  return { ...scene, walletCode: await mineScene(scene) };
}

function deadlines(start: number, offer: number, pay: number, claim: number) {
  return {
    offerDeadline: BigInt(start + offer),
    payDeadline: BigInt(start + pay),
    claimDeadline: BigInt(start + claim),
  };
}

function fail(amount: bigint): never {
  throw new Error(`No purchase of ${amount} is signed.`);
}

async function termsOf(recorder: CallRecorder, start: number): Promise<Scene["terms"]> {
  const { operator, commitmentSigner, openOffers } = await recorder.programState();
  const bounds = {
    maxPurchase: amounts.maxPurchase,
    openBudget: openOffers + amounts.budget,
    validUntil: start + ends.bounds,
  };
  return (changes = {}) => ({ operator, commitmentSigner, bounds, ...changes });
}

async function signEnrollments(recorder: CallRecorder, start: number): Promise<Scene["enroll"]> {
  const sign = async (name: string, role: Role, cap: bigint, end: number) => {
    const { authorization, signature } = await recorder.authorize({
      merchantRef: hashId(name),
      wallet: recorder.fixture.address(actors[role]),
      cap,
      validUntil: BigInt(start + end),
    });
    return enrollCall(recorder.registrar, authorization, signature);
  };
  return {
    first: await sign("mrc_first", "merchant", amounts.cap, ends.funding),
    again: await sign("mrc_again", "merchant", amounts.newCap, ends.newFunding),
    stranger: await sign("mrc_stranger", "stranger", amounts.cap, ends.newFunding),
  };
}

/** Mines the calls that all states start from, and returns the code of a contract wallet. */
async function mineScene(scene: Scene): Promise<Hex> {
  const { fixture, registrar, program, terms, enroll, other } = scene;
  const approve = fixture.approve(1_000n, fixture.contracts.funding_source);
  await fixture.succeed(actors.admin, setBoundsCall(registrar, program, terms()));
  await fixture.succeed(actors.merchant, enroll.first);
  await fixture.succeed(actors.merchant, approve);
  await fixture.succeed(actors.merchant, registerCall(registrar, other.commitment, other.signature));
  await fixture.succeed(actors.buyer, payCall(registrar, other.id, other.commitment.amount));
  await fixture.succeed(actors.beneficiary, claimCall(registrar, other.id, hashId("claim")));
  const address = await fixture.deploy("ContractWallet");
  return (await fixture.client.getCode({ address })) ?? "0x";
}
