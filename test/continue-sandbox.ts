import { unwrap } from "../sandbox/client/problem-error.ts";
import type { Sandbox } from "../sandbox/create-sandbox.ts";

/** Continues with a sandbox in a way that shows what it was left with: faults, failures of deliveries, keys, time, ids. */
export async function continueSandbox({ clock, given, client }: Sandbox): Promise<void> {
  await clock.travel({ days: 1 });
  const { purchase } = await given.purchase({ state: "reconciled", amount: "30000000" });
  const { program, event_id } = purchase;
  unwrap(
    await client.POST("/v1/routing/programs/{program}/notifications", {
      params: { path: { program }, header: { "Idempotency-Key": `notify-${event_id}` } },
      body: { event_id },
    }),
  );
}
