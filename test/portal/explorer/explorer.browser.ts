import { expect, test } from "vitest";
import { usdc } from "../../../protocol/values/amount.ts";
import type { RequestViews } from "../../../sandbox/activity/views.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { PurchaseViews } from "../../../sandbox/explorer/views.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { payFromStranger } from "../../../testkit/demo/run-demo.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { type DemoPurchase, demoSteps } from "../../../testkit/demo/show-purchase.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { accessibilityFaults, contrastFaults } from "../browser.ts";
import { sharePages } from "../share-pages.ts";
import { ExplorerKit, offered, refunded } from "./explorer-kit.ts";

let kit: ExplorerKit;

sharePages("explorer page", (sandbox, browser) => {
  kit = new ExplorerKit(sandbox, browser);
});

/** A payment that a stranger made, and that reconcile refused. */
async function refused(session: Session): Promise<DemoPurchase> {
  const purchase = await offered(session);
  const hash = await payFromStranger(session, purchase, 25n * usdc);
  const { response } = await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: session.write("reconcile", purchase.id),
    body: { transaction_hashes: [hash] },
  });
  expect(response.status).toBe(422);
  return purchase;
}

test("an empty sandbox says what to do, on every view", async () => {
  const page = await kit.open();
  await page.getByText("There are no purchases yet.").waitFor();
  for (const [link, sentence] of [
    ["Purchases", "There are no purchases yet."],
    ["Relayer", "There are no relay operations yet."],
    ["Events", "No event was written yet."],
    ["Requests", "No request has a response yet."],
    ["Refused", "Nothing was refused."],
    ["Merchants", "There are no merchants yet."],
  ] as const) {
    await page.getByRole("link", { name: link, exact: true }).click();
    // The view before has the sentence of the purchases, too.
    await page.waitForFunction((title) => document.title === title, `${link} · Routing sandbox`);
    await page.getByText(sentence).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
  }
  await page.goBack();
  await page.getByRole("heading", { name: "Refused" }).waitFor();
});

test("a purchase's steps appear as they happen, without a reload", async () => {
  const page = await kit.open("#/purchases");
  await page.evaluate(() => document.body.setAttribute("data-loaded", "once"));
  const session = await kit.begin();
  const purchase = await offered(session);
  const entry = page.getByRole("listitem").filter({ has: page.getByTitle(purchase.id, { exact: true }) });
  await entry.getByText("active", { exact: true }).waitFor();
  await entry.getByRole("img", { name: "0.00 of 25.00 USDC paid" }).waitFor();
  await demoSteps.approve(session, session.actors.buyer, purchase, 25n * usdc);
  await page.getByRole("list", { name: "Colors of the bars" }).getByText("reconciled").waitFor();
  // The allowance is the wallet's: it fills no bar.
  expect(
    await entry
      .locator("rect:not(.track)")
      .evaluateAll((bars) => bars.map((bar) => bar.getAttribute("width"))),
  ).toEqual(["0", "0", "0"]);
  await demoSteps.pay(session, purchase, 10n * usdc);
  await entry.getByRole("img", { name: "10.00 of 25.00 USDC paid, 0.00 reconciled" }).waitFor();
  await demoSteps.pay(session, purchase, 15n * usdc);
  await demoSteps.reconcile(session, purchase, "reconcile");
  await entry
    .getByRole("img", { name: "25.00 of 25.00 USDC paid, 25.00 reconciled, 0.00 refunded" })
    .waitFor();
  expect(await page.evaluate(() => document.body.getAttribute("data-loaded"))).toBe("once");
});

