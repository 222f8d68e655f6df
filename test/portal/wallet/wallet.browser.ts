import { createServer } from "node:http";
import type { Hex } from "viem";
import { describe, expect, onTestFinished, test } from "vitest";
import { setMining } from "../../../sandbox/chain/clock/mining.ts";
import { errorCatalogue } from "../../../server/errors/catalogue.ts";
import { textLengths } from "../../../server/limits.ts";
import { injectWallet } from "../../../testkit/playwright/inject-wallet.ts";
import { present } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { accessibilityFaults, contrastFaults, type TestBrowser } from "../browser.ts";
import { sharePages } from "../share-pages.ts";
import { InjectedWallet } from "./injected-wallet.ts";
import { accepted, holdAnswer, unfold, WalletKit } from "./wallet-kit.ts";

let pages: WalletKit;
let kit: TestKit;
let browser: TestBrowser;

sharePages("wallet page", async (sandbox, opened) => {
  browser = opened;
  kit = await TestKit.of(sandbox);
  pages = new WalletKit(kit, browser);
});

/** Reconciles payments as the program's backend does, without the page. */
async function reconcile(id: string, payments: readonly { transaction_hash: Hex }[]): Promise<void> {
  const transaction_hashes = payments.map(({ transaction_hash }) => transaction_hash);
  present(
    await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: kit.write(id),
      body: { transaction_hashes },
    }),
  );
}

for (const happens of ["focus", "visibilitychange"] as const)
  test(`a page reads again at the event ${happens}, without losing the amount that was typed`, async () => {
    const { purchase, payments } = await kit.sandbox.given.purchase({ state: "partially_paid" });
    const page = await pages.openWithTestKeys(purchase.wallet_url);
    const amount = page.locator("#action-approve").getByLabel("Amount in USDC");
    const claim = page.locator("#action-claim");
    await unfold(page, "claim");
    await claim.getByText("A claim needs a reconciled payment.", { exact: true }).waitFor();
    await amount.fill("3");
    await reconcile(purchase.id, payments);
    await page.evaluate(
      (type) => (type === "focus" ? window : document).dispatchEvent(new Event(type)),
      happens,
    );
    await claim.getByLabel("Reason").waitFor();
    expect(await amount.inputValue()).toBe("3");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("approve-amount");
    await page.getByRole("button", { name: "Approve 3.00 USDC" }).waitFor();
  });

test("a page reads again when its wallet selects another account", async () => {
  const { purchase, payments } = await kit.sandbox.given.purchase({ state: "partially_paid" });
  const wallet = pages.walletOf("buyer");
  const page = await pages.openWith(wallet, purchase.wallet_url);
  const claim = page.locator("#action-claim");
  await unfold(page, "claim");
  await claim.getByText("A claim needs a reconciled payment.", { exact: true }).waitFor();
  await reconcile(purchase.id, payments);
  await wallet.select(kit.wallet("beneficiary"));
  await claim.getByLabel("Reason").fill("unused");
  await expect.poll(async () => await claim.getByRole("button", { name: "claim" }).isEnabled()).toBe(true);
});

test("a paid purchase says first what was paid, with its transaction once, and asks for nothing but a claim", async () => {
  const { purchase, payments } = await kit.sandbox.given.purchase({ state: "paid" });
  const page = await browser.open();
  await page.goto(purchase.wallet_url);
  await page.getByRole("heading", { level: 1, name: "Paid 25.00 USDC to Corner Books" }).waitFor();
  await page.getByText("The payment of 25.00 USDC is complete: Corner Books has the money.").waitFor();
  expect(await page.getByText(payments[0]?.transaction_hash ?? "").count()).toBe(1);
});

test("a purchase with a claim says how much is claimed and awarded, why, and who acts next, and asks for nothing", async () => {
  const page = await browser.open();
  const complete = "is complete: Corner Books has the money.";
  for (const [state, next] of [
    ["claimed", "A reviewer decides next."],
    ["approved", "The program collects it from Corner Books next."],
    ["refund_due", "The program is collecting it from Corner Books;"],
    ["denied", "The reviewer's decision is final: Corner Books keeps the money."],
    ["refunded", "The refund is complete: the beneficiary has the money."],
  ] as const) {
    const { purchase, refund, payments } = await kit.sandbox.given.purchase({ state, reason: "Late." });
    await page.goto(purchase.wallet_url);
    await page.getByText(next).waitFor();
    await page.getByText("25.00 USDC were claimed: “Late.”").waitFor();
    await page.getByText("25.00 USDC were paid to Corner Books.").waitFor();
    expect(await page.getByText(complete).count(), state).toBe(0);
    const hashes = [refund?.transaction_hash, payments[0]?.transaction_hash].filter((hash) => hash != null);
    expect(await page.getByText(/^Transaction 0x/).allTextContents(), state).toEqual(
      hashes.map((hash) => `Transaction ${hash}`),
    );
    expect(await page.getByRole("button").count(), state).toBe(0);
    expect(await page.locator("details.others").getAttribute("open")).toBe(null);
    expect(await accessibilityFaults(page)).toEqual([]);
  }
});

