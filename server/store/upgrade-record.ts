import { z } from "zod";
import type { CollectionName } from "./records.ts";
import type { Change } from "./store.ts";

const firstEvent = z.looseObject({ body: z.string(), subject: z.undefined().optional() });
const firstEventBody = z.object({
  data: z.looseObject({
    purchase_id: z.string().optional(),
    merchant_id: z.string().optional(),
    subject: z.object({ id: z.string() }).optional(),
  }),
});

/** A record of format 1 as this format has it: events name what they are about. */
export function upgradeRecord(collection: CollectionName, value: unknown): unknown {
  if (collection !== "events") return value;
  const event = firstEvent.safeParse(value);
  if (!event.success) return value;
  const { data } = firstEventBody.parse(JSON.parse(event.data.body));
  return { ...event.data, subject: data.purchase_id ?? data.subject?.id ?? data.merchant_id };
}

/** A change of format 1 as this format has it. */
export function upgradeChange(change: Change): Change {
  if (change.kind === "delete") return change;
  const upgraded: Change = Object.assign({}, change, {
    value: upgradeRecord(change.collection, change.value),
  });
  return upgraded;
}