test("a purchase's timeline at its own address is complete, and live", async () => {
  const session = await kit.begin();
  const purchase = await refunded(session);
  const page = await kit.open(`#/purchases/${purchase.id}`);
  const told = await page.getByRole("region", { name: "What happened" }).locator("strong").allTextContents();
  expect(told).toEqual([
    "The purchase was created.",
    "Its commitment was signed.",
    "The relayer took on the offer.",
    "The relayer signed the offer.",
    "The relayer sent the offer.",
    "The operator offered it on chain.",
    "The offer was confirmed.",
    "The buyer approved an amount, for all of its purchases.",
    "The buyer paid on chain.",
    "A payment was reconciled.",
    "The beneficiary claimed on chain.",
    "The claim was verified and filed.",
    "The reviewer approved the claim.",
    "The award was recorded as due.",
    "The relayer took on the refund.",
    "The relayer signed the refund.",
    "The relayer sent the refund.",
    "The award moved on chain.",
    "The refund was confirmed.",
    "The refund was collected.",
    "Delivery of refund.collected, attempt 1: responded with 200.",
  ]);
  await page.getByText("shared by all purchases of the buyer's wallet").waitFor();
  await page.getByText("The relayer sent the offer. 3 steps").click();
  await page.getByText("The relayer signed the offer.").waitFor();
  const relayed = page.getByRole("article", { name: "collect refund 2" });
  const title = relayed.getByText("collect refund", { exact: true });
  await title.click();
  await relayed.getByText("succeeded").waitFor();
  // The links stay on the line of the title, and the purchase is named once.
  const lines = await Promise.all(
    [title, relayed.getByTitle(purchase.id)].map(async (part) => (await part.boundingBox())?.y ?? 0),
  );
  expect(Math.abs((lines[0] ?? 0) - (lines[1] ?? 999))).toBeLessThan(12);
  const { data } = await kit.sandbox.client.GET("/v1/routing/programs/{program}/transactions", {
    params: { path: { program: "prg_demo" } },
  });
  for (const { hash } of data?.data ?? [])
    await page.getByTitle(String(hash), { exact: true }).filter({ visible: true }).first().waitFor();
});

test("an active purchase is shown as paid or as expired", async () => {
  const states = ["active", "partially_paid", "paid", "reconciled", "expired"] as const;
  const ids: string[] = [];
  for (const state of states) ids.push((await kit.sandbox.given.purchase({ state })).purchase.id);
  const page = await kit.open("#/purchases");
  const rows = page.locator("li.purchase");
  await rows.first().waitFor();
  const badges = ids.map(async (id) =>
    rows
      .filter({ has: page.getByTitle(id, { exact: true }) })
      .locator(".badge")
      .textContent(),
  );
  expect(await Promise.all(badges)).toEqual(["active", "active", "paid", "paid", "expired"]);
});

test("a purchase's timeline can be filtered by money, chain, relayer, webhooks or requests, even after a reload", async () => {
  const session = await kit.begin();
  const purchase = await refunded(session);
  const page = await kit.open(`#/purchases/${purchase.id}`);
  const course = page.getByRole("region", { name: "What happened" });
  const parts = page.getByRole("navigation", { name: "Parts of the timeline" });
  for (const [part, has, hasNot] of [
    ["money", "The buyer paid on chain.", "The relayer sent the offer."],
    ["chain", "The operator offered it on chain.", "A payment was reconciled."],
    ["relayer", "The relayer signed the refund.", "The buyer paid on chain."],
    ["webhooks", "The outbox took the event refund.collected.", "The buyer paid on chain."],
    ["requests", "activatePurchase", "The buyer paid on chain."],
  ] as const) {
    await parts.getByRole("link", { name: part }).click();
    // The click has been handled as soon as the link is the current one; the rows are drawn with it.
    await parts.locator('a[aria-current="true"]').getByText(part, { exact: true }).waitFor();
    await course.getByText(has, { exact: true }).first().waitFor();
    expect(await course.getByText(hasNot, { exact: true }).count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(part);
  }
  await page.reload();
  await course.getByText("activatePurchase", { exact: true }).waitFor();
  expect(await parts.getByRole("link", { name: "requests" }).getAttribute("aria-current")).toBe("true");
  expect(await accessibilityFaults(page)).toEqual([]);
});

test("the filter and the order of a list are in its address, and survive a reload", async () => {
  const session = await kit.begin();
  await offered(session);
  const page = await kit.open("#/events");
  const rows = page.getByRole("article");
  const names = async () =>
    await rows.evaluateAll((found) => found.map((row) => row.getAttribute("aria-label")));
  const newest = await names();
  await page.getByLabel("Order").selectOption("oldest first");
  await expect.poll(names).toEqual(newest.toReversed());
  await page.getByLabel("Id, type or subject").fill("purchase.created");
  await page.keyboard.press("Enter");
  await expect.poll(names).toHaveLength(1);
  await page.reload();
  await expect.poll(names).toHaveLength(1);
  expect(await page.getByLabel("Order").inputValue()).toBe("oldest");
  expect(await page.getByLabel("Id, type or subject").inputValue()).toBe("purchase.created");
  // The only entry is open.
  await rows.getByText("Body").waitFor();
  await page.getByLabel("Delivery").selectOption("exhausted");
  await page.getByText("No event matches.").waitFor();
  await page.getByRole("link", { name: "Show all" }).click();
  await expect.poll(names).toEqual(newest);
});

test("blocks can be filtered by number, by hash, and to those with transactions, even after a reload", async () => {
  await offered(await kit.begin());
  await kit.sandbox.clock.travel(1);
  const page = await kit.open("#/blocks");
  const rows = page.locator("li.block");
  const all = await rows.count();
  const empty = rows.filter({ hasText: "no transactions" });
  expect(await empty.count()).toBeGreaterThan(0);
  await page.getByLabel("Blocks", { exact: true }).last().selectOption("with transactions");
  await expect.poll(async () => await empty.count()).toBe(0);
  const busy = await rows.count();
  expect(busy).toBeLessThan(all);
  await page.reload();
  await expect.poll(async () => await rows.count()).toBe(busy);
  const hash = (await rows.first().locator("p code").getAttribute("title")) ?? "";
  await page.getByLabel("Number or hash").fill(hash);
  await page.keyboard.press("Enter");
  await expect.poll(async () => await rows.count()).toBe(1);
  await page.getByLabel("Number or hash").fill("999999");
  await page.keyboard.press("Enter");
  await page.getByText("No block matches.").waitFor();
  await page.getByRole("link", { name: "Show all" }).click();
  await expect.poll(async () => await rows.count()).toBe(all);
});

test("a refused transaction has its cause in one sentence, and on demand each check with both sides and the decoded call", async () => {
  const page = await kit.open();
  const session = await kit.begin();
  const purchase = await refused(session);
  await page.getByRole("link", { name: "1 transaction was refused" }).click();
  const refusal = page.getByRole("article", { name: "Refusal 1" });
  await refusal.getByText("binding_mismatch").waitFor();
  await refusal.getByText("Corner Books").waitFor();
  const { buyer, stranger } = session.actors;
  const cause = refusal.getByText(
    /^It was sent by stranger 0x\w+…\w+; the bound wallet is buyer 0x\w+…\w+\.$/,
  );
  await cause.waitFor();
  expect(
    await cause.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("title"))),
  ).toEqual([stranger.address, buyer.address]);
  expect(await refusal.getByText("✗ wallet").isVisible()).toBe(false);
  await refusal.getByText("Checks and decoded call").click();
  await refusal.getByText("✗ wallet").waitFor();
  await refusal.getByText("the payment of").waitFor();
  await refusal.getByText("POST /v1/routing/programs/{program}/purchases/{id}/reconcile").waitFor();
  await refusal.getByRole("rowheader", { name: "amount" }).waitFor();
  await refusal.getByTitle(purchase.id).first().click();
  await page.getByText(/^A payment was refused: it was sent by stranger/).waitFor();
  expect(page.url()).toMatch(new RegExp(`#/purchases/${purchase.id}$`));
});

