import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import {
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
  withdrawOfferCall,
} from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Scene } from "./scene.ts";
import type { PurchaseState } from "./state.ts";
import { actors, amounts, ends, type Role } from "./values.ts";

/** A call by one of the roles. */
export interface Step {
  by: Role;
  call: Pick<Call, "to" | "data" | "function">;
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

/** The changes between a state and a call: a refund of the other purchase, low allowances, or a block of the merchant. */
export const preparations = ["a refund", "low allowances", "a block"] as const;

/** A change between a state and a call. */
export type Preparation = (typeof preparations)[number];

/** The calls that lead to the states. Each is encoded once. */
export interface StepCalls {
  offer: Call;
  registration: Call;
  payPart: Call;
  payAll: Call;
  claim: Call;
  refund: Call;
  /** Uses up the funding, but for `amounts.rest`. */
  refundOther: Call;
  withdraw: Call;
  revoke: Call;
  enrollAgain: Call;
  expire: Call;
  /** Leave the buyer and the merchant one unit less than a part to be drawn; what they approve elsewhere must not be drawn. */
  lowAllowances: readonly Step[];
  /** Blocks the merchant. */
  block: Pick<Call, "to" | "data" | "function">;
  program: { readonly [P in Exclude<PurchaseState["program"], "running">]: Call };
}

/** Returns the calls that lead to the states. */
export function encodeSteps(scene: Scene): StepCalls {
  const { registrar, program, merchantRef, purchase, other, terms, fixture } = scene;
  const { token } = fixture.contracts;
  const { commitment, signature, id } = purchase;
  const refund = (purchaseId: Hex, award: bigint) =>
    collectRefundCall(registrar, purchaseId, award, hashId("decision"));
  const set = (changes: Partial<ProgramTerms>) => setBoundsCall(registrar, program, terms(changes));
  return {
    offer: offerCall(registrar, commitment, signature),
    registration: registerCall(registrar, commitment, signature),
    payPart: payCall(registrar, id, amounts.part),
    payAll: payCall(registrar, id, amounts.purchase),
    claim: claimCall(registrar, id, hashId("claim")),
    refund: refund(id, 1n),
    refundOther: refund(other.id, other.commitment.amount),
    withdraw: withdrawOfferCall(registrar, id),
    revoke: revokeFundingCall(registrar, program, merchantRef),
    enrollAgain: scene.enroll.again,
    expire: expireCall(registrar, id),
    lowAllowances: encodeLowAllowances(scene),
    block: {
      to: token,
      function: "blacklist",
      data: encodeFunctionData({
        abi: testUsdcAbi,
        functionName: "blacklist",
        args: [fixture.address(actors.merchant)],
      }),
    },
    program: {
      paused: setPausedCall(registrar, program, true),
      "without bounds": set({ bounds: { maxPurchase: 0n, openBudget: 0n, validUntil: 0 } }),
      "without an operator": set({ operator: zeroAddress }),
      "with another operator": set({ operator: fixture.address(actors["other operator"]) }),
    },
  };
}

function encodeLowAllowances({ fixture }: Scene): readonly Step[] {
  const { registrar, funding_source: source } = fixture.contracts;
  const approve = (by: Role, spender: Address, amount: bigint): Step => ({
    by,
    call: fixture.approve(amount, spender),
    second: 1,
  });
  return [
    approve("buyer", registrar, amounts.part - 1n),
    approve("buyer", source, amounts.cap),
    approve("merchant", source, amounts.part - 1n),
    approve("merchant", registrar, amounts.cap),
  ];
}

/** Returns the steps of a change after the steps to a state. */
export function stepsOf(
  preparation: Preparation | undefined,
  state: PurchaseState,
  { refundOther, lowAllowances, block }: StepCalls,
): readonly Step[] {
  const second = secondOf(state);
  const operator = operatorOf(state);
  if (preparation === "low allowances") return lowAllowances.map((step) => ({ ...step, second }));
  if (preparation === "a block") return [{ by: "admin", call: block, second }];
  return preparation === undefined || operator === null ? [] : [{ by: operator, call: refundOther, second }];
}

/** Returns the steps to a state. The funding and the program change last, so that no step is refused. */
export function stepsTo(state: PurchaseState, calls: StepCalls): readonly Step[] {
  const { route, paid, claim, status, funding, program } = state;
  const steps: [isTaken: boolean, by: Role, call: Call][] = [
    [route === "offer", "operator", calls.offer],
    [route === "registration", "merchant", calls.registration],
    [paid === "a part", "buyer", calls.payPart],
    [paid === "all", "buyer", calls.payAll],
    [claim !== "none", "beneficiary", calls.claim],
    [claim === "refunded", "operator", calls.refund],
    [status === "withdrawn", "operator", calls.withdraw],
    [funding !== "active", "merchant", calls.revoke],
    [funding === "re-enrolled", "merchant", calls.enrollAgain],
  ];
  const taken = steps.flatMap(([isTaken, by, call]) => (isTaken ? [{ by, call, second: 1 }] : []));
  if (program !== "running") taken.push({ by: "admin", call: calls.program[program], second: 1 });
  if (status === "expired") taken.push({ by: "stranger", call: calls.expire, second: ends.pay + 1 });
  return taken;
}
