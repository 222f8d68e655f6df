import type { Actors } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";

/** The price of the purchase and its award, in base units. */
export const price = 25_000_000n;
export const award = 12_000_000n;

/** Runs the demo's lifecycle over HTTP: eleven requests of the API, the receiver's one, and five transactions of wallets. */
export async function runLifecycle(actors: Actors): Promise<void> {
  const session = await Session.open(actors, silentPrinter);
  const merchant = await enrollMerchant(session);
  const purchase = await demoSteps.createPurchase(session, merchant, "purchase", price.toString());
  await demoSteps.activate(session, purchase, "activate");
  await demoSteps.approve(session, actors.buyer, purchase, price);
  await demoSteps.pay(session, purchase, price);
  await demoSteps.reconcile(session, purchase, "reconcile");
  const claim = await demoSteps.claim(session, purchase, award);
  const decision = await demoSteps.decide(session, purchase, claim, award);
  const { event_id } = await demoSteps.refund(session, purchase, decision);
  await demoSteps.notify(session, event_id);
}
