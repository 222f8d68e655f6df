import type { Hex } from "viem";
import { expect } from "vitest";
import { type Call, claimCall } from "../../../protocol/call.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import type { TestKit } from "../../kit/test-kit.ts";

export type Approved = Awaited<ReturnType<TestKit["approvedPurchase"]>>;

/** The hash of a claim that is not the decided one. */
export const other: Hex = `0x${"0c".repeat(32)}`;

/** The call by which the beneficiary claims with a hash of its own. */
export function callOfClaim(kit: TestKit, { commitment }: Schema<"Purchase">, hash: Hex): Call {
  return claimCall(kit.sandbox.chain.deployment.registrar.address, commitment.hash, hash);
}

/** Signs the beneficiary's other claim with the nonce of the decided one, which a reorg can replace by it. */
export async function signOtherClaim(kit: TestKit, { purchase }: Approved): Promise<Hex> {
  const { address } = kit.wallet("beneficiary");
  const nonce = (await kit.sandbox.chain.client.getTransactionCount({ address })) - 1;
  return await kit.sign("beneficiary", callOfClaim(kit, purchase, other), nonce);
}

/** Expects the refusal of a refund whose claim is the other one on the chain, before anything was collected. */
export function expectOtherClaim({ claim, decision }: Approved, answer: Answer): void {
  expect(answer.status, answer.text).toBe(422);
  expect(problem(answer)).toMatchObject({
    code: "binding_mismatch",
    retryable: false,
    detail:
      `The decision ${decision.id} is on the claim ${claim.claim_hash}, and the chain has the claim ${other} of this purchase. ` +
      "The contract takes no second claim, so pay the award outside of this service.",
    binding: {
      accepted: false,
      checks: [{ name: "purchase", ok: false, expected: claim.claim_hash, actual: other }],
    },
  });
}

/** Expects the refusal of a collection that has paid the other claim, and returns its checks that failed. */
export function expectPaidOther({ claim, decision }: Approved, answer: Answer) {
  expect(answer.status, answer.text).toBe(422);
  expect(problem(answer)).toMatchObject({
    code: "binding_mismatch",
    retryable: false,
    detail:
      `The collection has paid the claim ${other}, which a reorg put in the place of the claim ${claim.claim_hash} that ${decision.id} is on. ` +
      "It is recorded and cannot be undone: correct the difference outside of this service.",
    binding: { accepted: false },
  });
  return problem(answer).binding?.checks.filter(({ ok }) => !ok) ?? [];
}
