import type { RunQuery } from "./database.ts";

/** The position of a database, and the position of the chain that its records rely on. */
export interface DatabasePosition {
  /** The number of transactions that have written records. */
  commits: number;
  /** The number of records of the chain that were durable by the last of them; 0 when the chain is kept nowhere. */
  chainRecords: number;
}

/**
 * Counts a transaction that writes records, as a part of it.
 *
 * @param chainRecords - how many records of the chain are durable; null when the chain is kept nowhere.
 * @returns how many transactions there are with it.
 */
export async function countCommit(
  query: RunQuery,
  schema: string,
  chainRecords: number | null,
): Promise<number> {
  return countedCommits(await query(countStatement(schema, 1), [countedRecords(chainRecords)]));
}

/** The statement that counts a transaction; its one value has the given number. */
export function countStatement(schema: string, value: number): string {
  return `INSERT INTO ${schema}.about AS kept VALUES ('commits', '1'), ('chain_records', $${value})
     ON CONFLICT (name) DO UPDATE SET value = CASE kept.name
       WHEN 'commits' THEN kept.value::bigint + 1
       ELSE greatest(kept.value::bigint, EXCLUDED.value::bigint)
     END RETURNING name, value`;
}

/** The value of {@link countStatement}. */
export function countedRecords(chainRecords: number | null): string {
  return String(chainRecords ?? 0);
}

/** Returns how many transactions there are by the rows of {@link countStatement}. */
export function countedCommits(rows: Awaited<ReturnType<RunQuery>>): number {
  return Number(rows.find((row) => row["name"] === "commits")?.["value"]);
}
