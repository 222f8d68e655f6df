import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RequestViews } from "../../../sandbox/activity/views.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { accessibilityFaults, openBrowser, type TestBrowser } from "../browser.ts";

let sandbox: Sandbox;
let start: Snapshot;
let browser: TestBrowser;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "trace-page" });
  start = await sandbox.snapshot();
  // The origin of a file.
  browser = await openBrowser(["null"]);
});

beforeEach(async () => await start.restore());

afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await sandbox.close();
});

test("a trace opens from the disk and asks no host, with filters, links to entries and the explorer's views", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { transaction_hash } = await sandbox.wallets.stranger.approve(purchase);
  await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: {
      path: { program: purchase.program, id: purchase.id },
      header: { "Idempotency-Key": "reconcile-1" },
    },
    body: { transaction_hashes: [transaction_hash] },
  });
  const file = join(await temporaryFolder(), "page.trace.html");
  const failure = {
    message: "<b>expected</b> 1 to be 2",
    diff: "- Expected\n+ Received\n\n- 2\n+ 1",
    at: { file: "/a.test.ts", line: 2, column: 1 },
    code: [{ line: 2, text: "expect(paid).toBe(2); // </script>" }],
  };
  const ofTexts = { ...failure, diff: 'Expected: "paid"\nReceived: "collected"' };
  await sandbox.trace(file, { test: "pays once", failures: [failure, ofTexts] });
  for (const width of [1280, 390]) {
    const page = await browser.open({ viewport: { width, height: 844 } });
    await page.goto(pathToFileURL(file).href);
    await page.getByRole("heading", { name: "pays once" }).waitFor();
    await page.getByLabel("Code").getByText("expect(paid).toBe(2); // </script>").first().waitFor();
    await page.getByLabel("Failure").getByText("<b>expected</b>").first().waitFor();
    expect(await page.getByLabel("Difference").locator(".expected, .actual").allTextContents()).toEqual([
      "- Expected\n",
      "+ Received\n",
      "- 2\n",
      "+ 1\n",
      'Expected: "paid"\n',
      'Received: "collected"\n',
    ]);
    const all = await page.locator(".moment").count();
    if (width === 390) await page.getByText("Filter", { exact: true }).click();
    await page.getByLabel("Outcome").selectOption("refused");
    await page
      .locator(".moment")
      .getByText(/^Failed checks/)
      .click();
    await page.getByText("✗ contract").first().waitFor();
    await page.locator(".moment").getByText("from sandbox.client", { exact: true }).waitFor();
    expect(await page.locator(".moment").getByText("failed: wallet").filter({ visible: true }).count()).toBe(
      0,
    );
    expect(await page.locator(".moment").count()).toBeLessThan(all);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.getByRole("link", { name: "Purchases", exact: true }).click();
    await page.locator("main .badge").getByText("active", { exact: true }).first().waitFor();
    await page.getByRole("link", { name: "Trace", exact: true }).click();
    await page.getByText(/^Preparation/).click();
    await page.getByRole("link", { name: "Link to entry 3", exact: true }).click();
    await page.locator("#entry-3.linked").waitFor();
  }
});

test("a failure leads to the entries that caused it; what prepared the test is folded, and a reverted transaction is explained", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "paid" });
  const { program, merchant_id, buyer } = purchase;
  await sandbox.faults.set("answer-lost", { operation: "createPurchase" });
  const lost = sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program }, header: { "Idempotency-Key": "create-1" } },
    body: { merchant_id, buyer, amount: "1000000", terms: {} },
  });
  await expect(lost).rejects.toThrow();
  const { requests } = await readRequests();
  await sandbox.wallets.buyer.pay(purchase, 1n);
  const folder = await temporaryFolder();
  const file = join(folder, "late.trace.html");
  const failure = { message: `refused: ${requests[0]?.id}`, diff: null, at: null, code: [] };
  await sandbox.trace(file, { test: "pays twice", failures: [failure] });
  const page = await browser.open();
  await page.goto(pathToFileURL(file).href);

  const failed = page.getByLabel("Failure");
  await failed.getByText("The purchase is fully paid. Nothing is left to pay.").waitFor();
  await failed.getByText("Fault set: api reset after commit").waitFor();
  await page.getByText("Preparation: ").waitFor();
  expect(await page.locator("#entry-1").isVisible()).toBe(false);
  await failed
    .getByRole("link", { name: /^Entry/ })
    .first()
    .click();
  const entry = page.locator(".moment.linked");
  // The call is the expected one: its values explain nothing.
  expect(await entry.getByRole("rowheader", { name: "amount" }).isVisible()).toBe(false);
  await entry.getByText("Explanation", { exact: true }).click();
  await entry.getByRole("rowheader", { name: "amount" }).waitFor();
  expect(await entry.getByText("did not emit exactly the expected logs").count()).toBe(0);
  expect(await entry.locator(".facts .name").allTextContents()).toEqual(["buyer", "the registrar contract"]);
  await entry.getByText("State changes (2)").click();
  await entry.getByText(/^-0\.\d+\sETH$/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  expect(await page.getByLabel("Command").textContent()).toBe(
    `npx routing-sandbox start --from ${join(folder, "late.snapshot")} --data-dir late.snapshot.data`,
  );
  expect(await page.locator('a[href^="http"]').count()).toBe(0);
  await failed.getByTitle(String(requests[0]?.id)).click();
  await page.getByRole("article", { name: `Request ${requests[0]?.number}`, exact: true }).waitFor();
  expect(await page.getByRole("article", { name: /^Request/ }).count()).toBe(1);
  await page.goto(`${pathToFileURL(file).href}#/timeline/1`);
  await page.locator("#entry-1.linked").waitFor();
});

