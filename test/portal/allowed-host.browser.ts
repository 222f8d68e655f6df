import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";

// Over http at such a name, a browser gives a page no locks, no clipboard, no digests and no random UUIDs.
const host = "sandbox.test";
let sandbox: Sandbox;
let browser: TestBrowser;

/** A browser ignores the header there, and says so. */
const expectedErrors = /Cross-Origin-Opener-Policy|409/;

const at = (url: string) => url.replace("127.0.0.1", host);

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "allowed host", allowHosts: [host] });
  browser = await openBrowser(Object.values(sandbox.description.urls).map(at));
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await sandbox.close();
});

test("a buyer pays with the test keys at a name of --allow-host", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active", amount: "25000000" });
  const page = await browser.open({ expectedErrors });
  await page.goto(at(purchase.wallet_url));
  expect(await page.evaluate("isSecureContext")).toBe(false);
  await page.getByRole("button", { name: "Test keys" }).click();
  for (const [action, button] of [
    ["approve", "Approve"],
    ["pay", "Pay"],
  ] as const) {
    const step = page.locator(`#action-${action}`);
    await step.getByRole("button", { name: button }).click();
    await step.getByText("Accepted by the service").waitFor();
  }
  const paid = await sandbox.client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: purchase.program, id: purchase.id } },
  });
  expect(paid.data?.figures.paid).toBe("25000000");
});

test("the reference lists the operations at a name of --allow-host", async () => {
  const page = await browser.open({ expectedErrors });
  await page.goto(`${at(sandbox.description.urls.api)}/reference/`);
  const operation = page.locator('[data-path="/v1/routing/programs/{program}/merchants"]');
  await operation.waitFor();
  expect(await page.getByText("cannot be shown").count()).toBe(0);
});

test("the explorer says why it cannot copy at a name of --allow-host", async () => {
  await sandbox.given.purchase({ state: "paid" });
  const page = await browser.open({ expectedErrors });
  await page.goto(`${at(sandbox.description.urls.control)}/`);
  await page.locator("[data-copy]").first().click();
  const said = page.getByText("Select the text instead.");
  await said.waitFor();
  expect(await said.textContent()).toBe(
    "Over http, a browser copies at localhost and 127.0.0.1 only. Select the text instead.",
  );
});
