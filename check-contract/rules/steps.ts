import { type Address, encodeFunctionData, type Hex, maxUint256, zeroAddress } from "viem";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import {
  acceptAdminCall,
  type Call,
  claimCall,
  collectRefundCall,
  expireCall,
  offerCall,
  type ProgramTerms,
  payCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
  transferAdminCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Scene } from "./scene.ts";
import { type SignerWithCode, signersWithCode } from "./signers.ts";
import { isRefundedInFull, type PurchaseState } from "./state.ts";
import { actors, amounts, ends, type Role } from "./values.ts";

/** A call by one of the roles. */
export interface Step {
  by: Role;
  call: Pick<Call, "to" | "data" | "function">;
  /** In wei. */
  value?: bigint | undefined;
  /** In seconds after the start. */
  second: number;
}

/** Returns the second in which the calls in a state are made, unless they name another one. */
export function secondOf({ status }: PurchaseState): number {
  return status === "expired" ? ends.pay + 2 : 2;
}

/** Returns the program's operator; null if it has none. */
export function operatorOf({ program }: PurchaseState): Role | null {
  if (program === "without an operator") return null;
  return program === "with another operator" ? "other operator" : "operator";
}

/** Returns who may claim. */
export function claimantOf({ parties }: PurchaseState): Role {
  return parties === "apart" ? "beneficiary" : "buyer";
}

/** A change between a state and a call, in the second of the state: such as a refund of the other purchase, or a block of the merchant. */
export type Preparation =
  | "a refund"
  | "low allowances"
  | "infinite allowances"
  | "low balances"
  | "a block"
  | "a refund of one unit"
  | "a refund of the whole cap"
  | "a payment of all but one unit"
  | "a claim"
  | "a claim between two payments"
  | "the loss of the merchant's tokens and allowances"
  | "a pause of another program"
  | "a revocation"
  | "a revocation, and the end of the bounds"
  | "a pause"
  | "two pauses"
  | "a withdrawal"
  | "a block of the beneficiary"
  | "a transfer of the admin"
  | "a transfer of the admin to another wallet"
  | "a transfer of the admin to itself"
  | "a withdrawn transfer of the admin"
  | "a transfer of the admin, which is the operator"
  | "a transfer of the admin, and longer bounds"
  | "a transfer of the admin, and of another program's"
  | "the acceptance of another admin"
  | "the end of the bounds"
  | "longer bounds"
  | "a largest purchase of zero"
  | "a budget of zero"
  | "another offer"
  | "another registration"
  | "another enrollment"
  | "an enrollment in another token"
  | "an enrollment in another program"
  | "the end of the commitment signer"
  | "another commitment signer"
  | "another commitment signer, and the former one again"
  | `a commitment signer ${SignerWithCode}`;

/** The calls that lead to the states. Each is encoded once. */
export interface StepCalls {
  offer: Call;
  registration: Call;
  payPart: Call;
  payAll: Call;
  claim: Call;
  refund: Call;
  refundPart: Call;
  refundAll: Call;
  withdraw: Call;
  revoke: Call;
  enrollAgain: Call;
  expire: Call;
  /** Those between a state and a call. */
  after: { readonly [P in Preparation]: readonly Change[] };
  program: { readonly [P in Exclude<PurchaseState["program"], "running">]: Call };
}

/** A call of a preparation. */
type Change = Omit<Step, "second">;

/** Returns the calls that lead to the states. */
export function encodeSteps(scene: Scene): StepCalls {
  const { registrar, program, merchantRef, purchase, terms, fixture } = scene;
  const { commitment, signature, id } = purchase;
  const set = (changes: Partial<ProgramTerms>) => setBoundsCall(registrar, program, terms(changes));
  return {
    offer: offerCall(registrar, commitment, signature),
    registration: registerCall(registrar, commitment, signature),
    payPart: payCall(registrar, id, amounts.part),
    payAll: payCall(registrar, id, amounts.purchase),
    claim: claimCall(registrar, id, hashId("claim")),
    refund: refundCall(scene, id, 1n),
    refundPart: refundCall(scene, id, amounts.part),
    refundAll: refundCall(scene, id, amounts.purchase),
    withdraw: withdrawOfferCall(registrar, id),
    revoke: revokeFundingCall(registrar, program, merchantRef),
    enrollAgain: scene.enroll.again,
    expire: expireCall(registrar, id),
    after: encodeChanges(scene),
    program: {
      paused: setPausedCall(registrar, program, true),
      "without bounds": set({ bounds: { maxPurchase: 0n, openBudget: 0n, validUntil: 0 } }),
      "without an operator": set({ operator: zeroAddress }),
      "with another operator": set({ operator: fixture.address(actors["other operator"]) }),
    },
  };
}

function refundCall({ registrar }: Scene, id: Hex, award: bigint): Call {
  return collectRefundCall(registrar, id, award, hashId("decision"));
}

