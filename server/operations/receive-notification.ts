import { sha256Hex } from "../../protocol/canonical-json.ts";
import { deriveId } from "../../protocol/id.ts";
import { signReceipt } from "../../protocol/receipt.ts";
import { toTimestamp } from "../../protocol/time.ts";
import { verifyWebhook, type WebhookHeaders } from "../../protocol/webhook.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation } from "../http/operation.ts";
import { limits } from "../limits.ts";
import { eventSchema } from "../schemas/event.ts";
import { acceptedReceiptSchema } from "../schemas/notification.ts";
import type { ReceiptRecord } from "../store/records.ts";
import { viewAcceptedReceipt } from "../views/notification.ts";

/** Operation 17: one exact signed outbox event at the pinned receiver. */
export const receiveNotification = defineOperation({
  number: 17,
  id: "receiveNotification",
  method: "post",
  path: "/v1/routing/notification-receiver",
  summary: "Receive a signed event",
  description:
    "Accepts one signed outbox event (Standard Webhooks): the Ed25519 signature verifies against the pinned key, the time is within 300 seconds and " +
    "the body is the outbox's, byte for byte. A duplicate gets the first receipt again.",
  authorization: { kind: "signed_event" },
  idempotent: false,
  effect: false,
  rawBody: eventSchema,
  responses: {
    200: { description: "The receipt; the same bytes for a duplicate.", schema: acceptedReceiptSchema },
  },
  errors: ["signature_invalid", "timestamp_out_of_tolerance", "event_mismatch", "storage_unavailable"],
  events: [],
  async handle({ services, header, rawBody, now }) {
    const { store, keys, settings } = services;
    const headers = readHeaders(header);
    if (Math.abs(now - Number(headers["webhook-timestamp"])) > limits.event_tolerance_seconds)
      throw new Problem(
        "timestamp_out_of_tolerance",
        `webhook-timestamp is ${headers["webhook-timestamp"]}, it is ${now}.`,
      );
    if (!verifyWebhook(headers, rawBody, keys.notifications.key.publicKey))
      throw new Problem(
        "signature_invalid",
        "No v1a signature verifies against the pinned key over id, timestamp and body.",
      );
    const event = (await store.get("events", headers["webhook-id"]))?.value;
    const body_sha256 = sha256Hex(rawBody);
    if (event === undefined || event.body_sha256 !== body_sha256)
      throw new Problem("event_mismatch", "No outbox event has this id and exactly this body.");
    const known = await store.get("receipts", event.id);
    if (known !== undefined) {
      const again: ReceiptRecord = { ...known.value, deliveries: known.value.deliveries + 1 };
      return {
        kind: "write",
        status: 200,
        write: () => ({
          changes: [{ ...known, kind: "update", collection: "receipts", value: again }],
          body: viewAcceptedReceipt(again),
        }),
      };
    }
    const id = deriveId("rcp", [settings.seed, event.program, event.sequence]);
    const receiver = settings.receiverUrl;
    const signed = {
      receipt_id: id,
      event_id: event.id,
      body_sha256,
      receiver,
      received_at: toTimestamp(now),
    };
    const jws = await signReceipt(signed, keys.receipts);
    const receipt: ReceiptRecord = {
      id,
      event_id: event.id,
      program: event.program,
      receiver,
      body_sha256,
      received_at: now,
      deliveries: 1,
      jws,
    };
    return {
      kind: "write",
      status: 200,
      write: () => ({
        changes: [{ kind: "insert", collection: "receipts", key: event.id, value: receipt }],
        body: viewAcceptedReceipt(receipt),
      }),
    };
  },
});

function readHeaders(header: (name: string) => string | undefined): WebhookHeaders {
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const signature = header("webhook-signature");
  if (
    id === undefined ||
    signature === undefined ||
    timestamp === undefined ||
    !/^[0-9]{1,12}$/.test(timestamp)
  )
    throw new Problem(
      "signature_invalid",
      "webhook-id, webhook-timestamp and webhook-signature must each be sent once.",
    );
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
}
