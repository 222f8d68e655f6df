import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import {
  approveCall,
  type Call,
  enrollCall,
  offerCall,
  openProgramCall,
  type ProgramTerms,
  registerCall,
  revokeFundingCall,
} from "../../protocol/call.ts";
import { type Commitment, hashCommitment } from "../../protocol/messages/commitment.ts";
import { hashFundingAuthorization } from "../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../protocol/values/id.ts";
import { hostileTokenAbi } from "../adversary-abi.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import { signDigest } from "../fixture/sign-digest.ts";

/** One call of a walk. */
export interface Move {
  /** Such as "pay 5 of purchase 2". */
  name: string;
  by: Actor;
  call: Pick<Call, "to" | "data" | "function">;
}

/** The wallets that make the calls. */
export const callers: readonly Actor[] = [
  "deployer",
  "operator",
  "other_merchant",
  "buyer",
  "beneficiary",
  "other_buyer",
  "stranger",
];

/** A merchant's wallet in a walk. */
type Merchant = "other_merchant" | "stranger";

/** The three programs of the walks. The id of the last one is also a merchantRef, and it opens during a walk. */
export const programs = [
  { id: hashId("prg_walk"), admin: "deployer", operator: "operator" },
  { id: hashId("prg_next"), admin: "beneficiary", operator: "other_buyer" },
  { id: hashId("mrc_two"), admin: "stranger", operator: "operator" },
] as const satisfies readonly { id: Hex; admin: Actor; operator: Actor }[];

/** Their merchantRefs. The last one is also the id of a program. */
const refs = ["mrc_one", "mrc_two", "prg_walk", "mrc_three", "mrc_four", "mrc_five", "mrc_six"].map(hashId);

/** Ends of periods, in seconds after the start. */
export const ends = {
  soon: { offer: 100, pay: 200, claim: 300 },
  late: { offer: 400, pay: 500, claim: 600 },
  bounds: 700,
  soonBounds: 250,
  funding: 1_000,
  soonFunding: 450,
} as const;

/** The seconds after the start that a walk goes to: those around an end, and between two. */
export const seconds: readonly number[] = [
  ...Object.values(ends.soon),
  ...Object.values(ends.late),
  ends.bounds,
  ends.soonBounds,
  ends.funding,
  ends.soonFunding,
]
  .flatMap((end) => [end - 40, end - 1, end, end + 1, end + 30])
  .toSorted((left, right) => left - right);

/** The fundings: program, merchantRef, wallet, whether in USDC, cap, and end. */
export const fundings: readonly (readonly [number, number, Merchant, boolean, bigint, number])[] = [
  [0, 0, "other_merchant", true, 20n, ends.funding],
  [0, 0, "other_merchant", false, 20n, ends.funding],
  [0, 1, "other_merchant", true, 12n, ends.funding],
  [0, 1, "other_merchant", true, 100n, ends.soonFunding],
  [0, 1, "other_merchant", false, 20n, ends.funding],
  [0, 0, "stranger", true, 15n, ends.funding],
  [0, 1, "stranger", true, 30n, ends.funding],
  [1, 0, "other_merchant", true, 20n, ends.funding],
  [1, 1, "other_merchant", true, 11n, ends.funding],
  [1, 0, "stranger", true, 20n, ends.funding],
  [2, 2, "stranger", true, 20n, ends.funding],
  [2, 0, "other_merchant", true, 20n, ends.funding],
  [0, 3, "other_merchant", true, 20n, ends.funding],
  [0, 4, "other_merchant", true, 12n, ends.funding],
  [0, 5, "other_merchant", true, 100n, ends.funding],
  [0, 6, "other_merchant", false, 20n, ends.funding],
  [0, 3, "stranger", true, 20n, ends.funding],
  [1, 3, "other_merchant", true, 100n, ends.funding],
  [1, 4, "stranger", true, 10n, ends.funding],
];

