import { sha256Hex } from "../../protocol/values/canonical-json.ts";
import { deriveId } from "../../protocol/values/id.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { EventRecord } from "../store/records.ts";
import type { NewEvent } from "./event-types.ts";

/** The counter that gives a program's events their sequence, without gaps. */
export function outboxCounter(program: string): string {
  return `outbox/${program}`;
}

/** The id of the event with a sequence number. */
export function eventId(seed: string, program: string, sequence: number): string {
  return deriveId("evt", [seed, program, sequence]);
}

/**
 * Freezes an event's body; what is delivered and checked later is exactly this text.
 *
 * @example freezeEvent({ id, program, sequence, now, event: { type: "merchant.enrolled", data } })
 */
export function freezeEvent(written: {
  id: string;
  program: string;
  sequence: number;
  event: NewEvent;
  now: number;
}): EventRecord {
  const { id, program, sequence, now } = written;
  const { type, data } = written.event;
  const body = JSON.stringify({ id, type, program, sequence, created_at: toTimestamp(now), data });
  return {
    id,
    program,
    sequence,
    type,
    subject: subjectOf(written.event),
    body,
    body_sha256: sha256Hex(new TextEncoder().encode(body)),
    created_at: now,
    delivery: "undelivered",
  };
}

function subjectOf({ data }: NewEvent): string {
  if ("purchase_id" in data) return data.purchase_id;
  return "subject" in data ? data.subject.id : data.merchant_id;
}
