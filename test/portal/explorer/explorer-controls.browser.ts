import { expect, test } from "vitest";
import type { EventView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { day } from "../../../server/limits.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../../testkit/demo/show-purchase.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { sharePages } from "../share-pages.ts";
import { ExplorerKit, offered, refunded } from "./explorer-kit.ts";

let kit: ExplorerKit;

sharePages("explorer controls", (sandbox, browser) => {
  kit = new ExplorerKit(sandbox, browser);
});

test("the controls travel and mine", async () => {
  const page = await kit.open("#/controls");
  const before = await kit.sandbox.clock.now();
  await page.getByLabel("Ahead by").fill("8");
  await page.getByRole("button", { name: "Travel" }).click();
  await page.getByRole("main").getByText("Time was moved forward").waitFor();
  expect(await kit.sandbox.clock.now()).toBe(before + 8 * day);
  const block = await kit.sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
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
    expect(await kit.sandbox.chain.client.getAutomine()).toBe(automine);
  }
});

test("the controls set and clear faults, at the points where they can act", async () => {
  const page = await kit.open("#/controls");
  await page.getByLabel("What happens").selectOption("drop");
  expect(await page.getByLabel("Where").locator("option").allTextContents()).toEqual(["broadcast"]);
  await page.getByLabel("Until it is cleared").check();
  await page.getByRole("button", { name: "Set this fault" }).click();
  await page.getByText("relayer: drop at broadcast: acted 0 times, until it is cleared").waitFor();
  expect(kit.sandbox.faults.list()).toMatchObject([{ point: "broadcast", action: "drop", remaining: null }]);
  await page.getByRole("button", { name: "Clear the faults" }).click();
  await page.getByRole("main").getByText("No fault is set any more.").waitFor();
  expect(kit.sandbox.faults.list()).toEqual([]);
  await page.getByLabel("Only for", { exact: true }).selectOption("executeRefund");
  await page.getByRole("button", { name: "Set the fault" }).click();
  await page.getByText("api: reset after commit for executeRefund: acted 0 times, 1 left").waitFor();
  await page.getByLabel("Layer", { exact: true }).selectOption("delivery");
  await page.getByLabel("What happens").selectOption("answer");
  await page.getByLabel("Status").fill("410");
  await page.locator("#occurrence").fill("3");
  await page.getByLabel("Until it is cleared").uncheck();
  await page.getByRole("button", { name: "Set this fault" }).click();
  await page.getByText("delivery: answer at receiver for occurrence 3: acted 0 times, 1 left").waitFor();
  expect(kit.sandbox.faults.list()).toMatchObject([
    { layer: "api", action: "reset", match: { operation: "executeRefund" } },
    { layer: "delivery", action: "answer", status: 410 },
  ]);
});

test("the controls take a snapshot and restore it", async () => {
  const page = await kit.open("#/controls");
  const before = await kit.sandbox.fingerprint();
  await page.getByRole("button", { name: "Take a snapshot" }).click();
  await page.getByRole("button", { name: "Go back to snapshot" }).waitFor();
  await offered(await kit.begin());
  await page.getByRole("button", { name: "Go back to snapshot" }).click();
  await page.getByRole("main").getByText("Everything is as it was at snapshot").waitFor();
  expect(await kit.sandbox.fingerprint()).toEqual(before);
});

test("the controls rotate keys", async () => {
  const page = await kit.open("#/controls");
  const before = kit.sandbox.description.reviewer.key_id;
  await page.getByLabel("Which").selectOption("reviewer");
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("main").getByText("The keys were rotated.").waitFor();
  expect(kit.sandbox.description.reviewer.key_id).not.toBe(before);
});

test("the controls show the sandbox's own error message", async () => {
  const page = await kit.open("#/controls", { expectedErrors: /422/ });
  const blocks = page.getByRole("spinbutton", { name: "Blocks" });
  await blocks.evaluate((input) => input.removeAttribute("max"));
  await blocks.fill("20000");
  await page.getByRole("button", { name: "Mine" }).click();
  const said = page.locator("main .notice.bad");
  expect(await said.textContent()).toContain("/blocks must be at most 9999");
});

test("the controls resume a relay operation that needs attention", async () => {
  const session = await kit.begin();
  const merchant = await enrollMerchant(session);
  await demoSteps.activate(
    session,
    await demoSteps.createPurchase(session, merchant, "first", "25000000"),
    "activate-first",
  );
  await kit.sandbox.faults.set({ layer: "relayer", point: "nonce", action: "foreign_nonce" });
  const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "25000000");
  const attempt = async () =>
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: session.write("activate", purchase.id),
      body: { commitment_hash: purchase.commitment.hash },
    });
  expect((await attempt()).response.status).toBe(409);
  const page = await kit.open();
  await page.getByRole("link", { name: "1 relay operation needs attention" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("main").getByText("The relay operation continues.").waitFor();
  await page.getByRole("link", { name: "Relayer" }).click();
  await page.getByRole("article", { name: "offer 2" }).getByText("confirmed", { exact: true }).waitFor();
  expect((await attempt()).response.status).toBe(200);
});

test("the controls send a delivery that arrived once more", async () => {
  await refunded(await kit.begin());
  const page = await kit.open("#/events?status=delivered");
  await page.getByRole("button", { name: "Send delivery 1 again" }).click();
  await page.getByRole("button", { name: "Send delivery 2 again" }).waitFor();
  expect(kit.sandbox.receiver.deliveries().map(({ status }) => status)).toEqual([200, 200]);
});

test("the controls send an event to a pinned receiver once more", async () => {
  await using receiver = await openReceiver();
  await kit.sandbox.receiver.pin(receiver.url);
  await kit.sandbox.given.merchant({ state: "pending" });
  await kit.sandbox.deliverAll();
  const page = await kit.open("#/events");
  await page.getByRole("button", { name: "Send event 1 again" }).click();
  await page.getByRole("main").getByText("Event 1 was sent once more.").waitFor();
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual(
    (await readEvents()).data.flatMap(({ id }) => [id, id]),
  );
});

test("the controls deliver every event that was not delivered, a receiver's failures included", async () => {
  await kit.sandbox.given.purchase({ state: "active" });
  await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 503 });
  const page = await kit.open("#/events");
  await page.getByRole("button", { name: "Deliver all events" }).click();
  await page.getByRole("main").getByText("Every undelivered event was delivered").waitFor();
  await page.getByRole("button", { name: "Deliver all events" }).waitFor({ state: "detached" });
  const delivered = kit.sandbox.receiver.deliveries().filter(({ status }) => status === 200);
  const { data } = await readEvents();
  expect(data.length).toBeGreaterThan(3);
  expect(data.map(({ delivery }) => delivery)).toEqual(data.map(() => "delivered"));
  expect(delivered).toHaveLength(data.length);
  expect(
    data
      .map(({ attempts }) => attempts.length)
      .toSorted()
      .at(-1),
  ).toBe(2);
});

async function readEvents(): Promise<ViewPage<EventView>> {
  return await (await fetch(`${kit.sandbox.description.urls.control}/explorer/events`)).json();
}
