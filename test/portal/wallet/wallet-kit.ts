import type { Page } from "playwright-core";
import type { Schema } from "../../kit/answer.ts";
import type { TestKit } from "../../kit/test-kit.ts";
import type { TestBrowser } from "../browser.ts";
import { InjectedWallet } from "./injected-wallet.ts";

/** A sandbox and a browser that looks at its wallet pages. */
export class WalletKit {
  readonly kit: TestKit;
  readonly browser: TestBrowser;

  constructor(kit: TestKit, browser: TestBrowser) {
    this.kit = kit;
    this.browser = browser;
  }

  walletOf(...names: string[]): InjectedWallet {
    const { rpc } = this.kit.sandbox.description.urls;
    return new InjectedWallet(rpc, ...names.map((name) => this.kit.wallet(name)));
  }

  /** The page at a wallet URL, with a wallet that holds these accounts, connected. */
  async openWith(wallet: InjectedWallet, url: string, expectedErrors?: RegExp): Promise<Page> {
    const page = await this.browser.open({
      prepare: async (opened) => await wallet.install(opened),
      ...(expectedErrors === undefined ? {} : { expectedErrors }),
    });
    await page.goto(url);
    await page.getByRole("button", { name: "Amber Wallet" }).click();
    await page.getByText("Account", { exact: true }).waitFor();
    return page;
  }

  /** The page at a wallet URL with the test keys. The browser logs a refusal, which comes while a transaction is not mined, as an error. */
  async openWithTestKeys(url: string): Promise<Page> {
    const page = await this.browser.open({ expectedErrors: /409/ });
    await page.goto(url);
    await page.getByRole("button", { name: "Test keys" }).click();
    await page.getByText("keys that are public").waitFor();
    return page;
  }

  async figuresOf({ id }: { id: string }): Promise<Schema<"Purchase">["figures"]> {
    return JSON.parse((await this.kit.get(this.kit.path(`/purchases/${id}`))).text).figures;
  }

  /** The buyer's page of an active purchase of which an amount is approved, the whole by default. */
  async openApproved(approved?: bigint) {
    const purchase = await this.kit.activePurchase();
    await this.kit.sandbox.wallets.buyer.approve(purchase, approved);
    const wallet = this.walletOf("buyer");
    const page = await this.openWith(wallet, purchase.wallet_url);
    return { purchase, wallet, page, pay: page.locator("#action-pay") };
  }
}

/** Opens an action that is folded, because another one comes first, and the group that it is in. */
export async function unfold(page: Page, action: string): Promise<void> {
  const inside = page.locator(`#action-${action} > details`);
  await inside.waitFor({ state: "attached" });
  for (const details of [page.locator("details.others").filter({ has: inside }), inside])
    if ((await details.count()) > 0 && (await details.getAttribute("open")) === null)
      await details.locator("> summary").click();
}

/** Waits until the service has accepted an action. */
export async function accepted(page: Page, action: string): Promise<void> {
  await page.locator(`#action-${action}`).getByText("Accepted by the service").waitFor();
}

/** Holds the service's answer to an amount until it is released. */
export async function holdAnswer(
  page: Page,
  amount: number,
): Promise<{ asked: Promise<void>; release(): void }> {
  return await hold(page, new RegExp(`amount=${amount}$`));
}

/** Holds the requests to a URL that use a method until they are released. */
export async function hold(
  page: Page,
  url: string | RegExp,
  method = "GET",
): Promise<{ asked: Promise<void>; release(): void }> {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    if (route.request().method() === method) {
      ask();
      await released;
    }
    await route.continue();
  });
  return { asked, release };
}
