import { deriveId } from "../../protocol/id.ts";
import { signWebhook } from "../../protocol/webhook.ts";
import { limits } from "../limits.ts";
import type { Services } from "../services.ts";
import type { AttemptRecord, EventRecord, NotificationRecord } from "../store/records.ts";
import type { Change } from "../store/store.ts";

/**
 * Delivers an event to the pinned receiver: up to five attempts, each recorded before it is made, never a sixth.
 *
 * @returns the notification, delivered or exhausted.
 */
export async function deliverEvent(event: EventRecord, services: Services): Promise<NotificationRecord> {
  let notification = await openNotification(event, services);
  while (notification.status === "pending") {
    const number = notification.attempts.length + 1;
    if (number > limits.delivery_attempts)
      notification = await record({ ...notification, status: "exhausted" }, event, services);
    else notification = await attempt(notification, number, event, services);
  }
  return notification;
}

async function openNotification(event: EventRecord, services: Services): Promise<NotificationRecord> {
  const found = (await services.store.get("notifications", event.id))?.value;
  if (found !== undefined) return found;
  const id = deriveId("ntf", [services.settings.seed, event.program, event.sequence]);
  return { id, event_id: event.id, program: event.program, status: "pending", attempts: [] };
}

async function attempt(
  before: NotificationRecord,
  number: number,
  event: EventRecord,
  services: Services,
): Promise<NotificationRecord> {
  const { clock, deliver, keys, settings } = services;
  const at = await clock.now();
  const started: AttemptRecord = { number, at, outcome: null };
  const pending = await record({ ...before, attempts: [...before.attempts, started] }, event, services);
  const message = { id: event.id, timestamp: at, body: event.body };
  const headers = { "content-type": "application/json", ...signWebhook(message, keys.notifications) };
  const { status_code, error } = await deliver(settings.receiverUrl, headers, event.body);
  const duration_ms = ((await clock.now()) - at) * 1000;
  const delivered = status_code !== null && status_code >= 200 && status_code < 300;
  const status = delivered ? "delivered" : number >= limits.delivery_attempts ? "exhausted" : "pending";
  const attempts = [...before.attempts, { ...started, outcome: { status_code, error, duration_ms } }];
  return await record({ ...pending, status, attempts }, event, services);
}

async function record(
  notification: NotificationRecord,
  event: EventRecord,
  services: Services,
): Promise<NotificationRecord> {
  const { store } = services;
  const current = await store.get("events", event.id);
  const changes: Change[] = [
    { kind: "put", collection: "notifications", key: event.id, value: notification },
  ];
  if (notification.status !== "pending" && current !== undefined)
    changes.push({
      ...current,
      kind: "update",
      collection: "events",
      value: { ...current.value, delivery: notification.status },
    });
  await store.commit([], () => changes);
  return notification;
}
