import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { castActors } from "../../sandbox/demo/actors.ts";
import { enrollMerchant } from "../../sandbox/demo/merchant-steps.ts";
import { silentNarrator } from "../../sandbox/demo/narrator.ts";
import {
  activate,
  approve,
  claim,
  createPurchase,
  type DemoPurchase,
  decide,
  notify,
  pay,
  reconcile,
  refund,
} from "../../sandbox/demo/purchase-steps.ts";
import { Session } from "../../sandbox/demo/session.ts";
import { payFromStranger } from "../../sandbox/demo/wrong-wallet.ts";
import type { Snapshot } from "../../sandbox/snapshot.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import {
  accessibilityFaults,
  contrastFaults,
  openBrowser,
  type PageOptions,
  type TestBrowser,
} from "./browser.ts";

const usdc = 1_000_000n;
let sandbox: Sandbox;
let browser: TestBrowser;
let fresh: Snapshot;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "explorer page" });
  fresh = await sandbox.snapshot();
  browser = await openBrowser(Object.values(sandbox.description.urls));
});

beforeEach(async () => await fresh.restore());

afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await sandbox.close();
});

/** Opens the explorer at a view and waits until it hears of changes. */
async function open(view = "", options?: PageOptions): Promise<Page> {
  const page = await browser.open(options);
  await page.goto(`${sandbox.description.urls.control}/${view}`);
  await page.getByText("live", { exact: true }).waitFor();
  await page.locator('main[aria-busy="false"]').waitFor();
  return page;
}

async function begin(): Promise<Session> {
  return await Session.open(await castActors(sandbox.description), silentNarrator);
}

/** A purchase that was offered. */
async function offered(session: Session): Promise<DemoPurchase> {
  const purchase = await createPurchase(session, await enrollMerchant(session), "purchase", "25000000");
  return await activate(session, purchase, "activate");
}

/** A purchase that came all the way to its refund, whose event was delivered. */
async function refunded(session: Session): Promise<DemoPurchase> {
  const purchase = await offered(session);
  await approve(session, session.actors.buyer, purchase, 25n * usdc);
  await pay(session, purchase, 25n * usdc);
  await reconcile(session, purchase, "reconcile");
  const filed = await claim(session, purchase, 20n * usdc);
  const decision = await decide(session, purchase, filed, 12n * usdc);
  const { event_id } = await refund(session, purchase, decision);
  await notify(session, event_id);
  return purchase;
}

/** A payment that a stranger made, and that reconcile refused. */
async function refused(session: Session): Promise<DemoPurchase> {
  const purchase = await offered(session);
  const hash = await payFromStranger(session, purchase, 25n * usdc);
  await session.refused({
    title: "Reconcile",
    method: "POST",
    path: `/purchases/${purchase.id}/reconcile`,
    intent: "reconcile",
    body: { transaction_hashes: [hash] },
  });
  return purchase;
}

test("an empty sandbox says what to do, on every view", async () => {
  const page = await open();
  await page.getByText("There are no purchases yet.").waitFor();
  for (const [link, sentence] of [
    ["Purchases", "There are no purchases yet."],
    ["Relayer", "The relayer has done nothing yet."],
    ["Events", "No event was written yet."],
    ["Refused", "Nothing was refused."],
    ["Merchants", "There are no merchants yet."],
  ] as const) {
    await page.getByRole("link", { name: link, exact: true }).click();
    await page.getByText(sentence).waitFor();
    expect(await page.title()).toBe(`${link} · Routing sandbox`);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
  }
  await page.goBack();
  await page.getByRole("heading", { name: "Refused" }).waitFor();
});

