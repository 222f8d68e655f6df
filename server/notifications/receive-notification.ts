import { verifyWebhook, type WebhookHeaders } from "../../protocol/signatures/webhook.ts";
import { sha256Hex } from "../../protocol/values/canonical-json.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation } from "../http/operation.ts";
import { limits, limitTexts } from "../limits.ts";
import { acceptedReceiptSchema, eventSchema } from "../schemas/notifications.ts";
import type { DeliveryReceiptRecord } from "../store/records.ts";
import type { Change } from "../store/store.ts";
import { issueDeliveryReceipt } from "./outbox/deliver-event.ts";
import { viewAcceptedDeliveryReceipt } from "./views.ts";

/** `POST …/notification-receiver`: one exact signed outbox event at the pinned receiver. */
export const receiveNotification = defineOperation({
  number: 17,
  id: "receiveNotification",
  method: "post",
  path: "/v1/routing/notification-receiver",
  summary: "Receive a signed event",
  description:
    `Accepts one signed outbox event (Standard Webhooks). The Ed25519 signature must verify with the pinned key, the time must be within ${limitTexts.event_tolerance}, and ` +
    "the body must equal the outbox event byte for byte. A duplicate gets the first delivery receipt again. While another URL is the pinned receiver, every event is refused.",
  authorization: { kind: "signed_event" },
  idempotent: false,
  effect: false,
  rawBody: eventSchema,
  responses: {
    200: {
      description: "The delivery receipt; the same bytes for a duplicate.",
      schema: acceptedReceiptSchema,
    },
  },
  errors: ["receiver_not_pinned", "timestamp_out_of_tolerance", "event_mismatch"],
  events: [],
  async handle({ services, header, rawBody, now }) {
    const { store, keyRing, settings } = services;
    if (!settings.receivesNotifications)
      throw new Problem(
        "receiver_not_pinned",
        `Notifications go to ${settings.receiverUrl}, not to this operation. Send the event there, or use a sandbox without a receiver URL.`,
      );
    const headers = readHeaders(header);
    const { current } = await keyRing.notifications();
    if (!verifyWebhook(headers, rawBody, current.key.publicKey))
      throw new Problem(
        "signature_invalid",
        "No v1a signature verifies against the pinned key over id, timestamp and body.",
      );
    if (Math.abs(now - Number(headers["webhook-timestamp"])) > limits.event_tolerance_seconds)
      throw new Problem(
        "timestamp_out_of_tolerance",
        `webhook-timestamp is ${headers["webhook-timestamp"]}, it is ${now}.`,
      );
    const event = (await store.get("events", headers["webhook-id"]))?.value;
    if (event === undefined || event.body_sha256 !== sha256Hex(rawBody))
      throw new Problem("event_mismatch", "No outbox event has this id and exactly this body.");
    const known = await store.get("receipts", event.id);
    const receipt: DeliveryReceiptRecord = known
      ? { ...known.value, deliveries: known.value.deliveries + 1 }
      : await issueDeliveryReceipt(event, now, services);
    const change: Change = known
      ? { ...known, kind: "update", collection: "receipts", value: receipt }
      : { kind: "insert", collection: "receipts", key: event.id, value: receipt };
    return {
      kind: "write",
      status: 200,
      write: () => ({ changes: [change], body: viewAcceptedDeliveryReceipt(receipt) }),
    };
  },
});

function readHeaders(header: (name: string) => string | undefined): WebhookHeaders {
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const signature = header("webhook-signature");
  if (id === undefined || signature === undefined || timestamp === undefined || !/^[0-9]+$/.test(timestamp))
    throw new Problem(
      "signature_invalid",
      "webhook-id, webhook-timestamp (whole Unix seconds) and webhook-signature must each be sent once.",
    );
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
}