test("a purchase that is not on the chain says who has to put it there, or that it is too late", async () => {
  const { purchase } = await kit.sandbox.given.purchase({ state: "created" });
  const page = await browser.open();
  await page.goto(purchase.wallet_url);
  await page.getByText("Corner Books has to put this purchase on the chain first").waitFor();
  await kit.sandbox.clock.travel({ days: 3 });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Too late to pay Corner Books" }).waitFor();
  expect(await page.locator(".notice.warn").textContent()).toContain("and the deadline for that was");
});

test("the fields of a claim have a gap between them", async () => {
  const { purchase } = await kit.sandbox.given.purchase({ state: "reconciled" });
  const page = await browser.open({ viewport: { width: 390, height: 844 } });
  await page.goto(purchase.wallet_url);
  const [amount, reason] = await Promise.all(
    ["Amount in USDC", "Reason"].map(
      async (label) => await page.locator("#action-claim .field", { hasText: label }).boundingBox(),
    ),
  );
  const end = (amount?.y ?? Number.NaN) + (amount?.height ?? 0);
  expect(reason?.y).toBeGreaterThanOrEqual(end + 8);
});

test("the title of a purchase is its state", async () => {
  const page = await browser.open();
  const title = page.getByRole("heading", { level: 1 });
  for (const [state, expected] of [
    ["created", "Not payable yet: 25.00 USDC to Corner Books"],
    ["active", "Pay 25.00 USDC to Corner Books"],
    ["paid", "Paid 25.00 USDC to Corner Books"],
    ["claimed", "Claim of 25.00 USDC filed"],
    ["approved", "Refund of 25.00 USDC approved"],
    ["refund_due", "Refund of 25.00 USDC on its way"],
    ["denied", "Claim of 25.00 USDC denied"],
    ["refunded", "Corner Books refunded 25.00 USDC"],
    ["expired", "Too late to pay Corner Books"],
  ] as const) {
    const { purchase } = await kit.sandbox.given.purchase({ state });
    await page.goto(purchase.wallet_url);
    await title.waitFor();
    expect((await title.textContent())?.replaceAll("\u00a0", " "), state).toBe(expected);
  }
});

test("a purchase has a deadline only as long as it can be met", async () => {
  const page = await browser.open();
  const part = { paid: "10000000" };
  for (const [plan, deadlines] of [
    [{ state: "created" }, ["Pay until", "Claim until"]],
    [{ state: "active" }, ["Pay until", "Claim until"]],
    [{ state: "paid" }, ["Claim until"]],
    [{ state: "claimed" }, []],
    [{ state: "claimed", ...part }, ["Pay until"]],
    [{ state: "denied" }, []],
    [{ state: "denied", ...part }, ["Pay until"]],
    [{ state: "refunded" }, []],
    [{ state: "refunded", ...part }, []],
    [{ state: "expired" }, []],
  ] as const) {
    const { purchase } = await kit.sandbox.given.purchase(plan);
    await page.goto(purchase.wallet_url);
    const summary = page.getByRole("region", { name: "Summary" });
    await summary.waitFor();
    const shown = await summary.locator("dt", { hasText: "until" }).allTextContents();
    expect(shown, JSON.stringify(plan)).toEqual(deadlines);
  }
});

test("a merchant's page asks to enroll, then says that refunds can be collected, or why the merchant cannot enroll", async () => {
  const { given, wallets } = kit.sandbox;
  const { merchant } = await given.merchant({ state: "pending" });
  const page = await browser.open();
  await page.goto(merchant.wallet_url);
  await page.getByRole("heading", { level: 1, name: "Enroll the wallet of Corner Books" }).waitFor();
  await wallets.merchant.enroll(merchant);
  await page.reload();
  await page.getByText("Enrolled. Refunds can be collected once the funding source is approved.").waitFor();
  expect(await page.locator("#action-enroll .reason").textContent()).toBe("Done.");
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("The wallet of Corner Books");
  await wallets.merchant.fund(merchant);
  await page.reload();
  await page.getByText("Enrolled. Refunds can be collected.", { exact: true }).waitFor();
  await wallets.merchant.revokeFunding(merchant);
  await page.reload();
  await page.locator(".notice.warn", { hasText: "The merchant has enrolled before" }).waitFor();
});

