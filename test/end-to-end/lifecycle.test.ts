import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { type Actors, actorsOf, balanceOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { payFromStranger } from "../../testkit/demo/run-demo.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";
import { ledgerBehind } from "../kit/compile-registrar.ts";

let sandbox: Sandbox;
let actors: Actors;

/** Returns the balances of the three wallets, in base units. */
async function balances() {
  const [merchant, buyer, beneficiary] = await Promise.all(
    [actors.merchant, actors.buyer, actors.beneficiary].map(({ address }) => balanceOf(actors, address)),
  );
  return { merchant: merchant ?? 0n, buyer: buyer ?? 0n, beneficiary: beneficiary ?? 0n };
}

describe.each([
  { contract: "the sandbox's own registrar contract", registrar: async () => undefined },
  {
    contract: "a second registrar contract behind a UUPS proxy",
    registrar: async () => await ledgerBehind("uups"),
  },
])("a purchase over HTTP, from enrollment to refund, on $contract", ({ registrar }) => {
  beforeAll(async () => {
    const chosen = await registrar();
    const contracts = chosen === undefined ? {} : { registrar: chosen };
    sandbox = await createSandbox({ seed: "lifecycle", contracts });
    actors = actorsOf(sandbox.description);
    // The second contract is compiled once, which takes longer than a test.
  }, 120_000);

  afterAll(async () => {
    await sandbox.close();
  });

  test("moves exactly the paid and the awarded amounts on chain", async () => {
    const before = await balances();
    const session = await Session.open(actors, silentPrinter);
    const merchant = await enrollMerchant(session);
    expect(merchant.status).toBe("enrolled");

    const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "25000000");
    expect(purchase).toMatchObject({ status: "created", route: null, payment_status: "unpaid" });
    const active = await demoSteps.activate(session, purchase, "activate");
    expect(active).toMatchObject({ status: "active", route: "registrar_offer" });

    await demoSteps.approve(session, actors.buyer, purchase, 25n * usdc);
    await demoSteps.pay(session, purchase, 10n * usdc);
    const partly = await demoSteps.readPurchase(session, purchase);
    expect(partly).toMatchObject({ payment_status: "partially_paid" });
    expect(partly.figures).toMatchObject({ approved: "15000000", paid: "10000000", outstanding: "15000000" });
    expect(partly.receipts.map(({ reconciled_at }) => reconciled_at)).toEqual([null]);

    await demoSteps.pay(session, purchase, 15n * usdc);
    const reconciled = await demoSteps.reconcile(session, purchase, "reconcile");
    expect(reconciled.applied.map(({ amount }) => amount)).toEqual(["10000000", "15000000"]);
    expect(reconciled.purchase.figures).toMatchObject({
      paid: "25000000",
      reconciled: "25000000",
      outstanding: "0",
    });
    expect(await balances()).toEqual({
      ...before,
      buyer: before.buyer - 25n * usdc,
      merchant: before.merchant + 25n * usdc,
    });

    const claim = await demoSteps.claim(session, purchase, 20n * usdc);
    const decision = await demoSteps.decide(session, purchase, claim, 12n * usdc);
    const { refund, event_id } = await demoSteps.refund(session, purchase, decision);
    expect(refund).toMatchObject({ status: "collected", award: "12000000" });
    expect(await balances()).toEqual({
      buyer: before.buyer - 25n * usdc,
      merchant: before.merchant + 13n * usdc,
      beneficiary: before.beneficiary + 12n * usdc,
    });

    const end = await demoSteps.readPurchase(session, purchase);
    expect(end).toMatchObject({ status: "refunded", claim: { id: claim.id }, decision: { id: decision.id } });
    const delivered = await demoSteps.notify(session, event_id);
    expect(delivered.notification).toMatchObject({ status: "delivered", event_id });
    const listed = await demoSteps.receipts(session);
    expect(listed.data.map((receipt) => receipt.event_id)).toEqual([event_id]);
    const { data, gas_budget } = await demoSteps.transactions(session);
    expect(data.map(({ kind, status }) => [kind, status])).toEqual([
      ["offer", "confirmed"],
      ["collect_refund", "confirmed"],
    ]);
    const { limit_wei, available_wei, reserved_wei, spent_wei } = gas_budget;
    expect(BigInt(limit_wei)).toBe(BigInt(available_wei) + BigInt(reserved_wei) + BigInt(spent_wei));
  });

  test("uses the direct merchant route without the program operator", async () => {
    const session = await Session.open(actors, silentPrinter);
    const merchant = await enrollMerchant(session);
    const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "40000000");
    const active = await demoSteps.register(session, purchase, "registration");
    expect(active).toMatchObject({ status: "active", route: "merchant_direct" });
    const before = await balances();
    await demoSteps.approve(session, actors.buyer, purchase, 40n * usdc);
    await demoSteps.pay(session, purchase, 40n * usdc);
    await demoSteps.reconcile(session, purchase, "reconcile");
    expect(await balances()).toEqual({
      ...before,
      buyer: before.buyer - 40n * usdc,
      merchant: before.merchant + 40n * usdc,
    });
  });

  test("refuses a payment from the wrong wallet with every check listed", async () => {
    const session = await Session.open(actors, silentPrinter);
    const merchant = await enrollMerchant(session);
    const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "30000000");
    await demoSteps.activate(session, purchase, "activate");
    const before = await balances();
    await demoSteps.approve(session, actors.stranger, purchase, 30n * usdc);
    const hash = await payFromStranger(session, purchase, 30n * usdc);
    const { error } = await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: session.write("reconcile", purchase.id),
      body: { transaction_hashes: [hash] },
    });
    expect(error?.code).toBe("binding_mismatch");
    const checks = error?.binding?.checks ?? [];
    expect(checks).toHaveLength(checkNames.length);
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["status", "wallet", "log"]);
    expect(checks.find(({ name }) => name === "wallet")).toMatchObject({
      expected: actors.buyer.address,
      actual: actors.stranger.address,
    });
    expect(await balances()).toEqual(before);
    const after = await demoSteps.readPurchase(session, purchase);
    expect(after.figures).toMatchObject({ paid: "0", reconciled: "0" });
  });
});