test("a trace adds no label to an address that its sentence names, and one to an address of JSON, whose key is no name", async () => {
  const { contracts } = sandbox.description;
  const buyer = sandbox.wallets.buyer.address;
  const folder = await temporaryFolder();
  const file = join(folder, "named.trace.html");
  const message = `Call of faucet on the token contract (${contracts.token}), buyer ${buyer}, "buyer": "${buyer}", wallet ${buyer}`;
  await sandbox.trace(file, { test: "names", failures: [{ message, diff: null, at: null, code: [] }] });
  const page = await browser.open();
  await page.goto(pathToFileURL(file).href);
  expect(await page.getByLabel("Failure").locator(".error .label").allTextContents()).toEqual([
    "buyer",
    "buyer",
  ]);
});

test("a trace that no test has written speaks of no test and no failure, and folds nothing", async () => {
  await sandbox.given.purchase({ state: "active" });
  const file = join(await temporaryFolder(), "live.trace.html");
  await sandbox.trace(file);
  const page = await browser.open();
  await page.goto(pathToFileURL(file).href);
  await page.getByText("Start a sandbox from it:").waitFor();
  await page.getByText("createPurchase: 201").first().waitFor();
  expect(await page.locator("main").textContent()).not.toMatch(/Preparation|of the failure|of the test/);
});

test("on a phone the trace of a request without a response, or with a long id, is no wider than the screen", async () => {
  const { merchant } = await sandbox.given.merchant({ state: "funded" });
  await sandbox.client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: merchant.program, id: `pur_${"a".repeat(106)}` } },
  });
  await sandbox.faults.set("slow", { operation: "createPurchase", delay_ms: 60_000 });
  const stop = new AbortController();
  const sent = sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program: merchant.program }, header: { "Idempotency-Key": "create-1" } },
    body: {
      merchant_id: merchant.id,
      buyer: sandbox.wallets.buyer.address,
      amount: "1000000",
      terms: {},
    },
    signal: stop.signal,
  });
  await expect.poll(async () => (await sandbox.faults.list())[0]?.hits).toBe(1);
  const file = join(await temporaryFolder(), "open.trace.html");
  const failure = { message: "Test timed out in 5000ms.", diff: null, at: null, code: [] };
  await sandbox.trace(file, { test: "waits", failures: [failure] });
  stop.abort();
  await expect(sent).rejects.toThrow();
  const page = await browser.open({ viewport: { width: 390, height: 844 } });
  await page.goto(pathToFileURL(file).href);
  await page.getByLabel("Failure").getByText("no response for").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test("a search in a trace finds purchases by commitment, claim, decision and refund, accounts, and blocks by hash", async () => {
  const { purchase, claim, decision, refund } = await sandbox.given.purchase({ state: "refunded" });
  const { hash } = await sandbox.chain.client.getBlock();
  const file = join(await temporaryFolder(), "search.trace.html");
  await sandbox.trace(file);
  const page = await browser.open();
  await page.goto(pathToFileURL(file).href);
  const { address } = sandbox.wallets.buyer;
  for (const [wanted, title] of [
    [purchase.commitment.hash, "A purchase"],
    [claim.id, "The purchase of this claim"],
    [decision.id, "The purchase of this decision"],
    [refund.id, "The purchase of this refund"],
    [address, "buyer"],
    [hash, "A block"],
    [`explain ${refund.transaction_hash}`, "A transaction"],
    ["given paid", /A trace creates no states\.$/],
    ["clm_none", "Found nothing for clm_none."],
  ] as const) {
    await page.getByRole("searchbox", { name: "Find an id, hash, address or block" }).fill(wanted);
    await page.keyboard.press("Enter");
    await page.locator("main").getByText(title, { exact: true }).waitFor();
  }
  await page.goto(`${pathToFileURL(file).href}#/blocks?has=transactions`);
  const rows = page.locator("li.block");
  await rows.first().waitFor();
  expect(await rows.filter({ hasText: "no transactions" }).count()).toBe(0);
  const number = (await rows.first().locator("strong.number").textContent()) ?? "";
  await page.getByLabel("Number or hash").fill(number);
  await page.keyboard.press("Enter");
  await expect.poll(async () => await rows.count()).toBe(1);
  await page.goto(`${pathToFileURL(file).href}#/purchases?q=${address}`);
  await page.getByTitle(purchase.id).waitFor();
});

async function readRequests(): Promise<{ requests: RequestViews["data"] }> {
  const answer = await fetch(`${sandbox.description.urls.control}/requests`);
  const { data }: RequestViews = await answer.json();
  return { requests: data };
}
