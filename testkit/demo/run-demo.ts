import { usdc } from "../../protocol/values/amount.ts";
import type { SandboxDescription } from "../../sandbox/state/description.ts";
import { actorsOf } from "./actors.ts";
import type { Printer } from "./printer.ts";
import { Session } from "./session.ts";
import { enrollMerchant } from "./show-merchant.ts";
import * as steps from "./show-purchase.ts";
import { payFromStranger } from "./wrong-wallet.ts";

/**
 * Runs the whole demo on a running sandbox, over HTTP and with wallets that sign for themselves: a purchase from
 * enrollment to refund, a second one by the direct route, and a third whose payment comes from the wrong wallet.
 *
 * @example await runDemo(sandbox.description, terminalPrinter(console.log))
 */
export async function runDemo(description: SandboxDescription, printer: Printer): Promise<void> {
  const actors = actorsOf(description);
  printer.section("A purchase, from enrollment to refund");
  const session = await Session.open(actors, printer);
  const merchant = await enrollMerchant(session);
  const purchase = await steps.createPurchase(session, merchant, "purchase-1", "25000000");
  await steps.activate(session, purchase, "activate-1");
  await steps.approve(session, actors.buyer, purchase, 25n * usdc);
  await steps.pay(session, purchase, 10n * usdc);
  await steps.pay(session, purchase, 15n * usdc);
  await steps.reconcile(session, purchase, "reconcile-1");
  const filed = await steps.claim(session, purchase, 20n * usdc);
  const decision = await steps.decide(session, purchase, filed, 12n * usdc);
  const refunded = await steps.refund(session, purchase, decision);
  await steps.readPurchase(session, purchase);
  await steps.notify(session, refunded.event_id);
  await steps.receipts(session);
  await steps.transactions(session);

  printer.section("A second purchase, by the direct merchant route");
  const direct = await steps.createPurchase(session, merchant, "purchase-2", "40000000");
  await steps.register(session, direct, "registration-2");
  await steps.approve(session, actors.buyer, direct, 40n * usdc);
  await steps.pay(session, direct, 40n * usdc);
  await steps.reconcile(session, direct, "reconcile-2");

  printer.section("A third purchase, paid from the wrong wallet");
  const third = await steps.createPurchase(session, merchant, "purchase-3", "30000000");
  await steps.activate(session, third, "activate-3");
  await steps.approve(session, actors.stranger, third, 30n * usdc);
  const { contracts } = actors;
  const wrong = await payFromStranger(session, third, 30n * usdc);
  session.reportRefusal(
    "Reconcile: a stranger's payment is refused, with every check",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: session.write("reconcile-3", third.id),
      body: { transaction_hashes: [wrong] },
    }),
  );
  printer.section(`Done. Token ${contracts.token}, registrar contract ${contracts.registrar}.`);
}
