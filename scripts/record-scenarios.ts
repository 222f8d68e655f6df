/** Records the scenarios that ship, in `scenarios/`: `node scripts/record-scenarios.ts`. */

import { mkdir } from "node:fs/promises";
import { usdc } from "../protocol/values/amount.ts";
import { createSandbox, type Sandbox } from "../sandbox/create-sandbox.ts";
import { writeScenario } from "../sandbox/hosts/recorder/scenario-file.ts";
import { createApiClient, unwrap } from "../sandbox/service/client/api-client.ts";
import { askControl, type ControlMethod } from "../sandbox/state/ask-control.ts";
import { actorsOf } from "../testkit/demo/actors.ts";
import { silentPrinter } from "../testkit/demo/printer.ts";
import { Session } from "../testkit/demo/session.ts";
import { enrollMerchant } from "../testkit/demo/show-merchant.ts";
import * as steps from "../testkit/demo/show-purchase.ts";

interface Recording {
  file: string;
  title: string;
  run: (sandbox: Sandbox) => Promise<void>;
}

const recordings: readonly Recording[] = [
  {
    file: "refund.yaml",
    title: "A purchase by the operator's offer: paid in two parts, claimed, refunded, notified",
    async run(sandbox) {
      const session = await open(sandbox);
      const merchant = await enrollMerchant(session);
      const purchase = await steps.createPurchase(session, merchant, "purchase", "25000000");
      await steps.activate(session, purchase, "activate");
      await steps.approve(session, session.actors.buyer, purchase, 25n * usdc);
      await steps.pay(session, purchase, 10n * usdc);
      await steps.pay(session, purchase, 15n * usdc);
      await steps.reconcile(session, purchase, "reconcile");
      const claim = await steps.claim(session, purchase, 20n * usdc);
      const decision = await steps.decide(session, purchase, claim, 12n * usdc);
      const refunded = await steps.refund(session, purchase, decision);
      await steps.readPurchase(session, purchase);
      await steps.notify(session, refunded.event_id);
      await steps.receipts(session);
    },
  },
  {
    file: "lost-response.yaml",
    title:
      "The operator's offer is sent, the node's answer is lost, and the same request continues with the same transaction",
    async run(sandbox) {
      const session = await open(sandbox);
      const merchant = await enrollMerchant(session);
      const purchase = await steps.createPurchase(session, merchant, "purchase", "25000000");
      await control(sandbox, "POST", "/faults", {
        layer: "relayer",
        point: "broadcast",
        action: "pause_mining",
      });
      await control(sandbox, "POST", "/faults", {
        layer: "relayer",
        point: "broadcast",
        action: "lose_response",
      });
      await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
        params: session.write("activate", purchase.id),
        body: { commitment_hash: purchase.commitment.hash },
      });
      await steps.transactions(session);
      await control(sandbox, "DELETE", "/faults");
      await steps.activate(session, purchase, "activate");
      await steps.transactions(session);
      await steps.readPurchase(session, purchase);
    },
  },
  {
    file: "direct.yaml",
    title:
      "The direct route: registered by the merchant, paid in part, the claim denied; and an unpaid offer expires",
    async run(sandbox) {
      const session = await open(sandbox);
      const merchant = await enrollMerchant(session);
      const unpaid = await steps.createPurchase(session, merchant, "unpaid", "30000000");
      await steps.activate(session, unpaid, "activate");
      const purchase = await steps.createPurchase(session, merchant, "purchase", "40000000");
      await steps.register(session, purchase, "registration");
      await steps.approve(session, session.actors.buyer, purchase, 40n * usdc);
      await steps.pay(session, purchase, 10n * usdc);
      await steps.pay(session, purchase, 5n * usdc);
      await steps.reconcile(session, purchase, "reconcile");
      const claim = await steps.claim(session, purchase, 15n * usdc);
      await deny(sandbox, session, purchase, claim);
      await steps.readPurchase(session, purchase);
      await control(sandbox, "POST", "/clock", {
        to: unpaid.deadlines.pay_deadline + 1,
      });
      const later = await open(sandbox);
      await session.actors.buyer.pay(unpaid, 30n * usdc);
      await session.actors.stranger.expire(unpaid);
      await steps.readPurchase(later, unpaid);
    },
  },
];

async function open(sandbox: Sandbox): Promise<Session> {
  return await Session.open(actorsOf(sandbox.description), silentPrinter);
}

async function control(sandbox: Sandbox, method: ControlMethod, path: string, body?: object): Promise<void> {
  const response = await askControl(sandbox.description.urls.control, method, path, body);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
}

async function deny(
  { reviewer }: Sandbox,
  session: Session,
  purchase: steps.DemoPurchase,
  claim: Awaited<ReturnType<typeof steps.claim>>,
): Promise<void> {
  const { now: decidedAt } = unwrap(
    await createApiClient(session.actors.apiUrl).GET("/v1/routing/capabilities"),
  );
  const body = await reviewer.sign(purchase, claim, { award: "0", decidedAt });
  const params = session.write("decision", purchase.id);
  unwrap(await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/decisions", { params, body }));
}

await mkdir("scenarios", { recursive: true });
for (const { file, title, run } of recordings) {
  await using sandbox = await createSandbox({ seed: "scenarios" });
  await sandbox.record(title);
  await run(sandbox);
  const scenario = await sandbox.stopRecording();
  await writeScenario(`scenarios/${file}`, scenario);
  console.log(`${file}: ${scenario.steps.length} steps`);
}
