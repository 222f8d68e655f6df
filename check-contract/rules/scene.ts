import type { Address, Hex } from "viem";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import {
  type Call,
  claimCall,
  enrollCall,
  openProgramCall,
  type ProgramTerms,
  payCall,
  registerCall,
  setBoundsCall,
} from "../../protocol/call.ts";
import type { Commitment } from "../../protocol/messages/commitment.ts";
import type { FundingAuthorization } from "../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../protocol/values/id.ts";
import { CallRecorder, type SignedCommitment } from "../calls/call-recorder.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type SignedTerms, signTerms } from "./signed-terms.ts";
import { actors, amounts, ends, type Role } from "./values.ts";

/** Those that pay for purchases of their own. */
const payers = ["buyer", "beneficiary", "other operator"] as const satisfies readonly Role[];

/** The role of a wallet that pays for purchases of its own. */
export type Payer = (typeof payers)[number];

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
  /** That of the states in which the buyer is its own beneficiary. */
  ownPurchase: SignedCommitment;
  /** A purchase of the same merchant that is paid and claimed. */
  other: SignedCommitment;
  /** Purchases of the same merchant that are not on chain, by their amount. */
  next: (amount: bigint) => SignedCommitment;
  /** Two purchases of each buyer that can be paid whatever the state is: of another merchant, in another program. One of the buyer's is offered. */
  mates: { readonly [B in Payer]: readonly [Hex, Hex] };
  enroll: {
    first: Call;
    again: Call;
    "in another token": Call;
    /** Under the same merchantRef as the first one. */
    "in another program": Call;
    stranger: Call;
    "other operator": Call;
  };
  /** The signature of the first enrollment. */
  firstSignature: Hex;
  /** The enrollment of a stranger. */
  authorization: FundingAuthorization;
  signed: SignedTerms;
  /** The private key of the commitment signer. */
  signerKey: Hex;
  /** The tokens of wallets at the start, in base units. */
  balances: { readonly [R in "buyer" | "merchant"]: bigint };
  /** The code of a contract wallet. */
  walletCode: Hex;
  /** An account without code, which calls the wallets that have code. */
  walletWithoutCode: Address;
}

/** The program of the purchases that are paid together with that of the state, and of the enrollment in another one. */
export const otherProgram = "prg_other";

/** The amounts of the purchases that are not on chain. */
const nextAmounts = [0n, 1n, 5n, 10n, 11n, 12n, 13n, 20n, 21n, 100n, amounts.largest, amounts.wide];

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
    ownPurchase: await sign("own purchase", amounts.purchase, {
      beneficiary: fixture.address(actors.buyer),
    }),
    other: await sign("other", amounts.cap - amounts.rest),
    next: (amount) => next.get(amount) ?? fail(amount),
    mates: await registerMates(recorder, later),
    ...(await signEnrollments(recorder, start)),
    signed: await signTerms(recorder, start),
    signerKey: fixture.programKeys("prg_demo").commitmentSigner.privateKey,
    balances: { buyer: 0n, merchant: 0n },
    walletCode: "0x",
    walletWithoutCode: "0x00000000000000000000000000000000000a11ce",
  };
  const walletCode = await mineScene(scene);
  const balanceOf = async (role: Role) =>
    await fixture.client.readContract({
      address: fixture.contracts.token,
      abi: testUsdcAbi,
      functionName: "balanceOf",
      args: [fixture.address(actors[role])],
    });
  const balances = { buyer: await balanceOf("buyer"), merchant: await balanceOf("merchant") };
  return { ...scene, walletCode, balances };
}

async function registerMates(recorder: CallRecorder, times: Partial<Commitment>): Promise<Scene["mates"]> {
  const { fixture, registrar } = recorder;
  const register = async (payer: Payer, name: string) => {
    const fields = { program: hashId(otherProgram), purchaseRef: hashId(`${name} of the ${payer}`) };
    const buyer = fixture.address(actors[payer]);
    // So each payer is the beneficiary of another purchase too.
    const mate = { ...times, ...fields, buyer, beneficiary: buyer, amount: amounts.purchase };
    const { id, commitment, signature } = await recorder.sign(mate, otherProgram);
    await fixture.succeed("merchant", registerCall(registrar, commitment, signature));
    return id;
  };
  for (const payer of payers) await fixture.succeed(actors[payer], fixture.approve(1_000n));
  return {
    buyer: [fixture.foreign.commitment.hash, await register("buyer", "one")],
    beneficiary: [await register("beneficiary", "one"), await register("beneficiary", "two")],
    "other operator": [await register("other operator", "one"), await register("other operator", "two")],
  };
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

async function signEnrollments(
  recorder: CallRecorder,
  start: number,
): Promise<Pick<Scene, "enroll" | "firstSignature" | "authorization">> {
  const sign = async (
    name: string,
    role: Role,
    cap: bigint,
    end: number,
    fields: Partial<FundingAuthorization> = {},
    program = "prg_demo",
  ) => {
    const authorized = {
      ...fields,
      program: hashId(program),
      merchantRef: hashId(name),
      wallet: recorder.fixture.address(actors[role]),
      cap,
      validUntil: BigInt(start + end),
    };
    const { authorization, signature } = await recorder.authorize(authorized, program);
    return { authorization, signature, call: enrollCall(recorder.registrar, authorization, signature) };
  };
  const first = await sign("mrc_first", "merchant", amounts.cap, ends.funding);
  const again = await sign("mrc_again", "merchant", amounts.newCap, ends.newFunding);
  const token = await recorder.fixture.deploy("HostileToken");
  const elsewhere = await sign("mrc_elsewhere", "merchant", amounts.newCap, ends.newFunding, { token });
  const also = await sign("mrc_first", "merchant", amounts.newCap, ends.newFunding, {}, otherProgram);
  const stranger = await sign("mrc_stranger", "stranger", amounts.cap, ends.newFunding);
  const other = await sign("mrc_operator", "other operator", amounts.cap, ends.newFunding);
  return {
    enroll: {
      first: first.call,
      again: again.call,
      "in another token": elsewhere.call,
      "in another program": also.call,
      stranger: stranger.call,
      "other operator": other.call,
    },
    firstSignature: first.signature,
    authorization: stranger.authorization,
  };
}

/** Mines the calls that all states start from: the other operator is a merchant too, and the admin of another program. Then returns the code of a contract wallet. */
async function mineScene(scene: Scene): Promise<Hex> {
  const { fixture, registrar, program, terms, enroll, other } = scene;
  const approve = fixture.approve(1_000n, fixture.contracts.funding_source);
  await fixture.succeed(actors.admin, setBoundsCall(registrar, program, terms()));
  await fixture.succeed(actors["other operator"], enroll["other operator"]);
  // Last: a contract may look for an earlier funding of a merchant in the one before.
  await fixture.succeed(actors.merchant, enroll.first);
  const ownTerms = terms({ operator: fixture.address(actors["other operator"]) });
  await fixture.succeed(
    actors["other operator"],
    openProgramCall(registrar, hashId("prg_operator"), ownTerms),
  );
  await fixture.succeed(actors.merchant, approve);
  await fixture.succeed(actors.merchant, registerCall(registrar, other.commitment, other.signature));
  await fixture.succeed(actors.buyer, payCall(registrar, other.id, other.commitment.amount));
  await fixture.succeed(actors.beneficiary, claimCall(registrar, other.id, hashId("claim")));
  const address = await fixture.deploy("ContractWallet");
  return (await fixture.client.getCode({ address })) ?? "0x";
}