test("a purchase that takes no payment says why below its title, without the names of operations, hashes and base units", async () => {
  const { purchase } = await kit.sandbox.given.purchase({ state: "active" });
  await kit.sandbox.clock.travel({ days: 9 });
  const page = await browser.open();
  await page.goto(purchase.wallet_url);
  await page.getByText("The pay deadline has passed.").first().waitFor();
  await page.locator("details.others > summary").click();
  for (const said of await page.locator(".reason").allInnerTexts())
    expect(said).toMatch(/^(?!.*(POST|0x|base units))[^.]+\.$/);
});

test("a checkout page of another origin reads the wallet route, pays, and submits its transaction", async () => {
  const { purchase } = await kit.sandbox.given.purchase({ state: "active" });
  await kit.sandbox.wallets.buyer.approve(purchase);
  const checkout = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Checkout</title>");
  });
  await new Promise<void>((resolve) => checkout.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void checkout.close());
  const address = checkout.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { urls } = kit.sandbox.description;
  const { rpc, api } = urls;
  const page = await browser.open({ origins: [...Object.values(urls), `http://localhost:${port}`] });
  await page.goto(`http://localhost:${port}/`);
  const wallet = `${api}${new URL(purchase.wallet_url).pathname}`;
  const answered = await page.evaluate(
    async ({ rpc, wallet }) => {
      const headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": "checkout-1",
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "sentry-trace": "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        baggage: "sentry-environment=test",
      };
      const ask = async (url: string, body?: object) =>
        await (
          await fetch(url, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) })
        ).json();
      const { actions } = await ask(wallet);
      const { transaction } = actions.find(({ name }: { name: string }) => name === "pay");
      const { from, to, data } = transaction;
      const call = async (method: string, params: object[]) =>
        (await ask(rpc, { jsonrpc: "2.0", id: 1, method, params })).result;
      const hash = await call("eth_sendTransaction", [{ from, to, data }]);
      while ((await call("eth_getTransactionReceipt", [hash])) === null);
      return await ask(wallet, { action: "pay", transaction_hash: hash });
    },
    { rpc, wallet },
  );
  expect(answered).toMatchObject({ submission: { action: "pay", amount: "25000000" } });
});

