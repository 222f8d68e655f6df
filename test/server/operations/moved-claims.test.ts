import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { claimCall } from "../../../protocol/call.ts";
import type { Snapshot } from "../../../sandbox/state/snapshot.ts";
import { type Answer, present, problem, type Schema } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

type Approved = Awaited<ReturnType<TestKit["approvedPurchase"]>>;

let kit: TestKit;
let merchant: Schema<"Merchant">;
let mark: Snapshot;

const other: Hex = `0x${"0c".repeat(32)}`;

beforeAll(async () => {
  kit = await TestKit.open({ seed: "moved claims", receiptTimeoutMs: 30_000 });
  merchant = await kit.fundedMerchant();
  mark = await kit.sandbox.snapshot();
});

beforeEach(async () => {
  await mark.restore();
  await kit.renew();
});

afterAll(async () => {
  await kit[Symbol.asyncDispose]();
});

async function refund({ purchase, decision }: Approved, key = kit.key()): Promise<Answer> {
  const path = kit.path(`/purchases/${purchase.id}/refunds`);
  return await kit.post(path, { decision_id: decision.id }, { "Idempotency-Key": key });
}

/** The id of a purchase on chain. */
function idOf({ commitment }: Schema<"Purchase">): Hex {
  return `0x${commitment.hash.slice(2)}`;
}

/** Has the beneficiary file a claim hash on chain, without the service. */
async function fileOnChain(purchase: Schema<"Purchase">, hash: Hex): Promise<void> {
  const call = claimCall(kit.sandbox.chain.deployment.registrar.address, idOf(purchase), hash);
  expect((await kit.wallet("beneficiary").send(call)).status).toBe("success");
}

async function readPurchase({ id }: Schema<"Purchase">): Promise<Schema<"Purchase">> {
  return JSON.parse((await kit.get(kit.path(`/purchases/${id}`))).text);
}

/** The program's relay operations of refunds. */
async function collections() {
  const params = { path: { program: kit.program } };
  const { data } = present(await kit.api.GET("/v1/routing/programs/{program}/transactions", { params }));
  return data.filter(({ kind }) => kind === "collect_refund");
}

describe("a refund is collected only for the claim that was decided:", () => {
  const refused = ({ claim, decision }: Approved) => ({
    code: "binding_mismatch",
    retryable: false,
    detail:
      `The decision ${decision.id} is on the claim ${claim.claim_hash}, and the chain has the claim ${other} of this purchase. ` +
      "The contract takes no second claim, so settle the award outside of this service.",
    binding: {
      accepted: false,
      checks: [{ name: "purchase", ok: false, expected: claim.claim_hash, actual: other }],
    },
  });

  test("another claim that the chain has after a reorg is refused before anything is relayed", async () => {
    const approved = await kit.approvedPurchase(merchant);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, other);
    const before = await kit.digest();
    const answer = await refund(approved);
    expect(answer.status, answer.text).toBe(422);
    expect(problem(answer)).toMatchObject(refused(approved));
    expect(await collections()).toEqual([]);
    expect(await readPurchase(approved.purchase)).toMatchObject({
      status: "approved",
      refund: null,
      figures: { refunded: "0" },
    });
    expect(await kit.digest()).toBe(before);
  });

  test("so is one that the chain has before a collection that was begun is signed", async () => {
    const approved = await kit.approvedPurchase(merchant);
    kit.sandbox.relayer.fault({ point: "after_intent", action: "hold" });
    expect((await refund(approved, "first-key")).status).toBe(202);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, other);
    const answer = await refund(approved, "first-key");
    expect(answer.status, answer.text).toBe(422);
    expect(problem(answer)).toMatchObject(refused(approved));
    expect(await collections()).toMatchObject([{ status: "accepted", nonce: null, hash: null }]);
    expect(await readPurchase(approved.purchase)).toMatchObject({ figures: { refunded: "0" } });
  });

  test("a key whose collection was mined behind another claim stays with it, and is answered the same again", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { client, deployment } = kit.sandbox.chain;
    const call = claimCall(deployment.registrar.address, idOf(approved.purchase), other);
    const { address } = kit.wallet("beneficiary");
    const nonce = (await client.getTransactionCount({ address })) - 1;
    const behindIt = await kit.behind(
      async () => [],
      async () => await refund(approved, "first-key"),
      async () => {
        await kit.reorg(1, [[await kit.sign("beneficiary", call, nonce), 0]]);
        await client.mine({ blocks: 1 });
      },
    );
    for (const answer of [behindIt, await refund(approved, "first-key")]) {
      expect(answer.status, answer.text).toBe(422);
      expect(problem(answer)).toMatchObject({
        code: "binding_mismatch",
        detail: "The transaction is not the one this step is bound to; failed: log.",
      });
    }
    const path = kit.path(`/purchases/${approved.purchase.id}/reconcile`);
    const reused = await kit.post(path, {}, { "Idempotency-Key": "first-key" });
    expect([reused.status, problem(reused).code]).toEqual([422, "idempotency_key_reused"]);
    expect(await collections()).toMatchObject([{ status: "confirmed", attempt: 1 }]);
  });

  test("the same claim that a new transaction has filed again is refunded", async () => {
    const approved = await kit.approvedPurchase(merchant);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, `0x${approved.claim.claim_hash.slice(2)}`);
    const answer = await refund(approved);
    expect(answer.status, answer.text).toBe(201);
    expect(await readPurchase(approved.purchase)).toMatchObject({ status: "refunded" });
  });
});
