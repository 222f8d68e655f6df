import { deriveId, type IdPrefix } from "../../../protocol/values/id.ts";

/**
 * Takes the next id with a prefix: it follows from the seed and a counter.
 *
 * @example await nextId("pur", services) // "pur_…"
 */
export async function nextId(
  prefix: IdPrefix,
  { settings, nextNumber }: { settings: { seed: string }; nextNumber: (prefix: IdPrefix) => Promise<number> },
): Promise<string> {
  return deriveId(prefix, [settings.seed, await nextNumber(prefix)]);
}