test("search leads to what an id, a hash or an address belongs to", async () => {
  const session = await kit.begin();
  const purchase = await offered(session);
  const page = await kit.open();
  const find = async (wanted: string) => {
    await page.getByRole("searchbox", { name: "Find an id, hash, address or block" }).fill(wanted);
    await page.keyboard.press("Enter");
  };
  await find(purchase.commitment.hash);
  await page.getByRole("link", { name: "The commitment of a purchase" }).click();
  await page.getByRole("heading", { level: 1, name: "Corner Books" }).waitFor();
  await find(session.actors.buyer.address);
  await page.getByRole("link", { name: "buyer", exact: true }).click();
  await page.getByTitle(purchase.id).waitFor();
  const { data: asked }: RequestViews = await (
    await fetch(`${kit.sandbox.description.urls.control}/requests`)
  ).json();
  await find(String(asked[0]?.id));
  await page.getByRole("link", { name: /, 20\d$/ }).click();
  await page.getByRole("article", { name: `Request ${asked[0]?.number}`, exact: true }).waitFor();
  await find("absent");
  await page.getByText("Found nothing for absent.").waitFor();
  expect(page.url()).toMatch(/#\/search\?q=absent$/);
});

test("a search for given creates a purchase in a state, and one for explain leads to a transaction", async () => {
  const page = await kit.open();
  const find = async (wanted: string) => {
    await page.getByRole("searchbox", { name: "Find an id, hash, address or block" }).fill(wanted);
    await page.keyboard.press("Enter");
  };
  await find("given paid");
  await page.getByRole("button", { name: "Create a purchase in the state paid" }).click();
  await page.waitForURL(/#\/purchases\/pur_/);
  const { data }: PurchaseViews = await (
    await fetch(`${kit.sandbox.description.urls.control}/explorer/purchases`)
  ).json();
  expect(page.url()).toMatch(new RegExp(`#/purchases/${data[0]?.id}$`));
  const hash = `0x${"12".repeat(32)}`;
  await find(`explain ${hash}`);
  await page.getByRole("link", { name: "Explain the transaction" }).click();
  await page.getByRole("heading", { name: "Transaction", exact: true }).waitFor();
  expect(page.url()).toMatch(new RegExp(`#/transactions/${hash}$`));
});

test("a view that was read late does not take the focus from the search field", async () => {
  const session = await kit.begin();
  const purchase = await offered(session);
  const page = await kit.open("#/purchases");
  const late = Promise.withResolvers<void>();
  await page.route(`**/explorer/purchases/${purchase.id}`, async (route) => {
    await late.promise;
    await route.continue();
  });
  await page.locator(`a[href="#/purchases/${purchase.id}"]`).click();
  await page.getByText("Reading …").waitFor();
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
  await page
    .getByRole("searchbox", { name: "Find an id, hash, address or block" })
    .fill(session.actors.buyer.address);
  late.resolve();
  await page.getByRole("button", { name: "Copy commitment hash" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "buyer", exact: true }).waitFor();
});

test("a hash is copied whole", async () => {
  const session = await kit.begin();
  const purchase = await offered(session);
  const page = await kit.open(`#/purchases/${purchase.id}`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.getByRole("button", { name: "Copy commitment hash" }).first().click();
  await page.getByText("Copied.").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(purchase.commitment.hash);
});

test("a payment shows the balances that it has changed by holder, the storage by name, and the amounts of its logs in tokens", async () => {
  const { purchase, payments } = await kit.sandbox.given.purchase({ state: "paid" });
  const page = await kit.open(`#/transactions/${payments[0]?.transaction_hash}`);
  const explained = page.getByRole("region", { name: "Explanation" });
  await explained.getByText(/^State changes \(\d+\)$/).click();
  const changes = explained.getByRole("listitem");
  for (const [holder, amount] of [
    ["buyer", "-25.00 USDC"],
    ["merchant", "+25.00 USDC"],
  ] as const)
    await changes.filter({ hasText: holder }).getByText(amount, { exact: true }).waitFor();
  const paid = changes.filter({ hasText: "].paid" });
  await paid.getByTitle(purchase.id).waitFor();
  expect(await paid.getByText("25000000", { exact: true }).count()).toBe(1);
  await explained.getByText("Logs (2)").click();
  const log = changes.filter({ hasText: "PurchasePaid of" });
  expect(await log.getByText("25.00 USDC", { exact: true }).count()).toBe(2);
});

test("a transaction has its status, cause, sender, recipient, block, time, gas and purchase, then the call and the raw bytes", async () => {
  const session = await kit.begin();
  const purchase = await offered(session);
  const hash = await payFromStranger(session, purchase, usdc);
  const page = await kit.open(`#/transactions/${hash}`);
  const explained = page.getByRole("region", { name: "Explanation" });
  await page.locator("main > .heading").getByText("reverted", { exact: true }).waitFor();
  await explained.getByText(/^It was sent by stranger/).waitFor();
  await explained.getByText(/^Only buyer 0x\w+…\w+ may send it/).waitFor();
  expect(await explained.locator("dt:visible").allTextContents()).toEqual([
    "From",
    "To",
    "Block",
    "Time",
    "Gas",
    "Compared with",
  ]);
  await explained.getByTitle(purchase.id).waitFor();
  await explained.getByRole("rowheader", { name: "amount" }).waitFor();
  await explained.getByText("Raw bytes (68)").click();
  await explained.getByText(/^0x[0-9a-f]{136}$/).waitFor();
});

test("an address that names no page, or that is malformed, says what to do", async () => {
  const page = await kit.open("#/__proto__");
  for (const view of ["__proto__", "constructor", "%E0%A4%A"]) {
    await page.goto(`${kit.sandbox.description.urls.control}/#/${view}`);
    await page.getByText(`The explorer has no page ${view}.`).waitFor();
  }
  await page.goto(`${kit.sandbox.description.urls.control}/#/purchases?q=%E0%A4%A`);
  await page.getByText("No purchase matches.").waitFor();
  expect(await page.getByRole("searchbox", { name: "Id, hash, address or reference" }).count()).toBe(1);
});

test("the layout does not move while a view is loading", async () => {
  await refunded(await kit.begin());
  for (const viewport of [
    { width: 390, height: 844 },
    { width: 1280, height: 900 },
  ]) {
    const page = await kit.open("#/purchases", {
      viewport,
      prepare: async (opened) => {
        await opened.addInitScript(() => {
          window.moved = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) window.moved += Reflect.get(entry, "value");
          }).observe({ type: "layout-shift", buffered: true });
        });
      },
    });
    await page.getByRole("list", { name: "Colors of the bars" }).waitFor();
    expect(await page.evaluate(() => window.moved)).toBeLessThan(0.01);
  }
});

