import type { Page } from "playwright-core";
import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { setMining } from "../../../sandbox/chain/clock/mining.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { accessibilityFaults, contrastFaults } from "../browser.ts";
import { sharePages } from "../share-pages.ts";
import { InjectedWallet } from "./injected-wallet.ts";
import { accepted, hold, holdAnswer, unfold, WalletKit } from "./wallet-kit.ts";

/** The longest time from a click to its effect on a page, in milliseconds. */
const untilConfirmed = { timeout: 12_000 };

let pages: WalletKit;
let kit: TestKit;

sharePages("wallet page: what is sent", async (sandbox, browser) => {
  kit = await TestKit.of(sandbox);
  pages = new WalletKit(kit, browser);
});

/** The buyer's page with a payment of 3 USDC that waits in the pool, because no blocks are made. */
async function openPending() {
  const purchase = await kit.activePurchase();
  await kit.sandbox.wallets.buyer.approve(purchase);
  const before = await kit.sandbox.snapshot();
  await setMining(kit.sandbox.chain.client, "never");
  const page = await pages.openWithTestKeys(purchase.wallet_url);
  const pay = page.locator("#action-pay");
  await pay.getByLabel("Amount in USDC").fill("3");
  await pay.getByRole("button", { name: "Pay" }).click();
  const sent = pay.getByText(/^Sent: 0x[0-9a-f]{64} is pending\.$/);
  await sent.waitFor();
  const hash = (await sent.locator("code").textContent()) as Hex;
  return { purchase, before, page, pay, sent, hash };
}

/** Expects that an action's transaction is gone, and that its button is there again. */
async function expectGone(page: Page, action: string, hash: Hex, button: string): Promise<void> {
  const panel = page.locator(`#action-${action}`);
  const said = panel.getByRole("alert").filter({ hasText: "The chain no longer has" });
  await said.waitFor();
  expect((await said.textContent())?.replaceAll(/\s+/g, " ")).toBe(
    `The chain no longer has ${hash}: it was replaced, or a restore, a reorg or the node dropped it. ` +
      "If the page still offers the action, start the action again.",
  );
  await panel.getByRole("button", { name: button, disabled: false }).waitFor();
}