function commitCall({ registrar, next }: Scene, route: typeof registerCall): Call {
  const { commitment, signature } = next(amounts.purchase);
  return route(registrar, commitment, signature);
}

function encodeChanges(scene: Scene): StepCalls["after"] {
  const { registrar, program, merchantRef, purchase, other, enroll } = scene;
  /** Uses up the funding, but for `amounts.rest`. */
  const refundOther: Change = { by: "operator", call: refundCall(scene, other.id, other.commitment.amount) };
  const pay = (amount: bigint): Change => ({ by: "buyer", call: payCall(registrar, purchase.id, amount) });
  const claim: Change = { by: "beneficiary", call: claimCall(registrar, purchase.id, hashId("claim")) };
  const pause: Change = { by: "admin", call: setPausedCall(registrar, program, true) };
  const revoke: Change = { by: "merchant", call: revokeFundingCall(registrar, program, merchantRef) };
  return {
    "a refund": [refundOther],
    "low allowances": allowances(scene, amounts.low),
    "infinite allowances": allowances(scene, maxUint256),
    "low balances": lowBalances(scene),
    "a block": [{ by: "admin", call: blockCall(scene, "merchant") }],
    "a block of the beneficiary": [{ by: "admin", call: blockCall(scene, "beneficiary") }],
    "a refund of one unit": [
      pay(amounts.purchase),
      claim,
      { by: "operator", call: refundCall(scene, purchase.id, 1n) },
    ],
    "a refund of the whole cap": [
      refundOther,
      pay(amounts.purchase),
      claim,
      { by: "operator", call: refundCall(scene, purchase.id, amounts.rest) },
    ],
    "a payment of all but one unit": [pay(amounts.purchase - 1n)],
    "a claim": [claim],
    "a claim between two payments": [pay(amounts.part), claim, pay(amounts.purchase - amounts.part)],
    "the loss of the merchant's tokens and allowances": [
      pay(amounts.purchase - 1n),
      leave(scene, "merchant", 1n - amounts.purchase),
      ...allowancesOf(scene, "merchant", 0n, 0n),
    ],
    "a pause of another program": [
      { by: "other operator", call: setPausedCall(registrar, hashId("prg_operator"), true) },
    ],
    "a revocation": [revoke],
    "a pause": [pause],
    "two pauses": [pause, pause],
    "a withdrawal": [{ by: "operator", call: withdrawOfferCall(registrar, purchase.id) }],
    ...adminChanges(scene),
    "a revocation, and the end of the bounds": [
      revoke,
      ...setTerms(scene, { bounds: { maxPurchase: 0n, openBudget: 0n, validUntil: 0 } }),
    ],
    "another offer": [{ by: "operator", call: commitCall(scene, offerCall) }],
    "another registration": [{ by: "merchant", call: commitCall(scene, registerCall) }],
    "another enrollment": [revoke, { by: "merchant", call: enroll.again }],
    "an enrollment in another token": [revoke, { by: "merchant", call: enroll["in another token"] }],
    "an enrollment in another program": [{ by: "merchant", call: enroll["in another program"] }],
    ...termsChanges(scene),
  };
}

function setTerms({ registrar, program, terms }: Scene, changes: Partial<ProgramTerms>): Change[] {
  return [{ by: "admin", call: setBoundsCall(registrar, program, terms(changes)) }];
}

/** The calls that change the program's terms. */
function termsChanges(scene: Scene) {
  const { terms, start, fixture } = scene;
  const set = (changes: Partial<ProgramTerms>) => setTerms(scene, changes);
  const { bounds } = terms();
  const otherSigner = set({ commitmentSigner: fixture.address(actors.stranger) });
  const signers = Object.entries(signersWithCode).map(([signer, { address }]) => [
    `a commitment signer ${signer}`,
    set({ commitmentSigner: address }),
  ]);
  return {
    "the end of the bounds": set({ bounds: { ...bounds, validUntil: start + 1 } }),
    "longer bounds": set({ bounds: { ...bounds, validUntil: start + ends.newFunding } }),
    "a largest purchase of zero": set({ bounds: { ...bounds, maxPurchase: 0n } }),
    "a budget of zero": set({ bounds: { ...bounds, openBudget: 0n } }),
    "the end of the commitment signer": set({ commitmentSigner: zeroAddress }),
    "another commitment signer": otherSigner,
    "another commitment signer, and the former one again": [...otherSigner, ...set({})],
    ...(Object.fromEntries(signers) as {
      [S in SignerWithCode as `a commitment signer ${S}`]: readonly Change[];
    }),
  } satisfies Partial<StepCalls["after"]>;
}