describe("with an injected wallet", () => {
  test("a merchant enrolls and funds, and the program continues with what was submitted", async () => {
    const merchant = await kit.createMerchant();
    const wallet = pages.walletOf("merchant");
    const page = await pages.openWith(wallet, merchant.wallet_url);

    await page.getByRole("button", { name: "Sign and enroll" }).click();
    await accepted(page, "enroll");
    await page.getByRole("button", { name: "Approve the funding source" }).click();
    await accepted(page, "fund");

    await page.locator("#action-fund").getByText("Done.").waitFor();
    await page.locator("#action-enroll").getByText("Done.").waitFor();
    expect(wallet.signed).toEqual(["personal_sign", "eth_sendTransaction", "eth_sendTransaction"]);
    const enrolled = present(
      await kit.api.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
        params: kit.write(merchant.id),
        body: {},
      }),
    );
    expect(enrolled.status).toBe("enrolled");
    expect(enrolled.funding.allowance).toBe(merchant.funding.cap);
  });

  test("a buyer approves, pays a part and then the rest, and sees the exact bytes of each", async () => {
    const purchase = await kit.activePurchase();
    const page = await pages.openWith(pages.walletOf("buyer"), purchase.wallet_url);
    const approve = page.locator("#action-approve");
    const pay = page.locator("#action-pay");
    await pay.getByText("Approve first.").waitFor();
    await approve.getByRole("button", { name: "Approve 25.00 USDC" }).waitFor();
    await approve.getByRole("button", { name: "Approve" }).click();
    await accepted(page, "approve");

    const amount = pay.getByLabel("Amount in USDC");
    await expect.poll(async () => await amount.inputValue()).toBe("25");
    for (const [typed, said] of [
      ["ten", "Write an amount of USDC in digits"],
      ["0", "more than zero"],
      ["1.2345678", "6 decimals"],
      ["25.000001", "Only 25.00 USDC are outstanding"],
    ] as const) {
      await amount.fill(typed);
      await amount.blur();
      await pay.getByRole("alert").filter({ hasText: said }).waitFor();
      expect(await pay.getByRole("button").count()).toBe(0);
    }
    await amount.fill("10");
    await amount.blur();
    await pay.getByRole("button", { name: "Pay 10.00 USDC" }).waitFor();
    await pay.getByText(/^Details/).click();
    const { transaction } = await kit.action("purchase", purchase.id, "pay", { amount: "10000000" });
    await pay.getByText(/^Exact bytes/).click();
    expect(await pay.locator(".raw").textContent()).toBe(transaction?.data);
    await pay.getByRole("button", { name: "Pay" }).click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({
      paid: "10000000",
      outstanding: "15000000",
    });

    await expect.poll(async () => await amount.getAttribute("placeholder")).toBe("15");
    expect(await amount.inputValue()).toBe("");
    await amount.fill("15");
    await pay.getByRole("button", { name: "Pay" }).click();
    await page.getByRole("heading", { level: 1, name: "Paid 25.00 USDC to" }).waitFor();
    await expect.poll(async () => await page.getByText(/^Transaction 0x/).count()).toBe(3);
    expect((await pages.figuresOf(purchase)).outstanding).toBe("0");
  });

  test("the first click after an amount was typed pays that amount, even if the service answers while the button is pressed", async () => {
    const { purchase, wallet, page, pay } = await pages.openApproved();
    const amount = pay.getByLabel("Amount in USDC");
    const button = pay.getByRole("button", { name: "Pay" });
    await amount.fill("");
    await amount.pressSequentially("10");
    await button.click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "10000000" });

    await expect.poll(async () => await amount.getAttribute("placeholder")).toBe("15");
    const { asked, release } = await holdAnswer(page, 5_000_000);
    const answered = page.waitForResponse(/amount=5000000$/);
    await amount.fill("5");
    await asked;
    await button.hover();
    await page.mouse.down();
    release();
    await (await answered).finished();
    await page.mouse.up();
    await expect.poll(async () => (await pages.figuresOf(purchase)).paid).toBe("15000000");
    expect(wallet.signed).toEqual(["eth_sendTransaction", "eth_sendTransaction"]);
  });

  test("a click on an amount that the service refuses sends nothing and says why", async () => {
    const { wallet, page, pay } = await pages.openApproved();
    const { release } = await holdAnswer(page, 25_000_001);
    await pay.getByLabel("Amount in USDC").fill("25.000001");
    await pay.getByRole("button", { name: "Pay" }).click();
    release();
    await pay.getByRole("alert").filter({ hasText: "Only 25.00 USDC are outstanding" }).waitFor();
    expect(wallet.signed).toEqual([]);
  });

  test("the later of two typed amounts counts, whichever answer comes first", async () => {
    const { purchase, page, pay } = await pages.openApproved();
    const { release } = await holdAnswer(page, 1_000_000);
    const first = page.waitForResponse(/amount=1000000$/);
    await pay.getByLabel("Amount in USDC").fill("1");
    await pay.getByLabel("Amount in USDC").fill("12");
    await pay.getByRole("button", { name: "Pay 12.00 USDC" }).waitFor();
    release();
    await (await first).finished();
    await pay.getByRole("button", { name: "Pay" }).click();
    await accepted(page, "pay");
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "12000000" });
  });

  test("a buyer signs a permit and pays under it in one transaction, and sees the words and the exact bytes of each", async () => {
    const purchase = await kit.activePurchase();
    const wallet = pages.walletOf("buyer");
    const page = await pages.openWith(wallet, purchase.wallet_url);
    const pay = page.locator("#action-pay_with_permit");
    await unfold(page, "pay_with_permit");
    const amount = pay.getByLabel("Amount in USDC");
    await amount.fill("10");
    await amount.blur();
    await pay.getByRole("button", { name: "Sign and pay 10.00 USDC" }).waitFor();
    await pay.getByText(/^Details/).click();
    const { sign } = await kit.action("purchase", purchase.id, "pay_with_permit", { amount: "10000000" });
    if (sign?.method !== "eth_signTypedData_v4") throw new Error("A permit must be offered.");
    await pay.getByText("the registrar contract", { exact: true }).waitFor();
    await pay.getByText("Exact bytes to sign").click();
    expect(await pay.locator("h4:has-text('Type') + p").textContent()).toBe(
      "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)",
    );
    expect(await pay.locator("h4:has-text('Digest') + p").textContent()).toBe(sign.digest);
    await pay.getByText("contains the signature of the permit").waitFor();
    wallet.declines.add("eth_sendTransaction");
    await pay.getByRole("button", { name: "Sign and pay" }).click();
    await pay.getByText("You declined in the wallet. Nothing was sent").waitFor();

    // The permit is signed; the payment may be sent later.
    await page.reload();
    await page.getByRole("button", { name: "Amber Wallet" }).click();
    await unfold(page, "pay_with_permit");
    await pay.getByText(/^Details/).click();
    await pay.getByText("payWithPermit", { exact: true }).waitFor();
    const { transaction } = await kit.action("purchase", purchase.id, "pay_with_permit");
    await pay.getByText(/^Exact bytes to send/).click();
    expect(await pay.locator(".raw").textContent()).toBe(transaction?.data);
    await pay.getByRole("button", { name: "Pay with the permit" }).click();
    await accepted(page, "pay_with_permit");

    expect(wallet.signed).toEqual(["eth_signTypedData_v4", "eth_sendTransaction", "eth_sendTransaction"]);
    expect(await pages.figuresOf(purchase)).toMatchObject({ paid: "10000000", approved: "0" });
    await unfold(page, "pay");
    await page.locator("#action-pay").getByText("Accepted by the service").waitFor();
    await expect.poll(async () => await amount.getAttribute("placeholder")).toBe("15");
    await amount.fill("15");
    // One click signs the permit and pays under it.
    await pay.getByRole("button", { name: "Sign and pay 15.00 USDC" }).click();
    await expect.poll(async () => (await pages.figuresOf(purchase)).outstanding).toBe("0");
    expect(wallet.signed.slice(-2)).toEqual(["eth_signTypedData_v4", "eth_sendTransaction"]);
  });

  test("a wrong account signs no permit, and after a rejection the action can start again", async () => {
    const purchase = await kit.activePurchase();
    const wallet = pages.walletOf("stranger");
    const page = await pages.openWith(wallet, purchase.wallet_url);
    const pay = page.locator("#action-pay_with_permit");
    await unfold(page, "pay_with_permit");
    await pay.getByText(`This action requires the account ${purchase.buyer}`).waitFor();
    expect(await pay.getByRole("button", { name: "Sign and pay" }).isDisabled()).toBe(true);
    await wallet.select(kit.wallet("buyer"));
    wallet.declines.add("eth_signTypedData_v4");
    await pay.getByRole("button", { name: "Sign and pay", disabled: false }).click();
    await pay.getByText("You declined in the wallet. Nothing was sent").waitFor();
    await pay.getByRole("button", { name: "Sign and pay" }).click();
    await expect.poll(async () => (await pages.figuresOf(purchase)).outstanding).toBe("0");
    expect(wallet.signed).toEqual(["eth_signTypedData_v4", "eth_signTypedData_v4", "eth_sendTransaction"]);
  });

  test("after a refusal in the wallet the page says that nothing was sent, and the action can start again", async () => {
    const merchant = await kit.createMerchant();
    const wallet = pages.walletOf("merchant");
    const page = await pages.openWith(wallet, merchant.wallet_url);
    const enroll = page.locator("#action-enroll");

    for (const method of ["personal_sign", "eth_sendTransaction"]) {
      wallet.declines.add(method);
      await enroll.getByRole("button", { name: "Sign and enroll" }).click();
      await enroll.getByText("You declined in the wallet. Nothing was sent").waitFor();
    }
    await enroll.getByRole("button", { name: "Sign and enroll" }).click();
    await accepted(page, "enroll");

    // A signature from before the declined transaction is not requested again.
    expect(wallet.signed).toEqual([
      "personal_sign",
      "personal_sign",
      "eth_sendTransaction",
      "eth_sendTransaction",
    ]);
  });

  test("a wrong account is refused in words before anything is signed, until the right one is selected", async () => {
    const merchant = await kit.createMerchant();
    const wallet = pages.walletOf("stranger");
    const page = await pages.openWith(wallet, merchant.wallet_url);
    const enroll = page.locator("#action-enroll");

    await enroll.getByText(`This action requires the account ${merchant.wallet}`).waitFor();
    expect(await enroll.getByRole("button", { name: "Sign and enroll" }).isDisabled()).toBe(true);
    await wallet.select(kit.wallet("merchant"));
    await enroll.getByRole("button", { name: "Sign and enroll", disabled: false }).waitFor();
    // The account changes without a word, right before the click.
    wallet.wallets = [kit.wallet("stranger")];
    await enroll.getByRole("button", { name: "Sign and enroll" }).click();
    await enroll.getByRole("alert").filter({ hasText: "This action requires the account" }).waitFor();

    expect(wallet.signed).toEqual([]);
  });

  test("a locked wallet is to be opened and unlocked, and the page waits for it", async () => {
    const merchant = await kit.createMerchant();
    const page = await browser.open();
    const wallet = await injectWallet(page, kit.wallet("merchant"), { locked: true });
    await page.goto(merchant.wallet_url);
    await page.getByRole("button", { name: "Sandbox Wallet" }).click();
    const waits = page.getByText(
      "Sandbox Wallet has not answered yet. Open it, unlock it if it is locked, and confirm.",
    );
    await waits.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await wallet.unlock();
    await page.getByText("Account", { exact: true }).waitFor();
    expect(await waits.count()).toBe(0);
    await wallet.lock();
    const locked = "Sandbox Wallet shows this page no account. Unlock it, and select";
    await page.locator("#action-enroll").getByRole("status").getByText(locked).waitFor();
  });

  test("a wallet on another chain is asked to add this one and to switch", async () => {
    const merchant = await kit.createMerchant();
    const wallet = pages.walletOf("merchant");
    wallet.chains.clear();
    wallet.chainId = "0x1";
    const page = await pages.openWith(wallet, merchant.wallet_url);
    const enroll = page.locator("#action-enroll");
    await enroll.getByText("Amber Wallet is on chain 1, and this sandbox is chain 31337.").waitFor();

    await enroll.getByRole("button", { name: "Switch the wallet's chain" }).click();
    await enroll.getByRole("button", { name: "Sign and enroll", disabled: false }).click();
    await accepted(page, "enroll");

    expect(wallet.chains.get("0x7a69")).toBe(kit.sandbox.description.urls.rpc);
  });

  test("a chain that only has the sandbox's id is refused before anything is signed", async () => {
    const merchant = await kit.createMerchant();
    const wallet = pages.walletOf("merchant");
    wallet.chains.clear();
    const page = await pages.openWith(wallet, merchant.wallet_url);
    await page.locator("#action-enroll").getByText("its first block is not this sandbox's").waitFor();
    expect(wallet.signed).toEqual([]);
  });

  test("a wallet that sends something else gets every failed check, expected and actual", async () => {
    const purchase = await kit.activePurchase();
    const wallet = pages.walletOf("buyer");
    const { transaction } = await kit.action("purchase", purchase.id, "approve", { amount: "1" });
    wallet.substitute = { data: transaction?.data as Hex };
    const page = await pages.openWith(wallet, purchase.wallet_url, /422/);
    const approve = page.locator("#action-approve");
    await approve.getByRole("button", { name: "Approve" }).click();

    await approve.getByText("Details: the checks that failed").click();
    const row = approve.getByRole("row").filter({ hasText: "calldata" });
    await row.waitFor();
    const { transaction: expected } = await kit.action("purchase", purchase.id, "approve");
    const [, shownExpected, shownActual] = await row.getByRole("cell").allTextContents();
    expect(shownExpected).toBe(expected?.data);
    expect(shownActual).toContain(transaction?.data);
    expect(await approve.getByRole("link").getAttribute("href")).toContain("/errors/binding_mismatch");
  });

  test("a refusal says in a sentence what to do, and leads to the page of its error", async () => {
    const purchase = await kit.activePurchase();
    const { buyer } = kit.sandbox.wallets;
    await buyer.approve(purchase);
    const wallet = pages.walletOf("buyer");
    const page = await pages.openWith(wallet, purchase.wallet_url, /422/);
    const pay = page.locator("#action-pay");
    await pay.getByRole("button", { name: "Pay 25.00 USDC" }).waitFor();
    wallet.onSending = async () => {
      await buyer.approve(purchase, 0n);
    };
    await pay.getByRole("button", { name: "Pay" }).click();
    const alert = pay.getByRole("alert").filter({ hasText: "The contract refused the call" });
    await alert.getByText(errorCatalogue.transaction_reverted.remedy).waitFor();
    expect(await alert.textContent()).not.toContain("transaction_reverted");
    const more = alert.getByRole("link", { name: "More about this error" });
    expect(await more.getAttribute("href")).toContain("/errors/transaction_reverted");
  });
});

