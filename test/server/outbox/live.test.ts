import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { Stage } from "./stage.ts";

test("a live sandbox waits for its pauses, and its deliveries suit the stock package as it is", async () => {
  await using stage = await Stage.open({ mode: "live" });
  const event = await stage.writeEvent();
  stage.sandbox.receiver.failNext(1, { status: 500 });
  const began = performance.now();
  const { notification } = await stage.deliver(event);
  expect(performance.now() - began).toBeGreaterThanOrEqual(500);
  expect(notification).toMatchObject({ status: "delivered", attempts: { length: 2 } });
  const { headers, body } = await stage.sandbox.receiver.next(({ status }) => status === 200);
  const webhook = new Webhook(stage.sandbox.description.receiver.hmac_secret);
  expect(webhook.verify(body, headers)).toEqual(JSON.parse(event.body));
});

test("a live sandbox that is closed does not wait for a pause to end", async () => {
  const stage = await Stage.open({ mode: "live" });
  const event = await stage.writeEvent();
  stage.sandbox.receiver.failNext(1, { status: 503, headers: { "retry-after": "10" } });
  const delivering = stage.post("/notifications", { event_id: event.id });
  await stage.sandbox.receiver.next();
  await Promise.allSettled([delivering, stage.sandbox.close()]);
  const kept = await stage.sandbox.store.get("notifications", event.id);
  expect(kept?.value).toMatchObject({ status: "pending", attempts: [{ number: 1 }] });
});