/** The calls by which another wallet may become the admin, or does. */
function adminChanges(scene: Scene) {
  const { registrar, program, terms, fixture } = scene;
  const stranger = fixture.address(actors.stranger);
  const transferTo = (newAdmin: Address): Change => ({
    by: "admin",
    call: transferAdminCall(registrar, program, newAdmin),
  });
  const ownTerms = terms({ operator: fixture.address(actors.admin), commitmentSigner: stranger });
  const transfer = transferTo(stranger);
  return {
    "a transfer of the admin": [transfer],
    "a transfer of the admin to another wallet": [transfer, transferTo(fixture.address(actors.beneficiary))],
    "a transfer of the admin to itself": [transferTo(fixture.address(actors.admin))],
    "a withdrawn transfer of the admin": [transfer, transferTo(zeroAddress)],
    "a transfer of the admin, which is the operator": [
      { by: "admin", call: setBoundsCall(registrar, program, ownTerms) },
      transfer,
    ],
    "a transfer of the admin, and longer bounds": [
      transfer,
      ...setTerms(scene, { bounds: { ...terms().bounds, validUntil: scene.start + ends.newFunding } }),
    ],
    "a transfer of the admin, and of another program's": [
      transfer,
      { by: "other operator", call: transferAdminCall(registrar, hashId("prg_operator"), stranger) },
    ],
    "the acceptance of another admin": [
      transfer,
      { by: "stranger", call: acceptAdminCall(registrar, program) },
    ],
  } satisfies Partial<StepCalls["after"]>;
}

/** Has the token refuse transfers from and to a wallet. */
function blockCall({ fixture }: Scene, role: Role): Step["call"] {
  const args = [fixture.address(actors[role])] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "blacklist", args });
  return { to: fixture.contracts.token, function: "blacklist", data };
}

/** Lets an amount be drawn from the buyer and the merchant; what they approve elsewhere must not be drawn. */
function allowances(scene: Scene, amount: bigint): readonly Change[] {
  return [
    ...allowancesOf(scene, "buyer", amount, amounts.cap),
    ...allowancesOf(scene, "merchant", amounts.cap, amount),
  ];
}

/** Lets one amount be drawn by the registrar contract, and another one by the funding source. */
function allowancesOf({ fixture }: Scene, by: Role, paid: bigint, refunded: bigint): readonly Change[] {
  const { registrar, funding_source: source } = fixture.contracts;
  return [
    { by, call: fixture.approve(paid, registrar) },
    { by, call: fixture.approve(refunded, source) },
  ];
}

/** Leaves the buyer a part, and the merchant one unit: less than a purchase that is not paid yet, and than one that is. */
function lowBalances(scene: Scene): readonly Change[] {
  return [leave(scene, "buyer", amounts.part), leave(scene, "merchant", 1n)];
}

/** Leaves a wallet so much of the tokens that it had at the start. */
function leave({ fixture, balances }: Scene, by: "buyer" | "merchant", rest: bigint): Change {
  const args = [fixture.address(actors.stranger), balances[by] - rest] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "transfer", args });
  return { by, call: { to: fixture.contracts.token, function: "transfer", data } };
}

/** Returns the steps of a change after the steps to a state. A refund is collected by the operator of the state, and a claim is filed by its claimant. */
export function stepsOf(
  preparation: Preparation | undefined,
  state: PurchaseState,
  { after }: StepCalls,
): readonly Step[] {
  if (preparation === undefined) return [];
  const second = secondOf(state);
  const actual: { readonly [R in Role]?: Role } = {
    operator: operatorOf(state) ?? "operator",
    beneficiary: claimantOf(state),
  };
  return after[preparation].map(({ by, call }) => ({ by: actual[by] ?? by, call, second }));
}

/** Returns the steps to a state. The funding and the program change last, so that no step is refused. */
export function stepsTo(state: PurchaseState, calls: StepCalls): readonly Step[] {
  const { route, paid, claim, status, funding, program } = state;
  const refundAll = paid === "all" ? calls.refundAll : calls.refundPart;
  const refund = isRefundedInFull(state) ? refundAll : calls.refund;
  const steps: [isTaken: boolean, by: Role, call: Call][] = [
    [route === "offer", "operator", calls.offer],
    [route === "registration", "merchant", calls.registration],
    [paid === "a part", "buyer", calls.payPart],
    [paid === "all", "buyer", calls.payAll],
    [claim !== "none", claimantOf(state), calls.claim],
    [claim === "refunded", "operator", refund],
    [status === "withdrawn", "operator", calls.withdraw],
    [funding !== "active", "merchant", calls.revoke],
    [funding === "re-enrolled", "merchant", calls.enrollAgain],
  ];
  const taken = steps.flatMap(([isTaken, by, call]) => (isTaken ? [{ by, call, second: 1 }] : []));
  if (program !== "running") taken.push({ by: "admin", call: calls.program[program], second: 1 });
  if (status === "expired") taken.push({ by: "stranger", call: calls.expire, second: ends.pay + 1 });
  return taken;
}
