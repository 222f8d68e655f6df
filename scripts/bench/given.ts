/** A refunded purchase, given in one call, compared with the same steps done by hand with the sandbox's own client and wallets. */
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { unwrap } from "../../sandbox/service/client/problem-error.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

const program = "prg_demo";
const amount = "25000000";
const award = "10000000";

const sandbox = await createSandbox({ seed: "bench" });
const { client, wallets, given, reviewer } = sandbox;
const start = await sandbox.snapshot();

const header = (step: string) => ({ "Idempotency-Key": `by-hand-${step}` });

async function enrollByHand() {
  const created = unwrap(
    await client.POST("/v1/routing/programs/{program}/merchants", {
      params: { path: { program }, header: header("merchant") },
      body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "1000000000000" },
    }),
  );
  const { body } = await wallets.merchant.enroll(created);
  await wallets.merchant.fund(created);
  return unwrap(
    await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
      params: { path: { program, id: created.id }, header: header("enrollment") },
      body,
    }),
  );
}

async function byHand(): Promise<void> {
  const merchant = await enrollByHand();
  const { id, commitment } = unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases", {
      params: { path: { program }, header: header("purchase") },
      body: {
        merchant_id: merchant.id,
        buyer: wallets.buyer.address,
        beneficiary: wallets.beneficiary.address,
        amount,
        terms: { sku: "course-42", title: "A course" },
      },
    }),
  );
  const params = (step: string) => ({ path: { program, id }, header: header(step) });
  const { purchase } = unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: params("activate"),
      body: { commitment_hash: commitment.hash },
    }),
  );
  await wallets.buyer.approve(purchase);
  await wallets.buyer.pay(purchase);
  unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: params("reconcile"),
      body: {},
    }),
  );
  const claimed = await wallets.beneficiary.claim(purchase, { amount: BigInt(award), reason: "Late." });
  const claim = unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases/{id}/claims", {
      params: params("claim"),
      body: claimed.body,
    }),
  );
  const decision = unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases/{id}/decisions", {
      params: params("decision"),
      body: await reviewer.sign(purchase, claim, { award }),
    }),
  );
  unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
      params: params("refund"),
      body: { decision_id: decision.id },
    }),
  );
  unwrap(
    await client.GET("/v1/routing/programs/{program}/purchases/{id}", { params: { path: { program, id } } }),
  );
}

/** Measures the time of a step from the same starting state. */
async function fromStart(work: () => Promise<unknown>): Promise<number> {
  await start.restore();
  return await elapsed(work);
}

/** The benchmark `given`. */
export const benchmark: Benchmark = {
  title: "A refunded purchase and its merchant, given in one call, compared with the same steps by hand",
  baseline: "the steps by hand",
  rounds: 30,
  subjects: {
    "the steps by hand": async () => await fromStart(byHand),
    "given.purchase": async () =>
      await fromStart(async () => await given.purchase({ state: "refunded", amount, claimed: award })),
  },
  bars: { "given.purchase": { atMost: 1.2 } },
  close: async () => await sandbox.close(),
};