test("a purchase's life appears as it happens, without a reload", async () => {
  const page = await open("#/purchases");
  await page.evaluate(() => document.body.setAttribute("data-loaded", "once"));
  const session = await begin();
  const purchase = await offered(session);
  const entry = page.getByRole("listitem").filter({ has: page.getByTitle(purchase.id, { exact: true }) });
  await entry.getByText("active", { exact: true }).waitFor();
  await entry.getByRole("img", { name: "0.00 of 25.00 USDC paid" }).waitFor();
  await approve(session, session.actors.buyer, purchase, 25n * usdc);
  await entry.getByRole("img", { name: "25.00 more approved" }).waitFor();
  await pay(session, purchase, 10n * usdc);
  await entry.getByRole("img", { name: "10.00 of 25.00 USDC paid, 0.00 reconciled" }).waitFor();
  await pay(session, purchase, 15n * usdc);
  await reconcile(session, purchase, "reconcile");
  await entry
    .getByRole("img", { name: "25.00 of 25.00 USDC paid, 25.00 reconciled, 0.00 refunded" })
    .waitFor();
  expect(await page.evaluate(() => document.body.getAttribute("data-loaded"))).toBe("once");
});

test("a purchase's story at its own address is complete, and live", async () => {
  const session = await begin();
  const purchase = await refunded(session);
  const page = await open(`#/purchases/${purchase.id}`);
  const told = await page.getByRole("region", { name: "What happened" }).locator("strong").allTextContents();
  expect(told.filter((sentence) => !sentence.startsWith("The outbox"))).toEqual([
    "The purchase was created.",
    "Its commitment was signed.",
    "The relayer took on the offer.",
    "The relayer signed the offer.",
    "The relayer sent the offer.",
    "The registrar offered it on chain.",
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
    "Delivery of refund.collected, attempt 1: answered 200.",
  ]);
  await page.getByRole("article", { name: "collect refund 2" }).getByText("succeeded").waitFor();
  const { data } = await sandbox.client.GET("/v1/routing/programs/{program}/transactions", {
    params: { path: { program: "prg_demo" } },
  });
  for (const { hash } of data?.data ?? [])
    await page.getByTitle(String(hash), { exact: true }).first().waitFor();
});

test("a refused transaction shows each check with both sides, and the decoded difference", async () => {
  const page = await open();
  const session = await begin();
  const purchase = await refused(session);
  await page.getByRole("link", { name: "1 transaction was refused" }).click();
  const refusal = page.getByRole("article", { name: "Refusal 1" });
  await refusal.getByText("binding_mismatch").waitFor();
  const { buyer, stranger } = session.actors;
  await refusal.getByText(buyer.address, { exact: true }).waitFor();
  await refusal.getByText(stranger.address, { exact: true }).waitFor();
  await refusal.getByText("Decoded difference").click();
  await refusal
    .getByText(`It was sent by ${stranger.address}; the bound wallet is ${buyer.address}.`)
    .waitFor();
  await refusal.getByRole("rowheader", { name: "amount" }).waitFor();
  await refusal.getByTitle(purchase.id).click();
  await page.getByText("A payment was refused: status, wallet, log.").waitFor();
  expect(page.url()).toMatch(new RegExp(`#/purchases/${purchase.id}$`));
});