describe("when the page is closed during an action", () => {
  test("it waits on for the confirmations, with the same Idempotency-Key", async () => {
    await using slow = await TestKit.open({ seed: "confirmations", confirmations: 3 });
    const merchant = await slow.createMerchant();
    const { rpc } = slow.sandbox.description.urls;
    const keys = new Set<string | undefined>();
    const wallet = new InjectedWallet(rpc, slow.wallet("merchant"));
    const page = await browser.open({
      origins: Object.values(slow.sandbox.description.urls),
      prepare: async (opened) => await wallet.install(opened),
      expectedErrors: /409/,
    });
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url() === merchant.wallet_url)
        keys.add(request.headers()["idempotency-key"]);
    });
    await page.goto(merchant.wallet_url);
    await page.getByRole("button", { name: "Amber Wallet" }).click();
    await unfold(page, "fund");
    await page.getByRole("button", { name: "Approve the funding source" }).click();
    await page.getByText("1 of 3 confirmations").waitFor();

    await page.reload();
    await page.getByText("1 of 3 confirmations").waitFor();
    await slow.sandbox.chain.client.mine({ blocks: 2 });
    await accepted(page, "fund");

    expect(keys.size).toBe(1);
    expect(wallet.signed).toEqual(["eth_sendTransaction"]);
    // An open page asks the chain again, which ends now.
    await page.goto("about:blank");
  });

  test("while the wallet sends, it asks for the hash and sends nothing again", async () => {
    const purchase = await kit.activePurchase();
    const wallet = pages.walletOf("buyer");
    let sent = "";
    const { promise, resolve } = Promise.withResolvers<void>();
    wallet.onSent = async (hash) => {
      sent = hash;
      resolve();
      await new Promise(() => {});
    };
    const page = await pages.openWith(wallet, purchase.wallet_url);
    await page.getByRole("button", { name: "Approve" }).click();
    await promise;

    await page.reload();
    const approve = page.locator("#action-approve");
    await approve.getByLabel("Transaction hash").fill(sent);
    await approve.getByRole("button", { name: "Submit this hash" }).click();
    await accepted(page, "approve");

    expect(wallet.signed).toEqual(["eth_sendTransaction"]);
  });
});

