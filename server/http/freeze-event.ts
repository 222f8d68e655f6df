import { TextEncoder } from "../../protocol/globals.ts";
import { sha256Hex } from "../../protocol/values/canonical-json.ts";
import { deriveId } from "../../protocol/values/id.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { NewEvent } from "../schemas/event-types.ts";
import type { EventRecord } from "../store/records.ts";
import type { Change, Store } from "../store/store.ts";

/** The cause of an event, if any, and its time in Unix seconds. */
interface Caused {
  seed: string;
  program: string;
  now: number;
  event: NewEvent | undefined;
}

/**
 * Commits changes with the event that they cause, if they cause one.
 *
 * @param build - builds the changes; pure, and called once the event's id is known, which is empty without an event.
 */
export async function commitWithEvent(
  { seed, program, now, event }: Caused,
  store: Pick<Store, "commit">,
  build: (eventId: string) => readonly Change[],
): Promise<void> {
  if (event === undefined) return await store.commit([], () => build(""));
  await store.commit([outboxCounter(program)], ([sequence = 0]) => {
    const id = eventId(seed, program, sequence);
    const value = freezeEvent({ id, program, sequence, event, now });
    return [...build(id), { kind: "insert", collection: "events", key: id, value }];
  });
}

/** The counter that gives a program's events their sequence, without gaps. */
function outboxCounter(program: string): string {
  return `outbox/${program}`;
}

/** The id of the event with a sequence number. */
function eventId(seed: string, program: string, sequence: number): string {
  return deriveId("evt", [seed, program, sequence]);
}

/** Freezes an event's body; what is delivered and checked later is exactly this text. */
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
