import { z } from "zod";
import type { Json } from "../../../protocol/values/json.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { copyFields } from "../../../server/http/answers/copy-fields.ts";
import type { EventRecord, NotificationRecord } from "../../../server/store/records.ts";
import type { ViewPage } from "../../lib/page.ts";
import type { Sources } from "../sources.ts";
import { type DeliveryAttemptView, type EventView, eventViewSchema } from "../views.ts";
import { nameSubject } from "./name-subject.ts";
import { pageQuery, readPage } from "./page.ts";

/** The query of the events; `status` is the status of the delivery. */
export const eventsQuery = pageQuery.extend({
  status: z.enum(["undelivered", "delivered", "exhausted"]).optional(),
});

/** Reads a page of the outbox of all programs, with every attempt to deliver each event. */
export async function readEvents(
  query: z.output<typeof eventsQuery>,
  sources: Sources,
): Promise<ViewPage<EventView>> {
  const { services } = sources;
  const { cursor, program, status: delivery, q } = query;
  const filter = {
    ...(program === undefined ? {} : { program }),
    ...(delivery === undefined ? {} : { delivery }),
  };
  const { data, next_cursor } = await readPage(services.store, "events", filter, {
    cursor,
    order: query.order,
    limit: query.limit,
    ...(q === undefined || q === "" ? {} : { keep: (event) => mentions(event, q) }),
  });
  return {
    data: await Promise.all(data.map(async ({ value }) => await viewEvent(value, sources))),
    next_cursor,
  };
}

/** An event in the shape that is answered. */
export async function viewEvent(event: EventRecord, { services, receiver }: Sources): Promise<EventView> {
  const { id } = event;
  const [notification, receipt] = await Promise.all([
    services.store.get("notifications", id),
    services.store.get("receipts", id),
  ]);
  const body: Json = JSON.parse(event.body);
  return {
    ...copyFields(eventViewSchema, event),
    ...(await nameSubject(event.subject, services.store)),
    attempts: notification === undefined ? [] : viewDeliveryAttempts(notification.value),
    receipt_id: receipt?.value.id ?? null,
    arrivals: receiver
      .deliveries()
      .filter(({ headers }) => headers["webhook-id"] === id)
      .map(({ number, verified, status }) => ({ number, verified, status })),
    body,
    created_at: toTimestamp(event.created_at),
  };
}

function viewDeliveryAttempts({ attempts }: NotificationRecord): DeliveryAttemptView[] {
  return attempts.map(({ number, at, outcome }) => ({
    number,
    at: toTimestamp(at),
    ended: outcome !== null,
    status_code: outcome?.status_code ?? null,
    error: outcome?.error ?? null,
    duration_ms: outcome?.duration_ms ?? null,
  }));
}

function mentions({ id, type, subject }: EventRecord, text: string): boolean {
  const wanted = text.toLowerCase();
  return [id, type, subject].some((field) => field.toLowerCase().includes(wanted));
}