describe("with the sandbox's test keys", () => {
  test("the keyboard alone registers, approves and pays, and the keys are marked as what they are", async () => {
    const merchant = await kit.enrolledMerchant();
    const purchase = await kit.createPurchase(merchant);
    const page = await browser.open();
    await page.goto(purchase.wallet_url);
    await page.getByRole("button", { name: "Test keys" }).waitFor();
    const press = async (name: string) => {
      const wanted = page.getByRole("button", { name, exact: true, disabled: false });
      await wanted.waitFor();
      for (let tabs = 0; !(await wanted.evaluate((button) => button === document.activeElement)); tabs += 1) {
        expect(tabs, `Tab reaches ${name}`).toBeLessThan(40);
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("Enter");
    };
    await press("Test keys");
    await page.getByText("keys that are public").waitFor();
    await press("Register");
    await accepted(page, "register");
    await press("Approve 25.00 USDC");
    await accepted(page, "approve");
    const unconfirmed = "The program has not confirmed this purchase yet.";
    await page.locator("#action-pay").getByText(unconfirmed, { exact: true }).waitFor();

    // A payment counts once the program has confirmed the registration.
    const registered = present(
      await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
        params: kit.write(purchase.id),
        body: {},
      }),
    );
    expect(registered.route).toBe("merchant_direct");
    await page.reload();
    await press("Test keys");
    await press("Pay 25.00 USDC");
    await page.getByRole("heading", { level: 1, name: "Paid 25.00 USDC to" }).waitFor();
    expect((await pages.figuresOf(purchase)).outstanding).toBe("0");
  });

  test("the keyboard is at the state of a step while it runs, then at the next step, and last at the heading", async () => {
    const purchase = await kit.activePurchase();
    const page = await pages.openWithTestKeys(purchase.wallet_url);
    const focused = page.locator(":focus");
    await page.getByRole("button", { name: "Approve 25.00 USDC" }).press("Enter");
    const pay = page.getByRole("button", { name: "Pay 25.00 USDC", disabled: false });
    await pay.and(focused).waitFor();
    await setMining(kit.sandbox.chain.client, "never");
    await pay.press("Enter");
    await focused.getByText("is pending").waitFor();
    await kit.sandbox.chain.client.mine({ blocks: 1 });
    await page.getByRole("heading", { level: 1, name: "Paid 25.00 USDC to" }).and(focused).waitFor();
    expect((await pages.figuresOf(purchase)).outstanding).toBe("0");
  });

  test("a beneficiary signs a claim as typed data, whose digest is the claim hash", async () => {
    const purchase = await kit.paidPurchase();
    const page = await browser.open();
    await page.goto(purchase.wallet_url);
    await page.getByRole("button", { name: "Test keys" }).click();
    const claim = page.locator("#action-claim");
    await claim.getByText("Enter a reason").waitFor();
    await claim.getByLabel("Amount in USDC").fill("10");
    expect(await claim.getByLabel("Reason").getAttribute("maxlength")).toBe(String(textLengths.reason));
    await claim.getByLabel("Reason").fill("Arrived broken.");
    await claim.getByLabel("Reason").blur();
    await claim.getByText(/^Details/).click();
    await claim.getByText("Exact bytes to sign").click();
    const terms = { amount: "10000000", reason: "Arrived broken." };
    const { sign } = await kit.action("purchase", purchase.id, "claim", terms);
    if (sign?.method !== "eth_signTypedData_v4") throw new Error("A claim must be offered.");
    const digest = claim.locator("h4:has-text('Digest') + p");
    await expect.poll(async () => await digest.textContent()).toBe(sign.digest);
    await claim.getByRole("button", { name: "Sign and claim" }).click();
    await accepted(page, "claim");

    await claim.getByText("10.00 USDC, “Arrived broken.”").waitFor();
    const filed = present(
      await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/claims", {
        params: kit.write(purchase.id),
        body: {},
      }),
    );
    expect(filed).toMatchObject({
      requested_amount: "10000000",
      reason: "Arrived broken.",
      claim_hash: sign.digest,
    });
  });
});

