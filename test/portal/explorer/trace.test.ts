import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { accessibilityFaults, openBrowser, type TestBrowser } from "../browser.ts";

let sandbox: Sandbox;
let browser: TestBrowser;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "trace-page" });
  // The origin of a file.
  browser = await openBrowser(["null"]);
});

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
    diff: null,
    at: { file: "/a.test.ts", line: 2, column: 1 },
    code: [{ line: 2, text: "expect(paid).toBe(2); // </script>" }],
  };
  await sandbox.trace(file, { test: "pays once", failures: [failure] });
  for (const width of [1280, 390]) {
    const page = await browser.open({ viewport: { width, height: 844 } });
    await page.goto(pathToFileURL(file).href);
    await page.getByRole("heading", { name: "pays once" }).waitFor();
    await page.getByLabel("Code").getByText("expect(paid).toBe(2); // </script>").waitFor();
    await page.getByLabel("Failure").getByText("<b>expected</b>").waitFor();
    const all = await page.locator(".moment").count();
    await page.getByLabel("Outcome").selectOption("refused");
    await page.getByText("✗ wallet").first().waitFor();
    expect(await page.locator(".moment").count()).toBeLessThan(all);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.getByRole("link", { name: "Purchases", exact: true }).click();
    await page.locator("main .badge").getByText("active", { exact: true }).first().waitFor();
    await page.getByRole("link", { name: "Trace", exact: true }).click();
    await page.getByRole("link", { name: "Link to entry 3", exact: true }).click();
    await page.locator("#entry-3.linked").waitFor();
  }
});
