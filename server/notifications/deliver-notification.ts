import { Problem } from "../errors/problem.ts";
import { UndoneError } from "../http/gate.ts";
import { defineOperation } from "../http/operation.ts";
import { answerUnchanged } from "../http/outcome.ts";
import type { Services } from "../http/services.ts";
import { limits } from "../limits.ts";
import { deliverNotificationBody, notificationDeliverySchema } from "../schemas/notifications.ts";
import type { EventRecord } from "../store/records.ts";
import { deliverEvent, findUndelivered } from "./outbox/deliver-event.ts";
import { mayAttempt } from "./outbox/delivery-attempts.ts";
import { viewDeliveryReceipt, viewNotification } from "./views.ts";

/** `POST …/notifications`: signed deliveries of one event, until one succeeds or the limit is reached. */
export const deliverNotification = defineOperation({
  number: 14,
  id: "deliverNotification",
  method: "post",
  path: "/v1/routing/programs/{program}/notifications",
  summary: "Deliver a notification",
  description:
    `Attempts up to ${limits.delivery_attempts} signed HTTP deliveries of an outbox event (the oldest undelivered one by default) to the pinned receiver. ` +
    "Only a 2xx response is a success; redirects are not followed; a 410 ends the attempts. Pauses between attempts are " +
    "sandbox time. A request cannot choose another receiver, and a repeated request makes no further attempt.",
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: true,
  body: deliverNotificationBody,
  responses: {
    200: { description: "The notification with every attempt.", schema: notificationDeliverySchema },
  },
  errors: ["not_found", "outbox_empty", "delivery_exhausted", "outcome_unknown", "service_closing"],
  events: [],
  async handle({ services, program, body, resumes, beginEffect, releaseGate }) {
    const event = await findEvent(program.id, resumes ?? body.event_id, services);
    if (event.delivery === "exhausted" && resumes === null) throw await exhausted(event, services);
    await beginEffect(event.id);
    const notification = await deliverEvent(event, services, releaseGate).catch((error: unknown) => {
      throw error instanceof UndoneError ? undone() : error;
    });
    const receipt = (await services.store.get("receipts", event.id))?.value;
    return answerUnchanged(200, {
      notification: viewNotification(notification),
      receipt: receipt === undefined ? null : viewDeliveryReceipt(receipt),
    });
  },
});

/** The receiver may have got it: that cannot be taken back. */
function undone(): Problem {
  return new Problem(
    "outcome_unknown",
    "The sandbox was restored during this delivery. Send the request again if its event still exists.",
  );
}

async function exhausted(event: EventRecord, { store }: Services): Promise<Problem> {
  const attempts = (await store.get("notifications", event.id))?.value.attempts ?? [];
  const reason = mayAttempt(attempts)
    ? `The receiver responded with ${attempts.at(-1)?.outcome?.status_code} to ${event.id}`
    : `${event.id} has had its ${attempts.length} attempts`;
  return new Problem(
    "delivery_exhausted",
    `${reason}, so no further attempt is made. Read the object of the event instead, such as the purchase.`,
    {
      members: { event_id: event.id, attempts: attempts.length },
    },
  );
}

async function findEvent(program: string, id: string | undefined, services: Services): Promise<EventRecord> {
  const { store } = services;
  if (id !== undefined) {
    const event = (await store.get("events", id))?.value;
    if (event?.program !== program) throw new Problem("not_found", `There is no event ${id} in ${program}.`);
    return event;
  }
  const oldest = await findUndelivered(program, store);
  if (oldest === undefined)
    throw new Problem("outbox_empty", `Every event of ${program} has been delivered or exhausted.`);
  return oldest;
}