describe("for every visitor", () => {
  test("a summary says who is paid, for what, how much and until when, and the next action is open, with the reason for the others", async () => {
    const merchant = await kit.enrolledMerchant();
    const purchase = await kit.activePurchase(merchant);
    await kit.sandbox.wallets.buyer.approve(purchase);
    await kit.sandbox.wallets.buyer.pay(purchase, 5_000_000n);
    const page = await browser.open();
    await page.goto(purchase.wallet_url);
    await page.getByRole("heading", { level: 1, name: `Pay 20.00 USDC to ${merchant.name}` }).waitFor();
    const summary = page.getByRole("region", { name: "Summary" });
    await page.getByText("5.00 of 25.00 USDC are paid.").waitFor();
    await summary.getByText("Details").click();
    await summary.getByText(merchant.wallet).waitFor();
    const deadline = new Date(purchase.deadlines.pay_deadline * 1000).toISOString();
    expect(await summary.locator("time").first().getAttribute("datetime")).toBe(deadline);
    const actions = page.locator('[id^="action-"]');
    expect(await actions.evaluateAll((found) => found.map(({ id }) => id))).toEqual([
      "action-approve",
      "action-pay",
      "action-pay_with_permit",
      "action-register",
      "action-claim",
    ]);
    expect(
      await actions.evaluateAll((found) => found.map((one) => one.querySelector("details")?.open)),
    ).toEqual([false, true, false, false, false]);
    await page.locator("details.others > summary").click();
    await page
      .locator("#action-register")
      .getByText("The purchase is on chain already.", { exact: true })
      .waitFor();
    await page.goto(merchant.wallet_url);
    await summary.getByText("Refunds draw at most").waitFor();
    await page.locator("#action-fund").getByText("Let refunds be collected").waitFor();
  });

  test("on a phone the state of a step has a line of its own", async () => {
    const { merchant } = await kit.sandbox.given.merchant({ state: "funded" });
    const page = await browser.open({ viewport: { width: 390, height: 844 } });
    await page.goto(merchant.wallet_url);
    await page.locator("details.others > summary").click();
    for (const action of ["enroll", "fund"]) {
      const line = page.locator(`#action-${action} summary`);
      const [title, reason, whole] = await Promise.all(
        [line.locator("h2"), line.locator(".reason"), line].map(async (part) => await part.boundingBox()),
      );
      expect(reason?.y).toBeGreaterThanOrEqual((title?.y ?? Number.NaN) + (title?.height ?? 0));
      expect(reason?.width).toBe(whole?.width);
    }
  });

  test("axe finds nothing, in light and dark, and a phone's width is enough", async () => {
    const merchant = await kit.createMerchant();
    const purchase = await kit.paidPurchase(await kit.enrolledMerchant());
    const { purchase: refunded } = await kit.sandbox.given.purchase({ state: "refunded" });
    const page = await browser.open({ viewport: { width: 390, height: 844 } });
    for (const url of [merchant.wallet_url, purchase.wallet_url, refunded.wallet_url]) {
      await page.goto(url);
      await page.getByRole("region").first().waitFor();
      const keys = page.getByRole("button", { name: "Test keys" });
      if ((await keys.count()) > 0) await keys.click();
      await page
        .locator("details")
        .evaluateAll((all) => all.map((details) => details.setAttribute("open", "")));
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await contrastFaults(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      await page.emulateMedia({ colorScheme: "light" });
    }
  });

  test("a missing purchase and a service that does not answer are reported in a sentence", async () => {
    const page = await browser.open({ expectedErrors: /404|ERR_FAILED/ });
    const url = `${kit.base}/wallet/${kit.program}/purchase/pur_aaaaaaaaaaaaaaaaaaaa`;
    const said = page.getByRole("alert");
    await page.goto(url);
    await expect.poll(async () => await said.textContent()).toContain("pur_aaaaaaaaaaaaaaaaaaaa");
    await page.route("**/capabilities", async (route) => await route.abort());
    await page.reload();
    await expect.poll(async () => await said.textContent()).toContain("Is the sandbox running?");
    await page.unroute("**/capabilities");
    await page.getByRole("button", { name: "Try again" }).click();
    await expect.poll(async () => await said.textContent()).toContain("pur_aaaaaaaaaaaaaaaaaaaa");
  });
});
