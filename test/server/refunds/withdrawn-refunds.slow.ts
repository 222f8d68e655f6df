import { describe, expect, test } from "vitest";
import { catchUp } from "../../../sandbox/service/catch-up.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { type Approved, expectOtherClaim, expectPaidOther, other, signOtherClaim } from "./other-claim.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

const award = "10000000";

resetBeforeEach(async () => {
  kit = await TestKit.open({ seed: "withdrawn refunds", receiptTimeoutMs: 500 });
  merchant = await kit.fundedMerchant();
  return kit;
});

async function outcomes() {
  return (await kit.collections()).flatMap(({ hashes }) =>
    hashes.map(({ purpose, outcome }) => [purpose, outcome]),
  );
}

/** The fields of a relay operation that has paid the other claim. */
const paidOther = {
  status_reason: "precondition_failed",
  error: {
    code: "precondition_failed",
    message: `the collection has paid the claim ${other}, which is not the decided one`,
  },
};

/** Expects the refusal of a collection that has paid the other claim, by its log alone. */
function expectPaid(approved: Approved, answer: Answer): void {
  expect(expectPaidOther(approved, answer).map(({ name }) => name)).toEqual(["log"]);
}

describe("a collection is not sent for another claim than the decided one that a reorg has put on chain", () => {
  test.each(["after_signed", "broadcast"] as const)("when it was signed and held at %s", async (point) => {
    const approved = await kit.approvedPurchase(merchant);
    const action = point === "broadcast" ? "drop" : "hold";
    await kit.sandbox.faults.set({ layer: "relayer", point, action });
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
    await kit.reorg(1, [[await signOtherClaim(kit, approved), 0]]);
    await catchUp(kit.sandbox.relayer, kit.sandbox.chain.client);
    expectOtherClaim(approved, await kit.requestRefund(approved, "first-key"));
    expectOtherClaim(approved, await kit.requestRefund(approved, "second-key"));
    expect(await outcomes()).toEqual([
      ["original", "replaced"],
      ["cancel", "succeeded"],
    ]);
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({
      status: "refund_due",
      figures: { refunded: "0" },
      refund: { status: "due", transaction_hash: null, claim_hash: null },
    });
  });

  test("when the request that repeats it is the first to see that", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { relayer, faults } = kit.sandbox;
    await faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
    // Keeps the looks at the reorg's head from seeing it.
    await faults.set({ layer: "relayer", point: "receipt", action: "hold", count: null });
    await kit.reorg(1, [[await signOtherClaim(kit, approved), 0]]);
    await relayer.follow();
    expect(await kit.collections()).toMatchObject([{ status: "signed", attempt: 1 }]);
    await faults.clear();
    expectOtherClaim(approved, await kit.requestRefund(approved, "first-key"));
    expect(await outcomes()).toEqual([
      ["original", "replaced"],
      ["cancel", "succeeded"],
    ]);
  });

  test("when it was confirmed and a reorg has removed it, and the next refund is collected", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const next = await kit.approvedPurchase(merchant);
    const raw = await signOtherClaim(kit, next);
    expect((await kit.requestRefund(next, "first-key")).status).toBe(201);
    await kit.reorg(2, [[raw, 0]]);
    await catchUp(kit.sandbox.relayer, kit.sandbox.chain.client);
    expect(await outcomes()).toEqual([
      ["original", "replaced"],
      ["cancel", "succeeded"],
    ]);
    expectOtherClaim(next, await kit.requestRefund(next));
    expect(await kit.readPurchase(next.purchase)).toMatchObject({
      status: "refund_due",
      figures: { refunded: "0" },
      refund: { status: "due", transaction_hash: null, collected_at: null, claim_hash: null },
    });
    const done = await kit.requestRefund(approved);
    expect(done.status, done.text).toBe(201);
  });

  test("when the node has it and both are mined in one block", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { client } = kit.sandbox.chain;
    const raw = await signOtherClaim(kit, approved);
    await client.setAutomine(false);
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
    await kit.reorg(1);
    await kit.sandbox.relayer.follow();
    await client.sendRawTransaction({ serializedTransaction: raw });
    await client.mine({ blocks: 1 });
    await client.setAutomine(true);
    expectOtherClaim(approved, await kit.requestRefund(approved, "first-key"));
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({
      status: "refund_due",
      figures: { refunded: "0" },
    });
  });
});

