import type { z } from "zod";
import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { copyFields } from "../http/answers/copy-fields.ts";
import {
  acceptedReceiptSchema,
  type DeliveryReceipt,
  deliveryReceiptSchema,
} from "../schemas/notifications.ts";
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
export function viewDeliveryReceipt(receipt: DeliveryReceiptRecord): DeliveryReceipt {
  return { ...copyFields(deliveryReceiptSchema, receipt), received_at: toTimestamp(receipt.received_at) };
}

/** A delivery receipt as the receiver answers it, the same for every duplicate. */
export function viewAcceptedDeliveryReceipt(
  receipt: DeliveryReceiptRecord,
): z.output<typeof acceptedReceiptSchema> {
  return {
    ...copyFields(acceptedReceiptSchema, receipt),
    receipt_id: receipt.id,
    received_at: toTimestamp(receipt.received_at),
  };
}