test("search leads to what an id, a hash or an address stands for", async () => {
  const session = await begin();
  const purchase = await offered(session);
  const page = await open();
  const find = async (wanted: string) => {
    await page.getByRole("searchbox", { name: "Find an id, hash, address or block" }).fill(wanted);
    await page.keyboard.press("Enter");
  };
  await find(purchase.commitment.hash);
  await page.getByRole("link", { name: "The commitment of a purchase" }).click();
  await page.getByRole("heading", { name: "Purchase", exact: true }).waitFor();
  await find(session.actors.buyer.address);
  await page.getByRole("link", { name: "buyer", exact: true }).click();
  await page.getByTitle(purchase.id).waitFor();
  await find("nobody");
  await page.getByText("Nothing here is called nobody.").waitFor();
  expect(page.url()).toMatch(/#\/search\?q=nobody$/);
});

describe("the controls", () => {
  test("travel and mine", async () => {
    const page = await open("#/controls");
    const before = await sandbox.clock.now();
    await page.getByLabel("Ahead by").fill("8");
    await page.getByRole("button", { name: "Travel" }).click();
    await page.getByRole("main").getByText("Time has moved ahead").waitFor();
    expect(await sandbox.clock.now()).toBe(before + 8 * 86_400);
    const block = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    await page.getByRole("spinbutton", { name: "Blocks" }).fill("3");
    await page.getByRole("button", { name: "Mine" }).click();
    await page.getByText(`at block ${block + 3n}.`).waitFor();
    for (const [every, automine] of [
      ["never", false],
      ["transaction", true],
    ] as const) {
      await page.getByLabel("Blocks come").selectOption(every);
      const answered = page.waitForResponse((response) => response.url().endsWith("/mining"));
      await page.getByRole("button", { name: "Set mining" }).click();
      expect((await answered).status()).toBe(200);
      expect(await sandbox.chain.client.getAutomine()).toBe(automine);
    }
  });

  test("set and clear faults, at the points where they can act", async () => {
    const page = await open("#/controls");
    await page.getByLabel("What happens").selectOption("drop");
    expect(await page.getByLabel("Where").locator("option").allTextContents()).toEqual(["broadcast"]);
    await page.getByLabel("Until it is cleared").check();
    await page.getByRole("button", { name: "Set the fault" }).click();
    await page.getByText("drop at broadcast: acted 0, until it is cleared").waitFor();
    expect(sandbox.relayer.faults()).toMatchObject([{ point: "broadcast", action: "drop", remaining: null }]);
    await page.getByRole("button", { name: "Clear the relayer's faults" }).click();
    await page.getByRole("main").getByText("No fault of the relayer is set any more.").waitFor();
    expect(sandbox.relayer.faults()).toEqual([]);
    await page.getByLabel("The receiver").selectOption("drop");
    await page.getByRole("button", { name: "Let deliveries fail" }).click();
    await page.getByText("drop true: 1 more").waitFor();
    await page.getByRole("button", { name: "Clear the faults of deliveries" }).click();
    await page.getByRole("main").getByText("Deliveries arrive again.").waitFor();
    expect(sandbox.receiver.faults.list()).toEqual([]);
  });

  test("take a snapshot and go back to it", async () => {
    const page = await open("#/controls");
    const before = await sandbox.fingerprint();
    await page.getByRole("button", { name: "Take a snapshot" }).click();
    await page.getByRole("button", { name: "Go back to snapshot" }).waitFor();
    await offered(await begin());
    await page.getByRole("button", { name: "Go back to snapshot" }).click();
    await page.getByRole("main").getByText("Everything is as it was at snapshot").waitFor();
    expect(await sandbox.fingerprint()).toEqual(before);
  });

  test("rotate keys", async () => {
    const page = await open("#/controls");
    const before = sandbox.description.reviewer.key_id;
    await page.getByLabel("Which").selectOption("reviewer");
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("main").getByText("The keys were rotated.").waitFor();
    expect(sandbox.description.reviewer.key_id).not.toBe(before);
  });

  test("say in the sandbox's words why something cannot be done", async () => {
    const page = await open("#/controls", { expectedErrors: /422/ });
    const blocks = page.getByRole("spinbutton", { name: "Blocks" });
    await blocks.evaluate((input) => input.removeAttribute("max"));
    await blocks.fill("20000");
    await page.getByRole("button", { name: "Mine" }).click();
    const said = page.locator("main .notice.bad");
    expect(await said.textContent()).toContain("expected number to be <=9999");
  });

  test("resume an operation that needs a person", async () => {
    const session = await begin();
    const merchant = await enrollMerchant(session);
    await activate(session, await createPurchase(session, merchant, "first", "25000000"), "activate-first");
    sandbox.relayer.fault({ point: "nonce", action: "foreign_nonce" });
    const purchase = await createPurchase(session, merchant, "purchase", "25000000");
    const attempt = {
      method: "POST",
      path: `/purchases/${purchase.id}/activate`,
      intent: "activate",
      body: { commitment_hash: purchase.commitment.hash },
    } as const;
    expect((await session.attempt(attempt)).status).toBe(409);
    const page = await open();
    await page.getByRole("link", { name: "1 operation needs a person" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("main").getByText("The operation goes on.").waitFor();
    await page.getByRole("link", { name: "Relayer" }).click();
    await page.getByRole("article", { name: "offer 2" }).getByText("confirmed", { exact: true }).waitFor();
    expect((await session.attempt(attempt)).status).toBe(200);
  });

  test("send a delivery that arrived once more", async () => {
    await refunded(await begin());
    const page = await open("#/events?status=delivered");
    await page.getByRole("button", { name: "Send delivery 1 again" }).click();
    await page.getByRole("button", { name: "Send delivery 2 again" }).waitFor();
    expect(sandbox.receiver.deliveries().map(({ status }) => status)).toEqual([200, 200]);
  });
});

test("a hash is copied whole", async () => {
  const session = await begin();
  const purchase = await offered(session);
  const page = await open(`#/purchases/${purchase.id}`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.getByRole("button", { name: "Copy commitment hash" }).first().click();
  await page.getByText("Copied.").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(purchase.commitment.hash);
});

test("what cannot be read is said, with a way to try again", async () => {
  const page = await open("#/purchases/pur_none", { expectedErrors: /404/ });
  await page.getByText("There is no purchase pur_none.").waitFor();
  const answered = page.waitForResponse((response) => response.url().endsWith("/purchases/pur_none"));
  await page.getByRole("button", { name: "Try again" }).click();
  expect((await answered).status()).toBe(404);
});

test("a page whose sandbox is gone says so, and goes on when it is back", async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  const { urls } = first.description;
  const page = await browser.open({
    origins: Object.values(urls),
    expectedErrors: /ERR_|Failed to load/,
  });
  await page.goto(urls.control);
  await page.getByText("live", { exact: true }).waitFor();
  await first.close();
  await page.getByText("disconnected", { exact: true }).waitFor();
  await page.getByText("The sandbox does not answer.").first().waitFor();
  const portOf = (name: keyof typeof urls) => Number(new URL(urls[name]).port);
  const ports = {
    api: portOf("api"),
    docs: portOf("docs"),
    rpc: portOf("rpc"),
    control: portOf("control"),
  };
  await using second = await createSandbox({ dataDirectory, ports });
  await page.getByText("live", { exact: true }).waitFor();
  const session = await Session.open(await castActors(second.description), silentNarrator);
  const purchase = await createPurchase(session, await enrollMerchant(session), "purchase", "25000000");
  await page.getByTitle(purchase.id, { exact: true }).waitFor();
  expect(await page.getByText("The sandbox does not answer.").count()).toBe(0);
});

test("on a phone's width axe finds nothing on any view, in light and dark, and nothing is wider than the phone", async () => {
  const session = await begin();
  const purchase = await refunded(session);
  const hash = await payFromStranger(session, purchase, usdc);
  await session.refused({
    title: "Reconcile",
    method: "POST",
    path: `/purchases/${purchase.id}/registration`,
    intent: "registration",
    body: { transaction_hash: hash },
  });
  sandbox.relayer.fault({ point: "broadcast", action: "hold" });
  const page = await open("", { viewport: { width: 375, height: 740 } });
  for (const [view, heading] of [
    ["", "What is going on"],
    ["purchases", "Purchases"],
    [`purchases/${purchase.id}`, "Purchase"],
    ["operations", "Relayer"],
    ["events", "Events"],
    ["refusals", "Refused"],
    ["blocks", "Blocks"],
    [`transactions/${hash}`, "Transaction"],
    ["merchants", "Merchants"],
    ["controls", "Controls"],
    ["search?q=nobody", "Found"],
    ["nowhere", "Nothing here"],
  ] as const) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(`${sandbox.description.urls.control}/#/${view}`);
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    await page.locator('main[aria-busy="false"]').waitFor();
    const faults = await accessibilityFaults(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    await page.emulateMedia({ colorScheme: "dark" });
    const inDark = await contrastFaults(page);
    expect({ view, faults, width, inDark }).toEqual({ view, faults: [], width: 375, inDark: [] });
  }
});
