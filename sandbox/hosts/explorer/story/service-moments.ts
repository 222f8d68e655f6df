import { toTimestamp } from "../../../../protocol/time.ts";
import type { PurchaseRecord, SubmissionRecord } from "../../../../server/store/records.ts";
import { showEvent } from "../read-events.ts";
import { showRefusal } from "../read-refusals.ts";
import type { ShownEvent } from "../shown.ts";
import type { Sources } from "../sources.ts";
import { moment, type StagedMoment, stages } from "./moment.ts";

/** What the service told and refused about a purchase: wallet submissions, outbox events, their deliveries, and refusals. */
export async function serviceMoments({ id }: PurchaseRecord, sources: Sources): Promise<StagedMoment[]> {
  const { services, refusals } = sources;
  const [submissions, events] = await Promise.all([
    services.store.list("submissions", { subject: id }),
    services.store.list("events", { subject: id }),
  ]);
  const shown = await Promise.all(events.map(async ({ value }) => await showEvent(value, sources)));
  return [
    ...submissions.map(({ value }) => submissionMoment(value)),
    ...shown.flatMap((event) => eventMoments(event, services.settings.receiverUrl)),
    ...refusals
      .newest()
      .filter(({ subject }) => subject === id)
      .map((refusal) => refusalMoment(showRefusal(refusal, sources))),
  ];
}

function submissionMoment({ action, transaction_hash, submitted_at }: SubmissionRecord): StagedMoment {
  return moment("submitted", {
    at: toTimestamp(submitted_at),
    kind: "submitted",
    title: `The wallet submitted: ${action}.`,
    actor: "the wallet page",
    transaction_hash,
  });
}

function eventMoments(event: ShownEvent, receiver: string): StagedMoment[] {
  return [
    moment(stages.find((stage) => stage === event.type) ?? "delivered", {
      at: event.created_at,
      kind: "event",
      title: `The outbox took the event ${event.type}.`,
      actor: "the service",
      details: { event: event.id, delivery: event.delivery },
    }),
    ...event.attempts.map((attempt) =>
      moment("delivered", {
        at: attempt.at,
        kind: "delivery",
        title: `Delivery of ${event.type}, attempt ${attempt.number}: ${outcomeOf(attempt)}.`,
        actor: receiver,
        details: { event: event.id },
      }),
    ),
  ];
}

function outcomeOf({ ended, status_code, error }: ShownEvent["attempts"][number]): string {
  if (!ended) return "no outcome yet";
  return status_code === null ? (error ?? "no answer") : `answered ${status_code}`;
}

function refusalMoment(refusal: ReturnType<typeof showRefusal>): StagedMoment {
  const failed = refusal.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return moment("refused", {
    at: refusal.at,
    kind: "refused",
    title: `A ${refusal.step} was refused: ${failed.join(", ")}.`,
    actor: "the service",
    transaction_hash: refusal.transaction_hash,
    details: { code: refusal.code, times: String(refusal.times) },
    checks: refusal.checks,
  });
}