declare global {
  interface Window {
    /** The sum of the layout shifts. */
    moved: number;
  }
}

test("data that cannot be read is reported, with a button to try again", async () => {
  const page = await kit.open("#/purchases/pur_none", { expectedErrors: /404/ });
  await page.getByText("There is no purchase pur_none.").waitFor();
  await page.getByRole("heading", { level: 1, name: "Purchase", exact: true }).waitFor();
  // The top has the block and the time, although the view cannot be read.
  await page.getByTitle("Newest block").waitFor();
  await page.getByRole("link", { name: "Show all purchases" }).waitFor();
  const answered = page.waitForResponse((response) => response.url().endsWith("/purchases/pur_none"));
  await page.getByRole("button", { name: "Try again" }).click();
  expect((await answered).status()).toBe(404);
});

test("a page whose sandbox has ended says so, and continues when the sandbox runs again", async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  const { urls } = first.description;
  const page = await kit.browser.open({
    origins: Object.values(urls),
    expectedErrors: /ERR_|Failed to load/,
  });
  await page.goto(urls.control);
  await page.getByText("live", { exact: true }).waitFor();
  // A page that has not read its data yet has none to show.
  await page.locator("main[aria-busy=false]").waitFor();
  await first.close();
  await page.getByText("disconnected", { exact: true }).waitFor();
  await page.getByText("The page shows earlier data").waitFor();
  await page.getByRole("link", { name: "Blocks", exact: true }).click();
  await page.getByText("The page continues as soon as the sandbox is back.").waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  const portOf = (name: keyof typeof urls) => Number(new URL(urls[name]).port);
  const ports = {
    api: portOf("api"),
    docs: portOf("docs"),
    rpc: portOf("rpc"),
    control: portOf("control"),
  };
  await using second = await createSandbox({ dataDirectory, ports });
  await page.getByText("live", { exact: true }).waitFor();
  const session = await Session.open(actorsOf(second.description), silentPrinter);
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "purchase",
    "25000000",
  );
  await page.getByTitle(purchase.id, { exact: true }).waitFor();
  expect(await page.getByText("The sandbox does not respond.").count()).toBe(0);
});

