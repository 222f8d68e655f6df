import { expect } from "@playwright/test";
import { unwrap } from "routing-sandbox/client";
import { injectWallet } from "routing-sandbox/playwright";
import { signDecision } from "routing-sandbox/protocol";
import { test } from "./leased-sandbox.ts";

test("a buyer pays in the browser, and the claim of the beneficiary is refunded", async ({
  page,
  sandbox,
}) => {
  const { api, control, wallets, urls, chain, reviewer } = sandbox;
  const given = unwrap(
    await control.POST("/given", { body: { purchase: { state: "active", amount: "25000000" } } }),
  );
  if (!("purchase" in given)) throw new Error("The response has no purchase.");
  const { purchase } = given;
  const [buyer, beneficiary] = [wallets.buyer, wallets.beneficiary].map(({ private_key }) => ({
    private_key,
    rpc_url: urls.rpc,
  }));
  const wallet = await injectWallet(page, buyer);
  await page.goto(purchase.wallet_url);
  await page.getByRole("button", { name: "Sandbox Wallet" }).click();
  await page.locator("#action-approve").getByRole("button", { name: "Approve" }).click();
  await page.locator("#action-pay").getByRole("button", { name: "Pay" }).click();
  await page.locator("#action-pay").getByText("Accepted by the service").waitFor();
  await api.reconcile(purchase);

  await wallet.select(beneficiary);
  await page.reload();
  await page.getByRole("button", { name: "Sandbox Wallet" }).click();
  const claiming = page.locator("#action-claim");
  await claiming.getByLabel("Amount").fill("10");
  await claiming.getByLabel("Reason").fill("The course was cancelled.");
  await claiming.getByRole("button", { name: "Sign and claim" }).click();
  await claiming.getByText("Accepted by the service").waitFor();

  const claim = await api.claim(purchase, {});
  const verdict = {
    claim_id: claim.id,
    outcome: "approved" as const,
    award: "10000000",
    decided_at: claim.created_at,
    reviewer_key_id: reviewer.key_id,
  };
  const approval = signDecision(Buffer.from(reviewer.private_key, "hex"), {
    ...verdict,
    chain_id: chain.chain_id,
    claim_hash: claim.claim_hash,
    commitment_hash: purchase.commitment.hash,
    program: purchase.program,
    purchase: purchase.id,
  });
  const refund = await api.refund(purchase, await api.decide(purchase, { ...verdict, approval }));
  expect(refund.status).toBe("collected");
  console.log(`fingerprint ${unwrap(await control.GET("/fingerprint")).digest}`);
});