/** The purchases: program, merchant, buyer, beneficiary, whether in USDC, amount, and deadlines. */
const purchases: readonly (readonly [number, Merchant, Actor, Actor, boolean, bigint, "soon" | "late"])[] = [
  [0, "other_merchant", "buyer", "beneficiary", true, 10n, "soon"],
  [0, "other_merchant", "buyer", "beneficiary", true, 10n, "late"],
  [0, "other_merchant", "buyer", "beneficiary", true, 5n, "late"],
  [0, "other_merchant", "buyer", "buyer", true, 5n, "soon"],
  [0, "other_merchant", "other_buyer", "beneficiary", true, 12n, "late"],
  [0, "other_merchant", "buyer", "beneficiary", false, 10n, "late"],
  [0, "stranger", "buyer", "beneficiary", true, 10n, "late"],
  [1, "other_merchant", "buyer", "beneficiary", true, 10n, "late"],
  [1, "stranger", "other_buyer", "beneficiary", true, 11n, "soon"],
  [0, "other_merchant", "buyer", "beneficiary", true, 1n, "soon"],
  [2, "other_merchant", "buyer", "beneficiary", true, 10n, "late"],
  [0, "other_merchant", "buyer", "beneficiary", true, 20n, "late"],
  // With the reference of the first one, and another salt.
  [0, "other_merchant", "buyer", "beneficiary", true, 10n, "soon"],
];

export const amounts = [1n, 4n, 5n, 6n, 10n, 12n] as const;

/** A purchase that a walk can put on chain. */
export interface WalkPurchase {
  id: Hex;
  operator: Actor;
  merchant: Actor;
  buyer: Actor;
  beneficiary: Actor;
  amount: bigint;
  /** By the commitment signer, and by another one. */
  offers: readonly [Call, Call];
  registrations: readonly [Call, Call];
}

/** Everything that the calls of a walk are made of. */
export interface WalkScene {
  fixture: ContractFixture;
  /** Unix seconds. */
  start: number;
  purchases: readonly WalkPurchase[];
  /** The funding of each enrollment, and the calls that make and end it. */
  fundings: readonly { program: Hex; ref: Hex; enroll: Move; revoke: Move }[];
  /** The opening of each program. */
  openings: readonly Move[];
  /** The calls that every walk begins with. */
  first: readonly Move[];
  /** The permits of the buyer, by their nonce and their place in {@link amounts}. */
  permits: readonly (readonly ReturnType<ContractFixture["signPermit"]>[])[];
  token: Address;
  /** The code of a contract wallet. */
  walletCode: Hex;
  /** The calls that have been encoded, by their names. */
  calls: Map<string, Move["call"]>;
}

/** Signs the messages of all walks, and deploys a second token and a contract wallet. */
export async function prepareWalks(fixture: ContractFixture): Promise<WalkScene> {
  await fixture.reset();
  const token = await fixture.deploy("PlainToken");
  const wallet = await fixture.deploy("ContractWallet");
  const walletCode = (await fixture.client.getCode({ address: wallet })) ?? "0x";
  const start = Number((await fixture.client.getBlock()).timestamp) + 100;
  const scene = { fixture, start, token, walletCode, calls: new Map() };
  const own = fundings.map((funding, index) => signFunding(scene, funding, index));
  const openings = programs.map(({ id, admin, operator }, index) =>
    move(scene, `openProgram ${index}`, admin, () =>
      openProgramCall(registrarOf(scene), id, termsOf(scene, operator)),
    ),
  );
  await approveAll(scene);
  const deadline = BigInt(start + ends.late.pay);
  return {
    ...scene,
    purchases: purchases.map((purchase, index) => signPurchase(scene, purchase, index)),
    fundings: own,
    openings,
    first: openings.slice(0, 2),
    permits: [0n, 1n, 2n].map((nonce) =>
      amounts.map((value) => fixture.signPermit({ value, deadline, nonce })),
    ),
  };
}

type Base = Pick<WalkScene, "fixture" | "start" | "token" | "calls">;

/** Returns the address of the registrar contract. */
export function registrarOf({ fixture }: Base): Address {
  return fixture.contracts.registrar;
}

/** Returns a call by its name, which is encoded once. */
export function move(scene: Base, name: string, by: Actor, encode: () => Move["call"]): Move {
  const call = scene.calls.get(name) ?? encode();
  scene.calls.set(name, call);
  return { name, by, call };
}

/** The programs of the sandbox whose commitment signers sign: nearly always the first one. */
const signedBy = ["prg_demo", "prg_other"] as const;

