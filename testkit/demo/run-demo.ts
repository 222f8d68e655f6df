import type { Hex } from "viem";
import { usdc } from "../../protocol/values/amount.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { clientAccount } from "../../sandbox/service/keys.ts";
import { type ActingChain, actorsOf } from "./actors.ts";
import type { Printer } from "./printer.ts";
import { Session } from "./session.ts";
import { enrollMerchant } from "./show-merchant.ts";
import { type DemoPurchase, demoSteps } from "./show-purchase.ts";

/**
 * Runs the whole demo on a running sandbox, over HTTP and with wallets that sign for themselves: a purchase from
 * enrollment to refund, a second one by the direct route, and a third whose payment comes from the wrong wallet.
 *
 * @param on - the chain that the wallets use, by default the one at the URL that the sandbox publishes.
 */
export async function runDemo(
  description: SandboxDescription,
  printer: Printer,
  on?: ActingChain,
): Promise<void> {
  const { seed, accounts } = description;
  const actors = { ...actorsOf(description, on), accountKey: clientAccount("demo", seed, accounts).key };
  printer.section("A purchase, from enrollment to refund");
  const session = await Session.open(actors, printer);
  const merchant = await enrollMerchant(session);
  const purchase = await demoSteps.createPurchase(session, merchant, "purchase-1", "25000000");
  await demoSteps.activate(session, purchase, "activate-1");
  await demoSteps.approve(session, actors.buyer, purchase, 25n * usdc);
  await demoSteps.pay(session, purchase, 10n * usdc);
  await demoSteps.pay(session, purchase, 15n * usdc);
  await demoSteps.reconcile(session, purchase, "reconcile-1");
  const filed = await demoSteps.claim(session, purchase, 20n * usdc);
  const decision = await demoSteps.decide(session, purchase, filed, 12n * usdc);
  const refunded = await demoSteps.refund(session, purchase, decision);
  await demoSteps.readPurchase(session, purchase);
  await demoSteps.notify(session, refunded.event_id);
  await demoSteps.receipts(session);
  await demoSteps.transactions(session);

  printer.section("A second purchase, which the merchant's wallet registers itself");
  const direct = await demoSteps.createPurchase(session, merchant, "purchase-2", "40000000");
  await demoSteps.register(session, direct, "registration-2");
  await demoSteps.approve(session, actors.buyer, direct, 40n * usdc);
  await demoSteps.pay(session, direct, 40n * usdc);
  await demoSteps.reconcile(session, direct, "reconcile-2");

  printer.section("A third purchase, paid from the wrong wallet");
  const third = await demoSteps.createPurchase(session, merchant, "purchase-3", "30000000");
  await demoSteps.activate(session, third, "activate-3");
  await demoSteps.approve(session, actors.stranger, third, 30n * usdc);
  const { contracts } = actors;
  const wrong = await payFromStranger(session, third, 30n * usdc);
  session.reportRefusal(
    "Reconcile the purchase: the stranger's payment is refused, with the result of every check",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: session.write("reconcile-3", third.id),
      body: { transaction_hashes: [wrong] },
    }),
  );
  printer.section(`Done. Token ${contracts.token}, registrar contract ${contracts.registrar}.`);
}

/** A stranger sends the buyer's payment; the contract reverts it, and its hash exists anyway. */
export async function payFromStranger(
  session: Session,
  purchase: DemoPurchase,
  amount: bigint,
): Promise<Hex> {
  const { stranger } = session.actors;
  const { call, receipt, transaction_hash } = await stranger.pay(purchase, amount);
  session.printer.step(
    "A stranger's wallet pays the purchase of the buyer",
    `${stranger.address} → ${call.to} ${call.function}(${amount})`,
    `${receipt.status} in block ${receipt.blockNumber}: ${transaction_hash}`,
  );
  return transaction_hash;
}
