import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { collectRefundCall } from "../../../protocol/call.ts";
import { setMining } from "../../../sandbox/chain/clock/mining.ts";
import type { ErrorCode } from "../../../server/errors/catalogue.ts";
import { type Answer, present, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

const unknownId = "aaaaaaaaaaaaaaaaaaaa";
const hashOfNothing: Hex = `0x${"5c".repeat(32)}`;

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  await kit.act("merchant", "merchant", merchant.id, "fund");
  return kit;
});

type Purchase = Schema<"Purchase">;

async function operate(purchase: Purchase, below: string, body: unknown): Promise<Answer> {
  return await kit.post(kit.path(`/purchases/${purchase.id}/${below}`), body);
}

/** A purchase whose claim was decided. */
/** Collects a refund with the key of the program's operator, past the service. */
async function collectAsOperator(purchase: Purchase, award: bigint, decisionHash: Hex): Promise<void> {
  const { deployment, accounts } = kit.sandbox.chain;
  const key = accounts.programs[kit.program]?.operator.privateKey;
  if (key === undefined) throw new Error("The program has an operator.");
  const id: Hex = `0x${purchase.commitment.hash.slice(2)}`;
  const call = collectRefundCall(deployment.registrar.address, id, award, decisionHash);
  const { receipt } = await kit.sandbox.openWallet(key).sendCall(call);
  expect(receipt.status).toBe("success");
}

async function decided(outcome: "approved" | "denied") {
  const purchase = await kit.paidPurchase(merchant);
  const claim = await kit.claim(purchase);
  const award = outcome === "approved" ? "10000000" : "0";
  const body = kit.decision(purchase, claim, { outcome, award });
  const answer = await operate(purchase, "decisions", body);
  expect(answer.status, answer.text).toBe(201);
  const { id } = JSON.parse(answer.text);
  return { purchase, refund: async () => await operate(purchase, "refunds", { decision_id: id }) };
}

interface State {
  given: () => Promise<Purchase>;
  allowed: string[];
  /** Further requests that are refused, for a reason other than the state. */
  refused?: { readonly [operation: string]: ErrorCode };
}