/** Returns the address of the commitment signer that nearly no message is signed by. */
export function otherSigner({ fixture }: Base): Address {
  return privateKeyToAccount(fixture.programKeys(signedBy[1]).commitmentSigner.privateKey).address;
}

/** Returns the terms of a program with an operator, and with other ones in place of the first. */
export function termsOf(
  scene: Base,
  operator: Actor | null,
  changes: Partial<ProgramTerms> = {},
): ProgramTerms {
  const { fixture, start } = scene;
  return {
    operator: operator === null ? zeroAddress : fixture.address(operator),
    commitmentSigner: fixture.address("commitment signer"),
    bounds: { maxPurchase: 12n, openBudget: 30n, validUntil: start + ends.bounds },
    ...changes,
  };
}

function signFunding(
  scene: Base,
  [program, ref, by, isUsdc, cap, end]: (typeof fundings)[number],
  index: number,
) {
  const { fixture, start, token } = scene;
  const registrar = registrarOf(scene);
  const [{ id }, merchantRef] = [programs[program] ?? programs[0], refs[ref] ?? hashId("mrc_one")];
  const authorization = {
    program: id,
    merchantRef,
    wallet: fixture.address(by),
    token: isUsdc ? fixture.contracts.token : token,
    cap,
    validUntil: BigInt(start + end),
    salt: hashId(`funding ${index}`),
  };
  const { privateKey } = fixture.programKeys(signedBy[0]).commitmentSigner;
  const signature = signDigest(hashFundingAuthorization(fixture.domain, authorization), privateKey);
  const name = `funding ${index} (program ${program}, merchantRef ${ref}, cap ${cap}${isUsdc ? "" : ", another token"})`;
  return {
    program: id,
    ref: merchantRef,
    enroll: move(scene, `enroll ${name}`, by, () => enrollCall(registrar, authorization, signature)),
    revoke: move(scene, `revokeFunding ${name}`, by, () => revokeFundingCall(registrar, id, merchantRef)),
  };
}

function signPurchase(
  scene: Base,
  [program, merchant, buyer, beneficiary, isUsdc, amount, deadlines]: (typeof purchases)[number],
  index: number,
): WalkPurchase {
  const { fixture, start, token } = scene;
  const { offer, pay, claim } = ends[deadlines];
  const { id: programId, operator } = programs[program] ?? programs[0];
  const commitment: Commitment = {
    program: programId,
    purchaseRef: hashId(`purchase ${index % 12}`),
    merchant: fixture.address(merchant),
    buyer: fixture.address(buyer),
    beneficiary: fixture.address(beneficiary),
    token: isUsdc ? fixture.contracts.token : token,
    amount,
    termsHash: hashId("terms"),
    offerDeadline: BigInt(start + offer),
    payDeadline: BigInt(start + pay),
    claimDeadline: BigInt(start + claim),
    salt: hashId(`salt ${index}`),
  };
  const id = hashCommitment(fixture.domain, commitment);
  const registrar = registrarOf(scene);
  const sign = (program: string) => signDigest(id, fixture.programKeys(program).commitmentSigner.privateKey);
  const [own, other] = [sign(signedBy[0]), sign(signedBy[1])];
  const both = (route: typeof offerCall) =>
    [route(registrar, commitment, own), route(registrar, commitment, other)] as const;
  return {
    id,
    operator,
    merchant,
    buyer,
    beneficiary,
    amount,
    offers: both(offerCall),
    registrations: both(registerCall),
  };
}

/** Lets all buyers pay, and all refunds be collected, in both tokens. */
async function approveAll({ fixture, token }: Base): Promise<void> {
  const { registrar, funding_source: source, token: usdc } = fixture.contracts;
  for (const [spender, owners] of [
    [registrar, ["buyer", "other_buyer"]],
    [source, ["other_merchant", "stranger"]],
  ] as const)
    for (const owner of owners) {
      for (const one of [usdc, token]) await fixture.succeed(owner, approveCall(one, spender, 1_000n));
      const args = [fixture.address(owner), 1_000n] as const;
      const data = encodeFunctionData({ abi: hostileTokenAbi, functionName: "mint", args });
      await fixture.succeed(owner, { to: token, data });
    }
}