test("a collection that was withdrawn because its claim was gone is collected once that was sent again", async () => {
  const approved = await kit.approvedPurchase(merchant);
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
  await kit.reorg(1);
  await catchUp(kit.sandbox.relayer, kit.sandbox.chain.client);
  expect(await kit.collections()).toMatchObject([
    {
      status: "failed",
      status_reason: "precondition_failed",
      error: { message: "the chain has no claim of this purchase any more" },
    },
  ]);
  const missing = await kit.requestRefund(approved, "first-key");
  expect(missing.status, missing.text).toBe(422);
  expect(problem(missing)).toMatchObject({
    code: "transaction_reverted",
    retryable: true,
    detail:
      "The collection was not sent: the chain has no claim of this purchase any more. " +
      "Let the beneficiary send its claim again, then send the identical request again.",
  });
  await kit.act("beneficiary", "purchase", approved.purchase.id, "claim");
  const done = await kit.requestRefund(approved, "first-key");
  expect(done.status, done.text).toBe(201);
  expect(await outcomes()).toEqual([
    ["original", "replaced"],
    ["cancel", "succeeded"],
    ["original", "succeeded"],
  ]);
  expect(await kit.readPurchase(approved.purchase)).toMatchObject({
    status: "refunded",
    figures: { refunded: award },
    refund: { status: "collected", claim_hash: approved.claim.claim_hash },
  });
});

test("a collection that a reorg has mined again behind another claim is refunded, and names the claim that the chain has paid", async () => {
  const approved = await kit.approvedPurchase(merchant);
  const raw = await signOtherClaim(kit, approved);
  const first = await kit.requestRefund(approved, "first-key");
  expect(first.status, first.text).toBe(201);
  const { refund: collected }: Schema<"RefundExecution"> = JSON.parse(first.text);
  expect(collected.claim_hash).toBe(approved.claim.claim_hash);
  const mined = [raw, await kit.rawTransaction(collected.transaction_hash ?? "")] as const;
  await kit.reorg(2, [
    [mined[0], 0],
    [mined[1], 1],
  ]);
  await catchUp(kit.sandbox.relayer, kit.sandbox.chain.client);
  expect(await kit.readPurchase(approved.purchase)).toMatchObject({
    status: "refunded",
    figures: { refunded: award },
    claim: { claim_hash: approved.claim.claim_hash },
    refund: { status: "collected", transaction_hash: collected.transaction_hash, claim_hash: other },
  });
  expect(await outcomes()).toEqual([["original", "succeeded"]]);
  expect(await kit.collections()).toMatchObject([{ status: "confirmed", ...paidOther }]);
  const replayed = await kit.requestRefund(approved, "first-key");
  expect([replayed.status, replayed.text]).toEqual([201, first.text]);
  expectPaid(approved, await kit.requestRefund(approved, "second-key"));
});

test("a refund that is due and was collected behind another claim is not offered, and is recorded by its refusal", async () => {
  const approved = await kit.approvedPurchase(merchant);
  const { relayer, faults, chain } = kit.sandbox;
  const raw = await signOtherClaim(kit, approved);
  await chain.client.setAutomine(false);
  expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
  // Keeps the looks at the reorg's head from seeing it.
  await faults.set({ layer: "relayer", point: "receipt", action: "hold", count: null });
  await kit.reorg(1, [[raw, 0]]);
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  await faults.clear();
  await catchUp(relayer, chain.client);
  const [{ hash } = { hash: null }] = await kit.collections();
  expect(await kit.collections()).toMatchObject([{ status: "confirmed", ...paidOther }]);
  expect(await kit.readPurchase(approved.purchase)).toMatchObject({
    status: "refund_due",
    figures: { refunded: award },
    refund: { status: "due", transaction_hash: hash, claim_hash: other },
  });
  const conflict = await kit.post(kit.path(`/purchases/${approved.purchase.id}/registration`), {});
  expect(problem(conflict)).toMatchObject({ current_state: "refund_due", allowed: ["reconcile"] });
  expectPaid(approved, await kit.requestRefund(approved, "first-key"));
  expect(await kit.readPurchase(approved.purchase)).toMatchObject({
    status: "refunded",
    figures: { refunded: award },
    refund: { status: "collected", transaction_hash: hash, claim_hash: other },
  });
  expectPaid(approved, await kit.requestRefund(approved, "first-key"));
});

test("a refund that the relayer has confirmed by itself shows its transaction while it is due, and is recorded by POST …/refunds", async () => {
  const approved = await kit.approvedPurchase(merchant);
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
  await catchUp(kit.sandbox.relayer, kit.sandbox.chain.client);
  const [{ hash } = { hash: null }] = await kit.collections();
  expect(hash).not.toBeNull();
  const { claim_hash } = approved.claim;
  expect(await kit.readPurchase(approved.purchase)).toMatchObject({
    status: "refund_due",
    figures: { refunded: award },
    refund: { status: "due", transaction_hash: hash, claim_hash, collected_at: null },
  });
  const done = await kit.requestRefund(approved, "first-key");
  expect(done.status, done.text).toBe(201);
  expect(await kit.readPurchase(approved.purchase)).toMatchObject({
    status: "refunded",
    refund: { status: "collected", transaction_hash: hash, claim_hash },
  });
});