describe("a transaction that was sent", () => {
  test("is pending, without confirmations, while it is only in the pool", async () => {
    const { page, pay, sent } = await openPending();
    const refused = async () =>
      await page.waitForResponse((response) => response.request().method() === "POST" && !response.ok());
    const { code, confirmations } = await (await refused()).json();
    expect({ code, confirmations }).toEqual({ code: "transaction_unconfirmed", confirmations: 0 });
    // The page has shown the answer before it asks again.
    await refused();
    expect(await sent.isVisible()).toBe(true);
    expect(await pay.getByText("confirmations").count()).toBe(0);
    await kit.sandbox.chain.client.mine({ blocks: 1 });
    await accepted(page, "pay");
  });

  test("and dropped from the pool is forgotten, and can be sent again with the same amount", async () => {
    const { purchase, page, pay, hash } = await openPending();
    await kit.sandbox.chain.client.dropTransaction({ hash });
    await expectGone(page, "pay", hash, "Pay");
    await setMining(kit.sandbox.chain.client, "transaction");
    await pay.getByRole("button", { name: "Pay" }).click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "3000000" });
  });

  test("and dropped is forgotten by another tab without the one that was sent since", async () => {
    const { purchase, page, pay, hash } = await openPending();
    const other = await pages.openWithTestKeys(purchase.wallet_url);
    const elsewhere = other.locator("#action-pay");
    await elsewhere.getByText("Another tab of this browser is performing this action").waitFor();
    await kit.sandbox.chain.client.dropTransaction({ hash });
    await expectGone(page, "pay", hash, "Pay");
    await elsewhere.getByRole("button", { name: "Pay", disabled: false }).waitFor();
    await pay.getByLabel("Amount in USDC").fill("4");
    await pay.getByRole("button", { name: "Pay" }).click();
    await pay.getByText("is pending").waitFor();
    await elsewhere.getByLabel("Amount in USDC").fill("5");
    await elsewhere.getByRole("button", { name: "Pay" }).click();
    await elsewhere.getByText("Another tab of this browser is performing this action").waitFor();
    await page.reload();
    await Promise.any([pay, elsewhere].map(async (panel) => await panel.getByText("is pending").waitFor()));
    await kit.sandbox.chain.client.mine({ blocks: 1 });
    for (const panel of [pay, elsewhere]) await panel.getByText("Accepted by the service").waitFor();
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "4000000" });
  });

  test("and taken by a restore while the page was closed is forgotten once it is opened again", async () => {
    const { purchase, before, page, hash } = await openPending();
    await page.goto(`${kit.base}/assets/style/icon.svg`);
    await before.restore();
    await page.goto(purchase.wallet_url);
    await page.getByRole("button", { name: "Test keys" }).click();
    await expectGone(page, "pay", hash, "Pay");
    expect(await page.locator("#action-pay").getByLabel("Amount in USDC").inputValue()).toBe("3");
    await page.reload();
    await page.getByRole("button", { name: "Test keys" }).click();
    await page.locator("#action-pay").getByRole("button", { name: "Pay", disabled: false }).waitFor();
  });

  test("and taken by a reorg is forgotten while the page waits for confirmations", async () => {
    await using slow = await TestKit.open({ seed: "gone", confirmations: 3 });
    const merchant = await slow.createMerchant();
    const { rpc } = slow.sandbox.description.urls;
    const wallet = new InjectedWallet(rpc, slow.wallet("merchant"));
    const page = await pages.browser.open({
      origins: Object.values(slow.sandbox.description.urls),
      prepare: async (opened) => await wallet.install(opened),
      // A request that comes during a reorg may be answered 503.
      expectedErrors: /409|503/,
    });
    await page.goto(merchant.wallet_url);
    await page.getByRole("button", { name: "Amber Wallet" }).click();
    for (const [action, button] of [
      ["enroll", "Sign and enroll"],
      ["fund", "Approve the funding source"],
    ] as const) {
      const panel = page.locator(`#action-${action}`);
      await unfold(page, action);
      await panel.getByRole("button", { name: button }).click();
      const waiting = panel.getByText("1 of 3 confirmations");
      await waiting.waitFor();
      const hash = (await waiting.locator("code").textContent()) as Hex;
      await slow.reorg(1);
      await expectGone(page, action, hash, button);
    }
    await page.getByRole("button", { name: "Approve the funding source" }).click();
    await page.getByText("1 of 3 confirmations").waitFor();
    await slow.sandbox.chain.client.mine({ blocks: 2 });
    await accepted(page, "fund");
    // An open page asks the chain again, which ends now.
    await page.goto("about:blank");
  });

  test.each(["a reorg", "a restore"])(
    "and accepted, then taken by %s, is forgotten, and can be sent again",
    async (taker) => {
      const purchase = await kit.activePurchase();
      await kit.sandbox.wallets.buyer.approve(purchase);
      const before = await kit.sandbox.snapshot();
      // A request that comes during a reorg may be answered 503.
      const page = await pages.openWith(pages.walletOf("buyer"), purchase.wallet_url, /503/);
      const pay = page.locator("#action-pay");
      const amount = pay.getByLabel("Amount in USDC");
      await amount.fill("5");
      await pay.getByRole("button", { name: "Pay" }).click();
      await accepted(page, "pay");
      const hash = (await page.locator(".receipt code").textContent()) as Hex;
      await amount.fill("4");
      await pay.getByRole("button", { name: "Pay", disabled: false }).waitFor();
      if (taker === "a reorg") await kit.reorg(1);
      else await before.restore();
      await expectGone(page, "pay", hash, "Pay");
      expect(await pay.getByText("Accepted").count()).toBe(0);
      await pay.getByRole("button", { name: "Pay" }).click();
      await accepted(page, "pay");
      expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "4000000" });
    },
  );

  test("and accepted is known to be gone also once the page is opened again, and a claim is offered again", async () => {
    const { purchase } = await kit.sandbox.given.purchase({ state: "reconciled" });
    const page = await pages.openWith(pages.walletOf("beneficiary"), purchase.wallet_url, /503/);
    const claim = page.locator("#action-claim");
    await claim.getByLabel("Reason").fill("late");
    await claim.getByRole("button", { name: "Sign and claim" }).click();
    await accepted(page, "claim");
    const gone = claim.getByRole("alert").filter({ hasText: "The chain no longer has 0x" });
    await kit.reorg(1);
    await gone.waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Amber Wallet" }).click();
    await gone.waitFor();
    await claim.getByLabel("Reason").fill("late");
    await claim.getByRole("button", { name: "Sign and claim", disabled: false }).click();
    await accepted(page, "claim");
    expect(await gone.count()).toBe(0);
  });

  test("in one tab is waited for by another one, which does not ask for its hash", async () => {
    const { purchase, wallet, page, pay } = await pages.openApproved();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    wallet.onSent = async () => {
      ask();
      await answered;
    };
    await pay.getByLabel("Amount in USDC").fill("5");
    await pay.getByRole("button", { name: "Pay" }).click();
    await asked;
    const other = await page.context().newPage();
    await other.goto(purchase.wallet_url);
    const elsewhere = other.locator("#action-pay");
    await elsewhere.getByText("Another tab of this browser is performing this action").waitFor();
    expect(await elsewhere.getByText("This page was closed").count()).toBe(0);
    answer();
    await accepted(page, "pay");
    await elsewhere.getByText("Accepted by the service").waitFor();
    expect(await elsewhere.getByText("Another tab").count()).toBe(0);
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "5000000" });
    expect(wallet.signed).toEqual(["eth_sendTransaction"]);
  });

  test("and that the node does not know for a short time is waited for", async () => {
    const { purchase, page, hash } = await openPending();
    const { client } = kit.sandbox.chain;
    const serializedTransaction = await kit.rawTransaction(hash);
    const codes: string[] = [];
    const { promise: knownAgain, resolve } = Promise.withResolvers<void>();
    await page.route(purchase.wallet_url, async (route) => {
      if (route.request().method() !== "POST") return await route.continue();
      const response = await route.fetch();
      const { code } = await response.json();
      if (code === "transaction_not_found") await client.sendRawTransaction({ serializedTransaction });
      else if (codes.includes("transaction_not_found")) resolve();
      codes.push(code);
      await route.fulfill({ response });
    });
    await client.dropTransaction({ hash });
    await knownAgain;
    await client.mine({ blocks: 1 });
    await accepted(page, "pay");
    expect(codes.filter((code) => code === "transaction_not_found")).toHaveLength(1);
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "3000000" });
  });

  test("shows its amount even after the page was closed, and asks for the next amount once it is accepted", async () => {
    const { page, pay } = await openPending();
    await page.reload();
    const amount = pay.getByLabel("Amount in USDC");
    await pay.getByText("in progress").waitFor();
    await expect.poll(async () => await amount.inputValue()).toBe("3");
    await kit.sandbox.chain.client.mine({ blocks: 1 });
    await accepted(page, "pay");
    await expect.poll(async () => await amount.inputValue()).toBe("");
  });

  test("and whose hash was entered wrong is asked for again", async () => {
    const purchase = await kit.activePurchase();
    const other = await kit.act("buyer", "purchase", purchase.id, "approve", { amount: "1" });
    const wallet = pages.walletOf("buyer");
    const { promise, resolve } = Promise.withResolvers<Hex>();
    wallet.onSent = async (hash) => {
      resolve(hash);
      await new Promise(() => {});
    };
    const page = await pages.openWith(wallet, purchase.wallet_url, /409|422/);
    await unfold(page, "approve");
    await page.getByRole("button", { name: "Approve" }).click();
    const hash = await promise;
    await page.reload();
    const approve = page.locator("#action-approve");
    const submit = async (entered: Hex) => {
      await approve.getByLabel("Transaction hash").fill(entered);
      await approve.getByRole("button", { name: "Submit this hash" }).click();
    };
    const unknown = `0x${"a".repeat(64)}` as const;
    await submit(unknown);
    await approve.getByText(`The chain no longer has ${unknown}`).waitFor();
    await page.reload();
    await submit(other);
    await approve.getByText("Details: the checks that failed").waitFor();
    await page.reload();
    await submit(hash);
    await accepted(page, "approve");
    expect(wallet.signed).toEqual(["eth_sendTransaction"]);
  });
});

