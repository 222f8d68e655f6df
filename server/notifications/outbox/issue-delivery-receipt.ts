import { signDeliveryReceipt } from "../../../protocol/signatures/delivery-receipt.ts";
import { deriveId } from "../../../protocol/values/id.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { Services } from "../../services.ts";
import type { DeliveryReceiptRecord, EventRecord } from "../../store/records.ts";

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