describe("a collection whose claim a reorg has taken", () => {
  const withdrawn: Partial<Schema<"Operation">> = {
    status: "failed",
    status_reason: "precondition_failed",
    attempt: 2,
    hash: null,
    nonce: null,
    block_number: null,
  };

  /** Expects `GET …/transactions`, the relayer, the explorer's list and the timeline to say the same of the one collection that there is. */
  async function expectTold({ purchase }: Approved, expected: Partial<Schema<"Operation">>): Promise<void> {
    const { relayer, description } = kit.sandbox;
    const explored = async (path: string) => {
      const answer: unknown = await (await fetch(`${description.urls.control}/explorer/${path}`)).json();
      return answer;
    };
    const [listed] = await kit.collections();
    expect(listed).toMatchObject(expected);
    expect(await relayer.read(listed?.operation_id ?? "")).toEqual(listed);
    const shown = expect.arrayContaining([expect.objectContaining({ kind: "collect_refund", ...expected })]);
    expect(await explored("operations")).toMatchObject({ data: shown });
    expect(await explored(`purchases/${purchase.id}`)).toMatchObject({ operations: shown });
  }

  async function expectWithdrawn(approved: Approved): Promise<void> {
    await expectTold(approved, withdrawn);
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({
      status: "refund_due",
      refund: { status: "due", transaction_hash: null },
    });
  }

  test("has failed for every reader while its cancellation is not mined, and the cancellation is not its transaction", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { client } = kit.sandbox.chain;
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(201);
    await client.setAutomine(false);
    await kit.reorg(2);
    await catchUp(kit.sandbox.relayer, client);
    await expectWithdrawn(approved);
    const [collection] = await kit.collections();
    expect(collection?.error?.message).toBe("the chain has no claim of this purchase any more");
    expect(await outcomes()).toEqual([
      ["original", "broadcast"],
      ["cancel", "broadcast"],
    ]);
    const pending = await kit.requestRefund(approved, "second-key");
    expect(pending.status, pending.text).toBe(202);
    expect(JSON.parse(pending.text)).toMatchObject({ operation: withdrawn, refund: { status: "due" } });
    await client.mine({ blocks: 1 });
    await client.setAutomine(true);
    expect(problem(await kit.requestRefund(approved, "second-key"))).toMatchObject({
      status: 422,
      code: "transaction_reverted",
      detail:
        "The collection was not sent: the chain has no claim of this purchase any more. " +
        "Let the beneficiary send its claim again, then send the identical request again.",
    });
  });

  test("begins again once its cancellation is confirmed, and waits for that when its claim is back before", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { relayer, faults, chain } = kit.sandbox;
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(201);
    await faults.set({ layer: "relayer", point: "broadcast", action: "drop", count: null });
    await kit.reorg(2);
    await catchUp(relayer, chain.client);
    await kit.act("beneficiary", "purchase", approved.purchase.id, "claim");
    const waiting = await kit.requestRefund(approved, "second-key");
    expect(waiting.status, waiting.text).toBe(202);
    expect(JSON.parse(waiting.text)).toMatchObject({ operation: withdrawn, refund: { status: "due" } });
    await expectWithdrawn(approved);
    await faults.clear();
    const done = await kit.requestRefund(approved, "second-key");
    expect(done.status, done.text).toBe(201);
    const [original, cancel, again] = (await kit.collections())[0]?.hashes ?? [];
    expect([original?.outcome, cancel?.outcome, again?.outcome]).toEqual([
      "replaced",
      "succeeded",
      "succeeded",
    ]);
    await expectTold(approved, {
      status: "confirmed",
      status_reason: null,
      attempt: 2,
      hash: again?.hash ?? null,
    });
  });

  test("is shown with the attempt that took effect when its bytes are mined anyway", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { relayer, faults, chain } = kit.sandbox;
    const first = await kit.requestRefund(approved, "first-key");
    const { refund }: Schema<"RefundExecution"> = JSON.parse(first.text);
    const hash = refund.transaction_hash ?? "0x";
    const raw = await kit.rawTransaction(hash);
    const [{ nonce } = { nonce: null }] = await kit.collections();
    await faults.set({ layer: "relayer", point: "broadcast", action: "drop", count: null });
    await kit.reorg(2);
    await catchUp(relayer, chain.client);
    await expectWithdrawn(approved);
    await kit.act("beneficiary", "purchase", approved.purchase.id, "claim");
    await chain.client.sendRawTransaction({ serializedTransaction: raw });
    await faults.clear();
    await catchUp(relayer, chain.client);
    const { blockNumber } = await chain.client.getTransactionReceipt({ hash });
    await expectTold(approved, {
      status: "confirmed",
      status_reason: null,
      attempt: 1,
      nonce,
      hash,
      block_number: Number(blockNumber),
      confirmations: 1,
    });
  });
});
