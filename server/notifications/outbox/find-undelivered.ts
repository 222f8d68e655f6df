import type { EventRecord } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";

/** Returns the event of a program that is delivered next if a delivery names none: the oldest undelivered one. */
export async function findUndelivered(
  program: string,
  store: Pick<Store, "list">,
): Promise<EventRecord | undefined> {
  const [oldest] = await store.list("events", { program, delivery: "undelivered" }, { limit: 1 });
  return oldest?.value;
}