/** Every state that decides which operations a purchase takes, how it comes about, and which it takes then. */
const states: { readonly [state: string]: State } = {
  created: {
    given: async () => await kit.createPurchase(merchant),
    allowed: ["activate", "registration"],
  },
  "created, and the next block has the last second of its offer deadline": {
    given: async () => {
      const purchase = await kit.createPurchase(merchant);
      await kit.sandbox.clock.travelTo(purchase.deadlines.offer_deadline - 1);
      return purchase;
    },
    allowed: ["activate", "registration"],
  },
  "created, and the next block is one second after its offer deadline": {
    given: async () => {
      const purchase = await kit.createPurchase(merchant);
      await kit.sandbox.clock.travelTo(purchase.deadlines.offer_deadline);
      return purchase;
    },
    allowed: [],
    refused: { activate: "deadline_passed", registration: "transaction_not_found" },
  },
  "created, and registered on chain by the merchant": {
    given: async () => {
      const purchase = await kit.createPurchase(merchant);
      await kit.act("merchant", "purchase", purchase.id, "register");
      return purchase;
    },
    allowed: ["registration"],
  },
  "created, and offered on chain by the relayer": {
    given: async () => {
      const purchase = await kit.createPurchase(merchant);
      await kit.sandbox.faults.set({ layer: "relayer", point: "after_broadcast", action: "hold" });
      const answer = await operate(purchase, "activate", { commitment_hash: purchase.commitment.hash });
      expect(answer.status).toBe(202);
      return purchase;
    },
    allowed: ["activate"],
  },
  "active, and nothing is reconciled": {
    given: async () => {
      const purchase = await kit.activePurchase(merchant);
      await kit.pay(purchase);
      return purchase;
    },
    allowed: ["reconcile"],
  },
  "active, and a payment is reconciled": {
    given: async () => await kit.paidPurchase(merchant),
    allowed: ["reconcile", "claims"],
  },
  "active, and a reorg has removed its reconciled payment": {
    given: async () => {
      const purchase = await kit.paidPurchase(merchant);
      await kit.reorg(1);
      return purchase;
    },
    allowed: ["reconcile"],
  },
  "active, and the next block has the last second of its claim deadline": {
    given: async () => {
      const purchase = await kit.paidPurchase(merchant);
      await kit.sandbox.clock.travelTo(purchase.deadlines.claim_deadline - 1);
      return purchase;
    },
    allowed: ["reconcile", "claims"],
  },
  "active, and the next block is one second after its claim deadline, without a claim on chain": {
    given: async () => {
      const purchase = await kit.paidPurchase(merchant);
      await kit.sandbox.clock.travelTo(purchase.deadlines.claim_deadline);
      return purchase;
    },
    allowed: ["reconcile"],
    refused: { claims: "signature_invalid" },
  },
  "active, after its claim deadline with a claim on chain": {
    given: async () => {
      const purchase = await kit.paidPurchase(merchant);
      await kit.claimBody(purchase);
      await kit.sandbox.clock.travelTo(purchase.deadlines.claim_deadline + 1);
      return purchase;
    },
    allowed: ["reconcile", "claims"],
  },
  claimed: {
    given: async () => {
      const purchase = await kit.paidPurchase(merchant);
      await kit.claim(purchase);
      return purchase;
    },
    allowed: ["reconcile", "decisions"],
  },
  "claimed, and a reorg has removed its claim": {
    given: async () => {
      const purchase = await kit.paidPurchase(merchant);
      await kit.claim(purchase);
      await kit.reorg(1);
      return purchase;
    },
    allowed: ["reconcile"],
    refused: { decisions: "not_found" },
  },
  "claimed, and its operator has collected a refund past the service": {
    given: async () => {
      const purchase = await kit.paidPurchase(merchant);
      await kit.claim(purchase);
      await collectAsOperator(purchase, 1n, hashOfNothing);
      return purchase;
    },
    allowed: ["reconcile", "decisions"],
  },
  approved: { given: async () => (await decided("approved")).purchase, allowed: ["reconcile", "refunds"] },
  "approved, and its operator has collected the refund past the service": {
    given: async () => {
      const { purchase, decision } = await kit.approvedPurchase(merchant);
      await collectAsOperator(purchase, BigInt(decision.award), `0x${decision.decision_hash.slice(2)}`);
      return purchase;
    },
    allowed: ["reconcile"],
    refused: { refunds: "not_found" },
  },
  "approved, and a reorg has removed its claim": {
    given: async () => {
      const { purchase } = await kit.approvedPurchase(merchant);
      await kit.reorg(1);
      return purchase;
    },
    allowed: ["reconcile"],
    refused: { refunds: "not_found" },
  },
  denied: { given: async () => (await decided("denied")).purchase, allowed: ["reconcile"] },
  refund_due: {
    given: async () => {
      const { purchase, refund } = await decided("approved");
      await kit.sandbox.faults.set({ layer: "relayer", point: "after_broadcast", action: "hold" });
      // A block with the refund would end this state by itself.
      await setMining(kit.sandbox.chain.client, "never");
      expect((await refund()).status).toBe(202);
      return purchase;
    },
    allowed: ["reconcile", "refunds"],
  },
  refunded: {
    given: async () => {
      const { purchase, refund } = await decided("approved");
      expect((await refund()).status).toBe(201);
      return purchase;
    },
    allowed: ["reconcile"],
  },
};

/** A request of every operation on a purchase whose body is well formed. */
function requests(purchase: Purchase): { readonly [operation: string]: unknown } {
  const { key_id } = kit.sandbox.description.reviewer;
  return {
    activate: { commitment_hash: purchase.commitment.hash },
    registration: { transaction_hash: hashOfNothing },
    reconcile: {},
    claims: {
      transaction_hash: hashOfNothing,
      requested_amount: "10000000",
      reason: "Arrived broken.",
      signature: `0x${"00".repeat(65)}`,
    },
    decisions: {
      claim_id: `clm_${unknownId}`,
      outcome: "denied",
      award: "0",
      decided_at: purchase.created_at,
      reviewer_key_id: key_id,
      approval: "A".repeat(86),
    },
    refunds: { decision_id: `dec_${unknownId}` },
  };
}

async function statusOf(purchase: Purchase): Promise<string> {
  return present({ data: JSON.parse((await kit.get(kit.path(`/purchases/${purchase.id}`))).text) }).status;
}

