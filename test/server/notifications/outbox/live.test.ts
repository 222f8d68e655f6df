import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { TestKit } from "../../../kit/test-kit.ts";

test("a live sandbox waits for its pauses, and its deliveries suit the stock package as it is", async () => {
  await using kit = await TestKit.open({ mode: "live" });
  const event = await kit.events.write();
  await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 500 });
  const began = performance.now();
  const { notification } = await kit.events.deliver(event);
  expect(performance.now() - began).toBeGreaterThanOrEqual(500);
  expect(notification).toMatchObject({ status: "delivered", attempts: { length: 2 } });
  const { headers, body } = await kit.sandbox.receiver.next(({ status }) => status === 200);
  const webhook = new Webhook(kit.sandbox.description.receiver.hmac_secret);
  expect(webhook.verify(body, headers)).toEqual(JSON.parse(event.body));
});

test("a live sandbox that is closed does not wait for a pause to end", async () => {
  const kit = await TestKit.open({ mode: "live" });
  const event = await kit.events.write();
  await kit.sandbox.faults.set({
    layer: "delivery",
    action: "answer",
    status: 503,
    headers: { "retry-after": "10" },
  });
  const delivering = kit.post(kit.path("/notifications"), { event_id: event.id });
  await kit.sandbox.receiver.next();
  const { store } = kit.sandbox;
  await Promise.allSettled([delivering, kit.sandbox.close()]);
  const kept = await store.get("notifications", event.id);
  expect(kept?.value).toMatchObject({ status: "pending", attempts: [{ number: 1 }] });
});
