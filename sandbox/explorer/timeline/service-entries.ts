import { toTimestamp } from "../../../protocol/values/time.ts";
import type { PurchaseRecord, SubmissionRecord } from "../../../server/store/records.ts";
import { viewEvent } from "../reads/read-events.ts";
import { viewRefusal } from "../reads/read-refusals.ts";
import type { Sources } from "../sources.ts";
import type { EventView } from "../views.ts";
import { type OrderedEntry, timelineEntry, timelineSteps } from "./timeline-entry.ts";

/**
 * Returns the service's messages about a purchase: wallet submissions, outbox events, their deliveries, and refusals.
 */
export async function serviceEntries({ id }: PurchaseRecord, sources: Sources): Promise<OrderedEntry[]> {
  const { services, refusals } = sources;
  const [submissions, events] = await Promise.all([
    services.store.list("submissions", { subject: id }),
    services.store.list("events", { subject: id }),
  ]);
  const views = await Promise.all(events.map(async ({ value }) => await viewEvent(value, sources)));
  return [
    ...submissions.map(({ value }) => submissionEntry(value)),
    ...views.flatMap((event) => eventEntries(event, services.settings.receiverUrl)),
    ...refusals
      .newest()
      .filter(({ subject }) => subject === id)
      .map((refusal) => refusalEntry(viewRefusal(refusal, sources))),
  ];
}

function submissionEntry({ action, transaction_hash, submitted_at }: SubmissionRecord): OrderedEntry {
  return timelineEntry("submitted", {
    at: toTimestamp(submitted_at),
    kind: "submitted",
    title: `The wallet submitted: ${action}.`,
    actor: "the wallet page",
    transaction_hash,
  });
}

function eventEntries(event: EventView, receiver: string): OrderedEntry[] {
  return [
    timelineEntry(timelineSteps.find((step) => step === event.type) ?? "delivered", {
      at: event.created_at,
      kind: "event",
      title: `The outbox took the event ${event.type}.`,
      actor: "the service",
      details: { event: event.id, delivery: event.delivery },
    }),
    ...event.attempts.map((attempt) =>
      timelineEntry("delivered", {
        at: attempt.at,
        kind: "delivery",
        title: `Delivery of ${event.type}, attempt ${attempt.number}: ${outcomeOf(attempt)}.`,
        actor: receiver,
        details: { event: event.id },
      }),
    ),
  ];
}

function outcomeOf({ ended, status_code, error }: EventView["attempts"][number]): string {
  if (!ended) return "no outcome yet";
  return status_code === null ? (error ?? "no response") : `responded with ${status_code}`;
}

function refusalEntry(refusal: ReturnType<typeof viewRefusal>): OrderedEntry {
  return timelineEntry("refused", {
    at: refusal.at,
    kind: "refused",
    title: `A ${refusal.step} was refused: ${refusal.cause.replace(/^It /, "it ")}`,
    actor: "the service",
    transaction_hash: refusal.transaction_hash,
    details: { code: refusal.code, times: String(refusal.times) },
    checks: refusal.checks,
  });
}
