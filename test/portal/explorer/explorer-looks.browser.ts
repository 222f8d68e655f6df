import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { sharePages } from "../share-pages.ts";
import { ExplorerKit, offered, refunded } from "./explorer-kit.ts";

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
    const requests = page.getByRole("link", { name: "Requests", exact: true });
    await requests.scrollIntoViewIfNeeded();
    const before = await places();
    await requests.click();
    await page.getByRole("heading", { name: "Requests" }).waitFor();
    expect(await places()).toEqual(before);
  }
});

test("on a phone every entry of the menu can be seen as a whole, and the field of the search", async () => {
  for (const width of [390, 320]) {
    const page = await kit.open("", { viewport: { width, height: 844 } });
    const field = page.getByRole("searchbox", { name: "Find an id, hash, address or block" });
    const menu = page.getByRole("navigation", { name: "Explorer" });
    for (const one of [field, ...(await menu.getByRole("link").all())]) {
      const clipped = await one.evaluate(
        (shown) =>
          new Promise((resolve) => {
            new IntersectionObserver(([seen]) => resolve((seen?.intersectionRatio ?? 0) < 1)).observe(shown);
          }),
      );
      expect(clipped, String(await one.textContent())).toBe(false);
    }
    expect(((await field.boundingBox()) ?? { width: 0 }).width).toBeGreaterThan(100);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
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
  expect(await amount.getByRole("cell").allInnerTexts()).toEqual(["25.00\u00a0USDC", "none"]);
  const cause = "It calls approve on the token contract; pay on the registrar contract was expected.";
  expect(await page.getByText(cause).count()).toBe(1);
  await amount.getByText("25.00 USDC").click();
  await amount.getByText("25000000 base units").waitFor();
});

test("a transaction without a recipient creates a contract", async () => {
  const page = await kit.open("#/blocks?has=transactions");
  await page.locator("li.block").first().waitFor();
  expect(await page.getByText("deployer creates a contract").count()).toBe(2);
});

test("an operation that a fault holds says so in the list, and everywhere on the page of its purchase", async () => {
  const { purchase } = await kit.sandbox.given.purchase({ state: "refund_due" });
  for (const view of ["#/operations", `#/purchases/${purchase.id}`]) {
    const page = await kit.open(view);
    const row = page.locator("summary", { hasText: "collect refund" });
    await row.getByText("held by a fault", { exact: true }).waitFor();
    expect(await row.textContent(), view).not.toContain("accepted");
  }
  const page = await kit.open(`#/purchases/${purchase.id}`);
  const held = "The refund is held by a fault.";
  await page.getByRole("region", { name: "Money" }).getByText(held, { exact: true }).waitFor();
  const course = page.getByRole("region", { name: "What happened" });
  await course.getByText(`The relayer took on the refund. ${held}`, { exact: true }).waitFor();
  expect(await page.getByText("is held by a fault").count()).toBe(2);
});

test("the overview says what is waiting, and names only faults that can still act", async () => {
  await kit.sandbox.given.purchase({ state: "refund_due" });
  const page = await kit.open();
  await page.getByText("1 refund held by a fault", { exact: true }).waitFor();
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

test("on a phone the filters are folded, and the first entry of every list is on the first screen", async () => {
  await refunded(await kit.begin());
  for (const view of ["purchases", "operations", "events", "requests", "blocks", "merchants"]) {
    const page = await kit.open(`#/${view}`, { viewport: { width: 390, height: 844 } });
    expect(await page.locator(".filter").isVisible(), view).toBe(false);
    const first = await page.locator(".rows > li").first().boundingBox();
    expect((first?.y ?? 844) + (first?.height ?? 0), view).toBeLessThan(844);
    await page.getByText("Filter", { exact: true }).first().click();
    await page.getByRole("button", { name: "Filter" }).waitFor();
  }
});

test("the notice of refused transactions can be closed until another one is refused, and no heading has a box", async () => {
  const session = await kit.begin();
  const purchase = await offered(session);
  const refuse = async () => {
    const { transaction_hash } = await kit.sandbox.wallets.stranger.approve(purchase);
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: session.write(transaction_hash, purchase.id),
      body: { transaction_hashes: [transaction_hash] },
    });
  };
  await refuse();
  const page = await kit.open();
  const notice = page
    .locator(".notice.warn")
    .filter({ hasText: "refused since the start or the last restore" });
  await notice.getByRole("button", { name: "Close this notice" }).press("Enter");
  await expect.poll(async () => await notice.count()).toBe(0);
  expect(await focused(page)).toBe("H1");
  expect(await page.locator("h1").evaluate((heading) => getComputedStyle(heading).outlineStyle)).toBe("none");
  await page.reload();
  await page.locator('main[aria-busy="false"]').waitFor();
  expect(await notice.count()).toBe(0);
  await refuse();
  await notice.getByText("2 transactions were refused").waitFor();
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