test("on a phone's width axe finds nothing on any view, in light and dark, and nothing is wider than the phone", async () => {
  const session = await kit.begin();
  const purchase = await refunded(session);
  const hash = await payFromStranger(session, purchase, usdc);
  const { error } = await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
    params: session.write("registration", purchase.id),
    body: { transaction_hash: hash },
  });
  expect(error).toBeDefined();
  await kit.sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "hold" });
  const page = await kit.open("", { viewport: { width: 375, height: 740 } });
  for (const [view, heading] of [
    ["", "Overview"],
    ["purchases", "Purchases"],
    [`purchases/${purchase.id}`, "Corner Books"],
    ["operations", "Relayer"],
    ["events", "Events"],
    ["refusals", "Refused"],
    ["blocks", "Blocks"],
    [`transactions/${hash}`, "Transaction"],
    ["merchants", "Merchants"],
    ["controls", "Controls"],
    ["search?q=absent", "Search results"],
    ["nowhere", "Nothing here"],
  ] as const) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(`${kit.sandbox.description.urls.control}/#/${view}`);
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    await page.locator('main[aria-busy="false"]').waitFor();
    const faults = await accessibilityFaults(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    await page.emulateMedia({ colorScheme: "dark" });
    const inDark = await contrastFaults(page);
    expect({ view, faults, width, inDark }).toEqual({ view, faults: [], width: 375, inDark: [] });
  }
});

test("requests have their refusal, their records as links, and the decoded calls to the node", async () => {
  const { id } = await refused(await kit.begin());
  const page = await kit.open(`#/requests?status=4xx&purchase=${id}`);
  const row = page.getByRole("article", { name: /^Request/ });
  await row.getByText("422 binding_mismatch").waitFor();
  await row.getByText("✗ wallet").waitFor();
  await row.getByText(/^eth_/).first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel("Answer", { exact: true }).first().selectOption("2xx");
  await page.getByRole("button", { name: "Filter" }).click();
  await row.getByText("activatePurchase", { exact: true }).first().waitFor();
  await row.first().locator(`> .row a[href="#/purchases/${id}"]`).click();
  await page.getByRole("heading", { level: 1, name: "Corner Books" }).waitFor();
});
