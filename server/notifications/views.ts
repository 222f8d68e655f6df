import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { DeliveryReceiptRecord, NotificationRecord } from "../store/records.ts";

/** A notification with its attempts as it is answered. */
export function viewNotification(notification: NotificationRecord) {
  return {
    id: notification.id,
    event_id: notification.event_id,
    status: notification.status,
    attempts: notification.attempts.map(({ number, at, outcome }) => ({
      number,
      at: toTimestamp(at),
      status_code: outcome?.status_code ?? null,
      error: outcome === null ? "the outcome was lost in a crash" : outcome.error,
      response_body: outcome?.response_body ?? null,
      duration_ms: outcome?.duration_ms ?? null,
    })),
  } satisfies Json;
}

/** A delivery receipt as it is listed. */
export function viewDeliveryReceipt(receipt: DeliveryReceiptRecord) {
  const { id, event_id, receiver, body_sha256, received_at, deliveries, jws } = receipt;
  return {
    id,
    event_id,
    receiver,
    body_sha256,
    received_at: toTimestamp(received_at),
    deliveries,
    jws,
  } satisfies Json;
}

/** A delivery receipt as the receiver answers it, the same for every duplicate. */
export function viewAcceptedDeliveryReceipt(receipt: DeliveryReceiptRecord) {
  const { id, event_id, receiver, body_sha256, received_at, jws } = receipt;
  return {
    receipt_id: id,
    event_id,
    body_sha256,
    receiver,
    received_at: toTimestamp(received_at),
    jws,
  } satisfies Json;
}
