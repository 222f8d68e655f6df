import { signDeliveryReceipt } from "../../../protocol/signatures/delivery-receipt.ts";
import { signWebhook } from "../../../protocol/signatures/webhook.ts";
import { deriveId } from "../../../protocol/values/id.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { Problem } from "../../errors/problem.ts";
import type { GateTurn } from "../../http/gate.ts";
import type { DeliveryOutcome, Services } from "../../http/services.ts";
import type {
  AttemptRecord,
  DeliveryReceiptRecord,
  EventRecord,
  NotificationRecord,
} from "../../store/records.ts";
import type { Change, Store } from "../../store/store.ts";
import { mayAttempt, pauseAfter, readAskedPause } from "./delivery-attempts.ts";

/**
 * Delivers an event to the pinned receiver: up to `maxDeliveryAttempts` attempts, each recorded before it is made. A delivery
 * that a crash interrupted continues with the next attempt.
 *
 * @param releaseGate - waits for the receiver and for the next attempt.
 * @returns the notification, delivered or exhausted.
 * @throws UndoneError, Problem service_closing
 */
export async function deliverEvent(
  event: EventRecord,
  services: Services,
  releaseGate: GateTurn["releaseGate"],
): Promise<NotificationRecord> {
  let notification = await openNotification(event, services);
  while (notification.status === "pending") {
    assertOpen(services);
    notification = mayAttempt(notification.attempts)
      ? await attemptNext(notification, event, services, releaseGate)
      : await closeNotification(notification, event, services);
  }
  return notification;
}

/** @throws Problem service_closing: the attempts that are left are made after the next start. */
function assertOpen({ closing }: Services): void {
  if (!closing.aborted) return;
  throw new Problem(
    "service_closing",
    "The service is closing, and the attempts that are left remain. Send the identical request again once it has started again.",
    { headers: { "Retry-After": "1" } },
  );
}

async function openNotification(event: EventRecord, services: Services): Promise<NotificationRecord> {
  const found = (await services.store.get("notifications", event.id))?.value;
  if (found !== undefined) return found;
  const id = deriveId("ntf", [services.settings.seed, event.program, event.sequence]);
  return { id, event_id: event.id, program: event.program, status: "pending", attempts: [] };
}

/** Waits until the next attempt is due, records it, makes it and records what came of it. */
async function attemptNext(
  notification: NotificationRecord,
  event: EventRecord,
  services: Services,
  releaseGate: GateTurn["releaseGate"],
): Promise<NotificationRecord> {
  const { clock, settings, pause } = services;
  const { attempts } = notification;
  const last = attempts.at(-1);
  if (last !== undefined) {
    const retryAfterSeconds = last.outcome?.retry_after_seconds ?? null;
    const wait = pauseAfter(last.number, { seed: settings.seed, eventId: event.id, retryAfterSeconds });
    await pause(wait, releaseGate);
    assertOpen(services);
  }
  const at = await clock.now();
  const started: AttemptRecord = { number: attempts.length + 1, at, outcome: null };
  await record({ ...notification, attempts: [...attempts, started] }, event, null, services);

  const outcome = await send(event, at, services, releaseGate);
  const now = await clock.now();
  const accepted = isSuccess(outcome.status_code);
  const known = await services.store.get("receipts", event.id);
  const receipt = accepted && known === undefined ? await issueDeliveryReceipt(event, now, services) : null;
  const made: NotificationRecord = {
    ...notification,
    status: accepted ? "delivered" : outcome.status_code === gone ? "exhausted" : "pending",
    attempts: [...attempts, { ...started, outcome: summarize(outcome, now) }],
  };
  await record(made, event, receipt, services);
  return made;
}

/** The receiver will not be back: no further attempt is made (Standard Webhooks). */
const gone = 410;

async function send(
  event: EventRecord,
  timestamp: number,
  services: Services,
  releaseGate: GateTurn["releaseGate"],
): Promise<DeliveryOutcome> {
  const headers = await signEvent(event, timestamp, services);
  return await services.deliver(headers, event.body, releaseGate);
}

/** Returns the headers of a delivery of an event, signed by the current keys and those before. */
export async function signEvent(
  { id, body }: EventRecord,
  timestamp: number,
  { keyRing }: Pick<Services, "keyRing">,
): Promise<{ [name: string]: string }> {
  const { current, before } = await keyRing.notifications();
  const signature = signWebhook({ id, timestamp, body }, current, ...(before === null ? [] : [before]));
  return { "content-type": "application/json", ...signature };
}

function summarize(outcome: DeliveryOutcome, now: number): NonNullable<AttemptRecord["outcome"]> {
  const { status_code, error, response_body, duration_ms, retry_after } = outcome;
  const redirect = status_code !== null && status_code >= 300 && status_code < 400;
  return {
    status_code,
    error: redirect ? "the response is a redirect, which is not followed" : error,
    response_body,
    duration_ms,
    retry_after_seconds: readAskedPause(retry_after, now),
  };
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** After all attempts without a success: the receiver's own delivery receipt tells whether one arrived whose answer was lost. */
async function closeNotification(
  notification: NotificationRecord,
  event: EventRecord,
  services: Services,
): Promise<NotificationRecord> {
  const receipt = await services.store.get("receipts", event.id);
  const closed: NotificationRecord = {
    ...notification,
    status: receipt === undefined ? "exhausted" : "delivered",
  };
  await record(closed, event, null, services);
  return closed;
}

/** Writes a notification, what it says about its event, and the delivery receipt that it earned, all in one. */
async function record(
  notification: NotificationRecord,
  event: EventRecord,
  receipt: DeliveryReceiptRecord | null,
  { store }: Services,
): Promise<void> {
  const changes: Change[] = [
    { kind: "put", collection: "notifications", key: event.id, value: notification },
  ];
  if (notification.status !== "pending")
    changes.push({
      kind: "put",
      collection: "events",
      key: event.id,
      value: { ...event, delivery: notification.status },
    });
  if (receipt !== null)
    changes.push({ kind: "insert", collection: "receipts", key: event.id, value: receipt });
  await store.commit([], () => changes);
}

/**
 * Signs that the pinned receiver accepted an event.
 *
 * @param now - Unix seconds of the acceptance.
 */
export async function issueDeliveryReceipt(
  event: EventRecord,
  now: number,
  services: Services,
): Promise<DeliveryReceiptRecord> {
  const { settings, keyRing } = services;
  const { body_sha256, program } = event;
  const receiver = settings.receiverUrl;
  const id = deriveId("rcp", [settings.seed, program, event.sequence]);
  const jws = await signDeliveryReceipt(
    { receipt_id: id, event_id: event.id, body_sha256, receiver, received_at: toTimestamp(now) },
    await keyRing.receipts(),
  );
  return { id, event_id: event.id, program, receiver, body_sha256, received_at: now, deliveries: 1, jws };
}

/** Returns the event of a program that is delivered next if a delivery names none: the oldest undelivered one. */
export async function findUndelivered(
  program: string,
  store: Pick<Store, "list">,
): Promise<EventRecord | undefined> {
  const [oldest] = await store.list("events", { program, delivery: "undelivered" }, { limit: 1 });
  return oldest?.value;
}
