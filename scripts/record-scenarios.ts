/** Records the scenarios that ship, in `examples/scenarios/`: `node scripts/record-scenarios.ts`. */
import { usdc } from "../protocol/values/amount.ts";
import { createApiClient, unwrap } from "../sandbox/client/api-client.ts";
import { createSandbox, type Sandbox } from "../sandbox/create-sandbox.ts";
import { writeScenario } from "../sandbox/scenarios/scenario-file.ts";
import { askControl, type ControlMethod } from "../sandbox/service/ask-control.ts";
import { actorsOf } from "../testkit/demo/actors.ts";
import { silentPrinter } from "../testkit/demo/printer.ts";
import { Session } from "../testkit/demo/session.ts";
import { enrollMerchant } from "../testkit/demo/show-merchant.ts";
import { type DemoPurchase, demoSteps } from "../testkit/demo/show-purchase.ts";

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
      const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "25000000");
      await demoSteps.activate(session, purchase, "activate");
      await demoSteps.approve(session, session.actors.buyer, purchase, 25n * usdc);
      await demoSteps.pay(session, purchase, 10n * usdc);
      await demoSteps.pay(session, purchase, 15n * usdc);
      await demoSteps.reconcile(session, purchase, "reconcile");
      const claim = await demoSteps.claim(session, purchase, 20n * usdc);
      const decision = await demoSteps.decide(session, purchase, claim, 12n * usdc);
      const refunded = await demoSteps.refund(session, purchase, decision);
      await demoSteps.readPurchase(session, purchase);
      await demoSteps.notify(session, refunded.event_id);
      await demoSteps.receipts(session);
    },
  },
  {
    file: "lost-response.yaml",
    title:
      "The operator's offer is sent, the node's answer is lost, and the same request continues with the same transaction",
    async run(sandbox) {
      const session = await open(sandbox);
      const merchant = await enrollMerchant(session);
      const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "25000000");
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
      await demoSteps.transactions(session);
      await control(sandbox, "DELETE", "/faults");
      await demoSteps.activate(session, purchase, "activate");
      await demoSteps.transactions(session);
      await demoSteps.readPurchase(session, purchase);
    },
  },
  {
    file: "direct.yaml",
    title:
      "The direct route: registered by the merchant, paid in part, the claim denied; and an unpaid offer expires",
    async run(sandbox) {
      const session = await open(sandbox);
      const merchant = await enrollMerchant(session);
      const unpaid = await demoSteps.createPurchase(session, merchant, "unpaid", "30000000");
      await demoSteps.activate(session, unpaid, "activate");
      const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "40000000");
      await demoSteps.register(session, purchase, "registration");
      await demoSteps.approve(session, session.actors.buyer, purchase, 40n * usdc);
      await demoSteps.pay(session, purchase, 10n * usdc);
      await demoSteps.pay(session, purchase, 5n * usdc);
      await demoSteps.reconcile(session, purchase, "reconcile");
      const claim = await demoSteps.claim(session, purchase, 15n * usdc);
      await deny(sandbox, session, purchase, claim);
      await demoSteps.readPurchase(session, purchase);
      await control(sandbox, "POST", "/clock", {
        to: unpaid.deadlines.pay_deadline + 1,
      });
      const later = await open(sandbox);
      await session.actors.buyer.pay(unpaid, 30n * usdc);
      await session.actors.stranger.expire(unpaid);
      await demoSteps.readPurchase(later, unpaid);
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
  purchase: DemoPurchase,
  claim: Awaited<ReturnType<typeof demoSteps.claim>>,
): Promise<void> {
  const { now: decidedAt } = unwrap(
    await createApiClient(session.actors.apiUrl).GET("/v1/routing/capabilities"),
  );
  const body = await reviewer.sign(purchase, claim, { award: "0", decidedAt });
  const params = session.write("decision", purchase.id);
  unwrap(await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/decisions", { params, body }));
}

for (const { file, title, run } of recordings) {
  await using sandbox = await createSandbox({ seed: "scenarios" });
  await sandbox.record(title);
  await run(sandbox);
  const scenario = await sandbox.stopRecording();
  await writeScenario(`examples/scenarios/${file}`, scenario);
  console.log(`${file}: ${scenario.steps.length} steps`);
}
