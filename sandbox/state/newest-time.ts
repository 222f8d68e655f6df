import type { StoreImage } from "../../server/store/store.ts";

/** The fields of records with a time that may be in the future. */
const future = new Set(["expires_at"]);

/**
 * Returns the newest time that the records of a store name as past, in Unix seconds; 0 when they name none.
 *
 * @example newestTime(await store.export()) // 1790000000
 */
export function newestTime({ collections }: Pick<StoreImage, "collections">): number {
  let newest = 0;
  for (const records of Object.values(collections))
    for (const { value } of Object.values(records))
      for (const [name, time] of Object.entries(value))
        if (typeof time === "number" && name.endsWith("_at") && !future.has(name))
          newest = Math.max(newest, time);
  return newest;
}
