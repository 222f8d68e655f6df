import type { Sandbox } from "../sandbox/create-sandbox.ts";
import { castActors } from "../testkit/demo/actors.ts";
import { enrollMerchant } from "../testkit/demo/merchant-steps.ts";
import { silentNarrator } from "../testkit/demo/narrator.ts";
import * as steps from "../testkit/demo/purchase-steps.ts";
import { Session } from "../testkit/demo/session.ts";

/** Continues with a sandbox in a way that shows what it was left with: faults, failures of deliveries, keys, time, ids. */
export async function continueSandbox(sandbox: Sandbox): Promise<void> {
  await sandbox.clock.travel({ days: 1 });
  const session = await Session.open(await castActors(sandbox.description), silentNarrator);
  const purchase = await steps.createPurchase(session, await enrollMerchant(session), "next", "30000000");
  await steps.activate(session, purchase, "activate");
  await steps.approve(session, session.actors.buyer, purchase, 30_000_000n);
  await steps.pay(session, purchase, 30_000_000n);
  const { event_id } = await steps.reconcile(session, purchase, "reconcile");
  if (event_id !== null) await steps.notify(session, event_id);
}