describe("a second click", () => {
  /** Clicks where the button was that an action was done with. */
  async function clickTwice(page: Page, action: string, button: string): Promise<void> {
    const pressed = page.locator(`#action-${action}`).getByRole("button", { name: button });
    await pressed.scrollIntoViewIfNeeded();
    const box = await pressed.boundingBox();
    if (box === null) throw new Error(`${button} is not shown.`);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.click(x, y);
    await accepted(page, action);
    await page.locator(`#action-${action}`).getByText("Enter an amount").waitFor();
    await page.mouse.click(x, y);
  }

  test("pays nothing until another amount was typed", async () => {
    const { purchase, wallet, page, pay } = await pages.openApproved();
    const amount = pay.getByLabel("Amount in USDC");
    await amount.fill("5");
    await clickTwice(page, "pay", "Pay");
    expect(await amount.inputValue()).toBe("");
    expect(await amount.getAttribute("placeholder")).toBe("20");
    expect(await pay.getByRole("button").count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await contrastFaults(page)).toEqual([]);
    // axe does not look at placeholders.
    const quiet = await pay
      .locator(".quiet")
      .first()
      .evaluate((text) => getComputedStyle(text).color);
    expect(await amount.evaluate((input) => getComputedStyle(input, "::placeholder").color)).toBe(quiet);
    await amount.fill("2");
    await pay.getByRole("button", { name: "Pay" }).click();
    await expect.poll(async () => (await pages.figuresOf(purchase)).paid, untilConfirmed).toBe("7000000");
    expect(wallet.signed).toEqual(["eth_sendTransaction", "eth_sendTransaction"]);
  });

  test("approves nothing until another amount was typed", async () => {
    const purchase = await kit.activePurchase();
    const wallet = pages.walletOf("buyer");
    const page = await pages.openWith(wallet, purchase.wallet_url);
    const approve = page.locator("#action-approve");
    const amount = approve.getByLabel("Amount in USDC");
    await amount.fill("5");
    await clickTwice(page, "approve", "Approve");
    expect(await amount.getAttribute("placeholder")).toBe("25");
    expect(await approve.getByRole("button").count()).toBe(0);
    await amount.fill("6");
    await approve.getByRole("button", { name: "Approve" }).click();
    await expect.poll(async () => (await pages.figuresOf(purchase)).approved, untilConfirmed).toBe("6000000");
    expect(wallet.signed).toEqual(["eth_sendTransaction", "eth_sendTransaction"]);
  });

  test("pays under the permit that was signed, and signs none until another amount was typed", async () => {
    const purchase = await kit.activePurchase();
    const wallet = pages.walletOf("buyer");
    const page = await pages.openWith(wallet, purchase.wallet_url);
    const pay = page.locator("#action-pay_with_permit");
    await unfold(page, "pay_with_permit");
    const amount = pay.getByLabel("Amount in USDC");
    await amount.fill("5");
    await clickTwice(page, "pay_with_permit", "Sign and pay");
    await expect.poll(async () => await amount.inputValue()).toBe("");
    expect(await amount.getAttribute("placeholder")).toBe("20");
    await amount.fill("4");
    await pay.getByRole("button", { name: "Sign and pay" }).click();
    await expect.poll(async () => (await pages.figuresOf(purchase)).paid, untilConfirmed).toBe("9000000");
    const paid = ["eth_signTypedData_v4", "eth_sendTransaction"];
    expect(wallet.signed).toEqual([...paid, ...paid]);
  });

  test("after a refusal in the wallet pays the amount that was typed", async () => {
    const { purchase, wallet, page, pay } = await pages.openApproved();
    await pay.getByLabel("Amount in USDC").fill("5");
    wallet.declines.add("eth_sendTransaction");
    await pay.getByRole("button", { name: "Pay" }).click();
    await pay.getByText("You declined in the wallet. Nothing was sent").waitFor();
    await pay.getByRole("button", { name: "Pay", disabled: false }).click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "5000000" });
  });

  test("pays the amount that was filled in at the first click, even if another amount is filled in meanwhile", async () => {
    const { purchase, wallet, page, pay } = await pages.openApproved(10_000_000n);
    wallet.declines.add("eth_sendTransaction");
    const button = pay.getByRole("button", { name: "Pay", disabled: false });
    await button.waitFor();
    await kit.sandbox.wallets.buyer.approve(purchase, 15_000_000n);
    await button.click();
    await pay.getByText("You declined in the wallet. Nothing was sent").waitFor();
    expect(await pay.getByLabel("Amount in USDC").inputValue()).toBe("10");
    await button.click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "10000000" });
  });
});

