import { expect } from "vitest";
import { unwrap } from "../../sandbox/client/api-client.ts";
import { sandboxTest } from "../../testkit/vitest.ts";

sandboxTest()("an approved claim is refunded", async ({ sandbox: { given, reviewer, client } }) => {
  const { purchase, claim } = await given.purchase({ state: "claimed", claimed: "10000000" });
  const decision = await reviewer.decide(purchase, claim, { award: "10000000" });
  const path = { program: purchase.program, id: purchase.id };
  const { refund } = unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
      params: { path, header: { "Idempotency-Key": "refund-1" } },
      body: { decision_id: decision.id },
    }),
  );
  expect(refund.status).toBe("collected");
});
