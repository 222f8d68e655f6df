import { type Hex, zeroAddress } from "viem";
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
import { actors, amounts, ends, type Role, type Scene } from "./scene.ts";
import type { PurchaseState } from "./state.ts";

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
  program: { readonly [P in Exclude<PurchaseState["program"], "running">]: Call };
}

/** Returns the calls that lead to the states. */
export function encodeSteps(scene: Scene): StepCalls {
  const { registrar, program, merchantRef, purchase, other, terms, fixture } = scene;
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
    program: {
      paused: setPausedCall(registrar, program, true),
      "without bounds": set({ bounds: { maxPurchase: 0n, openBudget: 0n, validUntil: 0 } }),
      "without an operator": set({ operator: zeroAddress }),
      "with another operator": set({ operator: fixture.address(actors["other operator"]) }),
    },
  };
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