describe("a click", () => {
  test("on an amount whose answer is under way does what is typed last, also when that is typed after the click", async () => {
    const { purchase, page, pay } = await pages.openApproved();
    const { asked, release } = await holdAnswer(page, 1_000_000);
    const amount = pay.getByLabel("Amount in USDC");
    await amount.fill("1");
    await asked;
    await pay.getByRole("button", { name: "Pay" }).click();
    const second = await holdAnswer(page, 12_000_000);
    const first = page.waitForResponse(/amount=1000000$/);
    await amount.fill("12");
    await second.asked;
    release();
    await (await first).finished();
    second.release();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "12000000" });
  });

  test("on an amount that another action has changed while the button was pressed sends nothing", async () => {
    const { purchase, wallet, page, pay } = await pages.openApproved(10_000_000n);
    const approve = page.locator("#action-approve");
    const amount = pay.getByLabel("Amount in USDC");
    await expect.poll(async () => await amount.inputValue()).toBe("10");
    await unfold(page, "approve");
    await approve.getByLabel("Amount in USDC").fill("15");
    await approve.getByRole("button", { name: "Approve 15.00 USDC" }).waitFor();
    const { asked, release } = await hold(page, purchase.wallet_url, "POST");
    await approve.getByRole("button", { name: "Approve" }).click();
    await asked;
    const read = page.waitForResponse(
      (response) => response.url() === purchase.wallet_url && response.request().method() === "GET",
    );
    await pay.getByRole("button", { name: "Pay" }).hover();
    await page.mouse.down();
    release();
    await (await read).finished();
    await page.mouse.up();
    await accepted(page, "approve");
    await expect.poll(async () => await amount.inputValue()).toBe("15");
    await amount.fill("4");
    await pay.getByRole("button", { name: "Pay" }).click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "4000000" });
    expect(wallet.signed).toEqual(["eth_sendTransaction", "eth_sendTransaction"]);
  });
});

