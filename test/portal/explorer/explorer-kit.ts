import type { Page } from "playwright-core";
import { usdc } from "../../../protocol/values/amount.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { type DemoPurchase, demoSteps } from "../../../testkit/demo/show-purchase.ts";
import type { PageOptions, TestBrowser } from "../browser.ts";

/** A sandbox and a browser that looks at its explorer. */
export class ExplorerKit {
  readonly sandbox: Sandbox;
  readonly browser: TestBrowser;

  constructor(sandbox: Sandbox, browser: TestBrowser) {
    this.sandbox = sandbox;
    this.browser = browser;
  }

  /** Opens the explorer at a view and waits until it hears of changes. */
  async open(view = "", options?: PageOptions): Promise<Page> {
    const page = await this.browser.open(options);
    await page.goto(`${this.sandbox.description.urls.control}/${view}`);
    await page.getByText("live", { exact: true }).waitFor();
    await page.locator('main[aria-busy="false"]').waitFor();
    return page;
  }

  async begin(): Promise<Session> {
    return await Session.open(actorsOf(this.sandbox.description), silentPrinter);
  }
}

/** A purchase that was offered. */
export async function offered(session: Session): Promise<DemoPurchase> {
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "purchase",
    "25000000",
  );
  return await demoSteps.activate(session, purchase, "activate");
}

/** A purchase that came all the way to its refund, whose event was delivered. */
export async function refunded(session: Session): Promise<DemoPurchase> {
  const purchase = await offered(session);
  await demoSteps.approve(session, session.actors.buyer, purchase, 25n * usdc);
  await demoSteps.pay(session, purchase, 25n * usdc);
  await demoSteps.reconcile(session, purchase, "reconcile");
  const filed = await demoSteps.claim(session, purchase, 20n * usdc);
  const decision = await demoSteps.decide(session, purchase, filed, 12n * usdc);
  const { event_id } = await demoSteps.refund(session, purchase, decision);
  await demoSteps.notify(session, event_id);
  return purchase;
}
