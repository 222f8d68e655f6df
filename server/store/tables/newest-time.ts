/** The fields of records with a time that may be in the future. */
const future = new Set(["expires_at"]);

/**
 * Returns the newest time that a record names as past, in Unix seconds; 0 if it names none.
 *
 * @example newestTime({ created_at: 1790000000, expires_at: 1790604800 }) // 1790000000
 */
export function newestTime(record: unknown): number {
  let newest = 0;
  if (typeof record !== "object" || record === null) return newest;
  for (const [name, time] of Object.entries(record))
    if (typeof time === "number" && name.endsWith("_at") && !future.has(name))
      newest = Math.max(newest, time);
  return newest;
}