describe.each(Object.entries(states))("a purchase that is %s", (_, { given, allowed, refused = {} }) => {
  test("answers state_conflict, with the operations that it accepts now, to every operation that it does not accept", async () => {
    const purchase = await given();
    await kit.renew();
    const current_state = await statusOf(purchase);
    const before = await kit.digest();
    for (const [operation, body] of Object.entries(requests(purchase))) {
      if (allowed.includes(operation)) continue;
      const answer = await operate(purchase, operation, body);
      const code = refused[operation] ?? "state_conflict";
      expect(problem(answer), operation).toMatchObject({ code });
      if (code === "state_conflict")
        expect(problem(answer)).toMatchObject({ status: 409, current_state, allowed });
      expect(await kit.digest(), operation).toBe(before);
    }
  });

  test("answers state_conflict to none of the operations that it names", async () => {
    const purchase = await given();
    const now = await kit.sandbox.snapshot();
    const conflicts: string[] = [];
    for (const operation of allowed) {
      await now.restore();
      await kit.renew();
      const answer = await operate(purchase, operation, requests(purchase)[operation]);
      if (answer.status >= 400 && problem(answer).code === "state_conflict") conflicts.push(operation);
    }
    expect(conflicts).toEqual([]);
  });
});

describe("a purchase that the merchant has registered on chain", () => {
  test("is not activated: the refusal names POST …/registration, which then confirms it", async () => {
    const purchase = await kit.createPurchase(merchant);
    const transaction_hash = await kit.act("merchant", "purchase", purchase.id, "register");
    const before = await kit.digest();
    const refused = await operate(purchase, "activate", { commitment_hash: purchase.commitment.hash });
    expect(refused.status).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "state_conflict",
      current_state: "created",
      allowed: ["registration"],
      detail:
        "The merchant has registered this purchase. Confirm that with POST …/registration, which takes only a transaction that the merchant's wallet has signed.",
    });
    expect(await kit.digest()).toBe(before);
    const confirmed = await operate(purchase, "registration", { transaction_hash });
    expect(JSON.parse(confirmed.text)).toMatchObject({ status: "active", route: "merchant_direct" });
  });
});

describe("a purchase that the relayer has offered on chain", () => {
  test("is not registered: the refusal names POST …/activate, which then confirms it", async () => {
    const purchase = await states["created, and offered on chain by the relayer"]?.given();
    if (purchase === undefined) throw new Error("The state must be there.");
    const refused = await operate(purchase, "registration", { transaction_hash: hashOfNothing });
    expect(refused.status).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "state_conflict",
      allowed: ["activate"],
      detail: "The relayer has offered this purchase. Confirm that with POST …/activate.",
    });
    const confirmed = await operate(purchase, "activate", { commitment_hash: purchase.commitment.hash });
    expect(JSON.parse(confirmed.text).purchase).toMatchObject({ status: "active", route: "registrar_offer" });
  });
});

test("the refusal of a second activation says what is possible now", async () => {
  const purchase = await kit.activePurchase(merchant);
  const again = await operate(purchase, "activate", { commitment_hash: purchase.commitment.hash });
  expect(problem(again).detail).toBe(
    "A purchase that is active does not allow activate; possible now: reconcile.",
  );
});

test("the refusal of a claim before reconciliation says to reconcile first", async () => {
  const purchase = await kit.activePurchase(merchant);
  await kit.pay(purchase);
  const refused = await operate(purchase, "claims", requests(purchase)["claims"]);
  expect(refused.status).toBe(409);
  expect(problem(refused)).toMatchObject({
    code: "state_conflict",
    detail: "A claim needs a reconciled payment. Reconcile it with POST …/reconcile.",
    current_state: "active",
    allowed: ["reconcile"],
    reconciled: "0",
  });
});

test("an enrolled merchant no longer accepts operations of its own", async () => {
  const { transaction_hash, signature } = merchant.enrollment.confirmed ?? {};
  const refused = await kit.post(kit.path(`/merchants/${merchant.id}/enrollment`), {
    transaction_hash,
    signature,
  });
  expect(refused.status).toBe(409);
  expect(problem(refused)).toMatchObject({ code: "state_conflict", current_state: "enrolled", allowed: [] });
});