describe("just before the wallet is asked", () => {
  test("a click in a second tab finds that the first one has paid", async () => {
    const { purchase, wallet, page, pay } = await pages.openApproved();
    const other = await page.context().newPage();
    await wallet.install(other);
    await other.goto(purchase.wallet_url);
    await other.getByRole("button", { name: "Amber Wallet" }).click();
    const elsewhere = other.locator("#action-pay");
    // The second click waits for the bytes of its amount until the first tab is done.
    const { asked, release } = await holdAnswer(other, 5_000_000);
    await elsewhere.getByLabel("Amount in USDC").fill("5");
    await asked;
    await elsewhere.getByRole("button", { name: "Pay" }).click();
    await pay.getByLabel("Amount in USDC").fill("5");
    await pay.getByRole("button", { name: "Pay" }).click();
    await accepted(page, "pay");
    const hash = await page.locator(".receipt code").textContent();
    release();
    const said = `This was done already on another page, by the transaction ${hash}. Nothing was signed or sent here.`;
    await elsewhere.getByText(said).waitFor();
    expect(wallet.signed).toEqual(["eth_sendTransaction"]);
    await elsewhere.getByLabel("Amount in USDC").fill("1");
    await elsewhere.getByRole("button", { name: "Pay" }).click();
    await accepted(other, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "6000000" });
  });

  test("a deadline that has passed since the page was opened is found, and nothing is sent", async () => {
    const { wallet, pay } = await pages.openApproved();
    await pay.getByRole("button", { name: "Pay", disabled: false }).waitFor();
    await kit.sandbox.clock.travel({ days: 9 });
    await pay.getByRole("button", { name: "Pay" }).click();
    await pay.getByText(/^Not now: The transaction would revert: .*deadline.* Nothing was sent\.$/).waitFor();
    expect(wallet.signed).toEqual([]);
  });

  test("a deadline that passes while the wallet signs is found, and nothing is sent", async () => {
    const { purchase } = await kit.sandbox.given.purchase({ state: "reconciled" });
    const wallet = pages.walletOf("beneficiary");
    const page = await pages.openWith(wallet, purchase.wallet_url);
    const claim = page.locator("#action-claim");
    await claim.getByLabel("Reason").fill("late");
    wallet.onSigned = async () => {
      await kit.sandbox.clock.travel({ days: 60 });
    };
    await claim.getByRole("button", { name: "Sign and claim" }).click();
    await claim.getByText(/^Not now: .*deadline.* Nothing was sent\.$/).waitFor();
    expect(wallet.signed).toEqual(["eth_signTypedData_v4"]);
  });
});

