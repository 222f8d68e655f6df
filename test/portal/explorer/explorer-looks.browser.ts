import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { sharePages } from "../share-pages.ts";
import { ExplorerKit, offered } from "./explorer-kit.ts";

let kit: ExplorerKit;

sharePages("explorer looks", (sandbox, browser) => {
  kit = new ExplorerKit(sandbox, browser);
});

const sizes = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
];

async function focused(page: Page): Promise<string | undefined> {
  return await page.evaluate(() => document.activeElement?.tagName);
}

test("the entries of the menu stay where they are when another one is chosen", async () => {
  for (const viewport of sizes) {
    const page = await kit.open("", { viewport });
    const menu = page.getByRole("navigation", { name: "Explorer" }).getByRole("link");
    const places = async () =>
      await menu.evaluateAll((links) => links.map((link) => Math.round(link.getBoundingClientRect().left)));
    const before = await places();
    await page.getByRole("link", { name: "Requests", exact: true }).click();
    await page.getByRole("heading", { name: "Requests" }).waitFor();
    expect(await places()).toEqual(before);
  }
});

test("an element that the keyboard goes back to is not hidden below the menu", async () => {
  for (const width of [1280, 800]) {
    const page = await kit.open("#/blocks", { viewport: { width, height: 800 } });
    await page.locator("main a").last().focus();
    const hidden: string[] = [];
    for (let steps = 0; steps < 40; steps += 1) {
      await page.keyboard.press("Shift+Tab");
      const found = await page.evaluate(() => {
        const [top, now] = [document.getElementById("top"), document.activeElement];
        const isHidden =
          top?.contains(now) === false &&
          (now?.getBoundingClientRect().top ?? 0) < top.getBoundingClientRect().bottom;
        return isHidden ? (now?.outerHTML ?? "") : null;
      });
      if (found !== null) hidden.push(found);
    }
    expect(hidden, String(width)).toEqual([]);
  }
});

test("the focus goes to the heading on another page of a list, and when what had it is gone", async () => {
  await kit.sandbox.faults.set("slow");
  await fetch(`${kit.sandbox.description.urls.control}/blocks`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ blocks: 60 }),
  });
  const page = await kit.open("#/blocks");
  const newest = await page.locator("li.block strong").first().textContent();
  await page.getByRole("link", { name: "Older" }).click();
  await expect.poll(async () => await page.locator("li.block strong").first().textContent()).not.toBe(newest);
  await expect.poll(async () => await focused(page)).toBe("H1");
  await page.goto(`${kit.sandbox.description.urls.control}/#/events?q=absent`);
  await page.getByRole("link", { name: "Show all" }).click();
  await page.getByText("No event was written yet.").waitFor();
  await expect.poll(async () => await focused(page)).toBe("H1");
  await page.goto(`${kit.sandbox.description.urls.control}/#/controls`);
  await page.getByRole("button", { name: "Clear the faults" }).click();
  await page.getByText("None is set.").waitFor();
  await expect.poll(async () => await focused(page)).toBe("H1");
});

test("a call has its amounts in tokens, says what it does not have, and is found by a hash in capital letters", async () => {
  const session = await kit.begin();
  const purchase = await offered(session);
  const { transaction_hash } = await kit.sandbox.wallets.stranger.approve(purchase);
  const { error } = await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: session.write("reconcile", purchase.id),
    body: { transaction_hashes: [transaction_hash] },
  });
  expect(error).toBeDefined();
  const page = await kit.open(`#/transactions/0x${transaction_hash.slice(2).toUpperCase()}`);
  const amount = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "amount" }) });
  expect(await amount.getByRole("cell").allInnerTexts()).toEqual(["25000000 25.00 USDC", "none"]);
  const cause = "It calls approve on the token contract; pay on the registrar contract was expected.";
  expect(await page.getByText(cause).count()).toBe(1);
});

test("a transaction without a recipient creates a contract", async () => {
  const page = await kit.open("#/blocks?has=transactions");
  await page.locator("li.block").first().waitFor();
  expect(await page.getByText("deployer creates a contract").count()).toBe(2);
});

test("the overview says what is waiting, and names only faults that can still act", async () => {
  await kit.sandbox.given.purchase({ state: "refund_due" });
  const page = await kit.open();
  await page.getByText("relay operations: 1 accepted").waitFor();
  expect(await page.getByRole("link", { name: "Faults are set" }).count()).toBe(0);
  await kit.sandbox.faults.set("answer-lost", { operation: "createPurchase" });
  await page.getByText("api: reset after commit for createPurchase: acted 0 times, 1 left").waitFor();
});

test("a request has its method and the reason of its refusal once", async () => {
  await fetch(`${kit.sandbox.description.urls.api}/wallet/absent`);
  const page = await kit.open("#/requests");
  const row = page.getByRole("article", { name: /^Request/ }).first();
  await row.locator("p.error").first().waitFor();
  expect((await row.locator("summary").textContent())?.replaceAll(/\s+/g, " ").trim()).toBe(
    "404 route_not_found GET /wallet/absent",
  );
  expect(await row.locator("p.error:visible").count()).toBe(1);
});

test("no text of a control is cut on a phone", async () => {
  const page = await kit.open("#/controls", { viewport: { width: 390, height: 844 } });
  const mining = page.getByLabel("Blocks come");
  const [width, wanted] = await mining.evaluate((select) => {
    const before = select.getBoundingClientRect().width;
    select.style.width = "max-content";
    return [before, select.getBoundingClientRect().width];
  });
  expect(width).toBeGreaterThanOrEqual(wanted ?? Number.POSITIVE_INFINITY);
});
