import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { usdc } from "../../protocol/values/amount.ts";
import { createApiClient } from "../../sandbox/service/client/api-client.ts";
import { actorsOf, balanceOf } from "../../testkit/demo/actors.ts";
import { enrollMerchant } from "../../testkit/demo/merchant-steps.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import * as steps from "../../testkit/demo/purchase-steps.ts";
import { Session } from "../../testkit/demo/session.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { startSandbox } from "./started-sandbox.ts";

test.for(["SIGTERM", "SIGKILL"] as const)(
  "a purchase that was paid in part continues after %s and a second start, chain included",
  { timeout: 60_000 },
  async (signal) => {
    const folder = await temporaryFolder();
    const first = await startSandbox(folder);
    const session = await Session.open(actorsOf(first.description), silentPrinter);
    const merchant = await enrollMerchant(session);
    const purchase = await steps.createPurchase(session, merchant, "purchase", "25000000");
    await steps.activate(session, purchase, "activate");
    await steps.approve(session, session.actors.buyer, purchase, 25n * usdc);
    const firstPayment = await steps.pay(session, purchase, 10n * usdc);
    await steps.reconcile(session, purchase, "reconcile-1");
    const { credential } = session;
    await first.end(signal);

    await using second = await startSandbox(folder);
    expect(second.description.chain).toEqual(first.description.chain);
    const actors = actorsOf(second.description);
    const kept = await createApiClient(actors.apiUrl, credential).GET(
      "/v1/routing/programs/{program}/purchases/{id}",
      { params: { path: { program: actors.program, id: purchase.id } } },
    );
    expect(kept.response.status).toBe(200);
    expect(kept.data).toMatchObject({ status: "active", figures: { paid: "10000000" } });

    const later = await Session.open(actors, silentPrinter);
    await steps.pay(later, purchase, 15n * usdc);
    const reconciled = await steps.reconcile(later, purchase, "reconcile-2");
    expect(reconciled.already_reconciled.map(({ transaction_hash }) => transaction_hash)).toEqual([
      firstPayment,
    ]);
    expect(reconciled.applied.map(({ amount }) => amount)).toEqual(["15000000"]);
    const claim = await steps.claim(later, purchase, 25n * usdc);
    const decision = await steps.decide(later, purchase, claim, 25n * usdc);
    const before = await balanceOf(actors, actors.beneficiary.address);
    const { refund } = await steps.refund(later, purchase, decision);
    expect(refund.status).toBe("collected");
    expect(await balanceOf(actors, actors.beneficiary.address)).toBe(before + 25n * usdc);
  },
);

test("a second sandbox in one data directory is refused, and a clean stop leaves neither sandbox.json nor a process behind", async () => {
  const folder = await temporaryFolder();
  await using sandbox = await startSandbox(folder);
  const { pid, urls } = sandbox.description;
  await expect(startSandbox(folder)).rejects.toThrow(`Process ${pid} runs a sandbox`);
  expect(await sandbox.end("SIGINT")).toBe(0);
  await expect(fetch(urls.rpc)).rejects.toThrow();
  expect(existsSync(join(folder, "sandbox.json"))).toBe(false);
});