describe("what was typed", () => {
  test("at one action stays while another one is accepted", async () => {
    const { purchase, page, pay } = await pages.openApproved(10_000_000n);
    await pay.getByLabel("Amount in USDC").fill("7");
    const approve = page.locator("#action-approve");
    await unfold(page, "approve");
    await approve.getByLabel("Amount in USDC").fill("15");
    await approve.getByRole("button", { name: "Approve" }).click();
    await accepted(page, "approve");
    expect(await pay.getByLabel("Amount in USDC").inputValue()).toBe("7");
    await pay.getByRole("button", { name: "Pay" }).click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "7000000" });
  });

  test("and is not possible says so in the header as in the text", async () => {
    const { pay } = await pages.openApproved();
    const amount = pay.getByLabel("Amount in USDC");
    const badge = pay.locator(".badge");
    expect(await badge.count()).toBe(0);
    await amount.fill("26");
    await pay.getByRole("alert").filter({ hasText: "Only 25.00 USDC are outstanding" }).waitFor();
    expect(await badge.textContent()).toBe("not as typed");
    await amount.fill("24");
    await pay.getByRole("button", { name: "Pay 24.00 USDC" }).waitFor();
    expect(await badge.count()).toBe(0);
    await kit.sandbox.clock.travel({ days: 9 });
    await amount.fill("5");
    await pay.locator(".reason").getByText("deadline").waitFor();
    expect(await amount.count()).toBe(0);
  });
});
