import { type CollectionName, indexedFields, orderings } from "../records.ts";
import { type Change, fits, StoreConflictError } from "../store.ts";
import type { Database, RunQuery } from "./database.ts";
import { encode } from "./reader.ts";

/** A commit that waits to be written. */
interface PendingCommit {
  counters: readonly string[];
  build: (numbers: readonly number[]) => readonly Change[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** A record as a group leaves it; null for one that is not there. */
type Record = { revision: number; value: unknown } | null;

/** The reads and changes of a group so far. */
class Group {
  readonly counters = new Map<string, number>();
  readonly records = new Map<string, { collection: CollectionName; key: string; record: Record }>();
  /** The records that were deleted and may have come back: they get a new place in the order of insertion. */
  readonly removed = new Set<string>();
  readonly changed = new Set<string>();
  /** Whether a commit of the group has succeeded. */
  isWritten = false;
}

/**
 * Writes commits in one transaction, while no other process writes, so that no record that was read changes, nothing deadlocks, and
 * records are inserted in the order of the commits. The transaction takes four statements, and one more each for counters and deletions.
 *
 * A commit with a conflict writes nothing and does not keep the others from being written.
 *
 * @param query - a connection outside of a transaction.
 * @param chainRecords - how many records of the chain are durable, which the commits rely on.
 * @returns the outcome of each of them, to be reported now that the transaction is durable, and how many transactions have been committed;
 * null if all commits had a conflict, so that nothing was written.
 */
async function writeGroup(
  commits: readonly PendingCommit[],
  query: RunQuery,
  database: Database,
  chainRecords: number | null,
): Promise<{ told: (() => void)[]; commits: number | null }> {
  const { schema } = database;
  await query(`BEGIN; SELECT pg_advisory_xact_lock(${database.lock("commit")})`);
  const group = new Group();
  await readAhead(commits, group, query, schema);
  const told: (() => void)[] = [];
  for (const commit of commits) {
    const numbers = await readCounters(commit.counters, group, query, schema);
    try {
      const changes = commit.build(numbers);
      await readRecords(changes, group, query, schema);
      apply(changes, group);
      commit.counters.forEach((counter, index) => {
        group.counters.set(counter, numbers[index] ?? 0);
      });
      group.isWritten = true;
      told.push(commit.resolve);
    } catch (error) {
      if (!(error instanceof StoreConflictError)) throw error;
      told.push(() => commit.reject(error));
    }
  }
  if (!group.isWritten) {
    await query("ROLLBACK");
    return { told, commits: null };
  }
  const counted = await write(group, query, schema, chainRecords);
  await query(group.changed.size > 0 ? `NOTIFY ${database.channel}; COMMIT` : "COMMIT");
  return { told, commits: counted };
}

/** Reads at once what the commits need if all of them succeed. A commit after one with a conflict may need other records, which are read then. */
async function readAhead(
  commits: readonly PendingCommit[],
  group: Group,
  query: RunQuery,
  schema: string,
): Promise<void> {
  await readCounters([...new Set(commits.flatMap(({ counters }) => counters))], group, query, schema);
  const taken = new Map(group.counters);
  const changes = commits.flatMap(({ counters, build }) => {
    for (const name of counters) taken.set(name, (taken.get(name) ?? 0) + 1);
    return build(counters.map((name) => taken.get(name) ?? 0));
  });
  await readRecords(changes, group, query, schema);
}

async function readCounters(
  names: readonly string[],
  { counters }: Group,
  query: RunQuery,
  schema: string,
): Promise<number[]> {
  const missing = names.filter((name) => !counters.has(name));
  if (missing.length > 0) {
    const rows = await query(`SELECT name, value FROM ${schema}.counters WHERE name = ANY($1)`, [missing]);
    for (const name of missing) {
      const row = rows.find((one) => one["name"] === name);
      counters.set(name, Number(row?.["value"] ?? 0));
    }
  }
  return names.map((name) => (counters.get(name) ?? 0) + 1);
}

async function readRecords(
  changes: readonly Change[],
  { records }: Group,
  query: RunQuery,
  schema: string,
): Promise<void> {
  const missing = changes.filter((change) => !records.has(nameOf(change)));
  if (missing.length === 0) return;
  const rows = await query(
    `SELECT collection, key, revision FROM ${schema}.records
     WHERE (collection, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    [missing.map(({ collection }) => collection), missing.map(({ key }) => encode(key))],
  );
  for (const { collection, key } of missing) {
    const row = rows.find((one) => one["collection"] === collection && one["key"] === encode(key));
    const record = row === undefined ? null : { revision: Number(row["revision"]), value: undefined };
    records.set(nameOf({ collection, key }), { collection, key, record });
  }
}

/** @throws StoreConflictError before anything is changed. */
function apply(changes: readonly Change[], { records, removed, changed }: Group): void {
  for (const change of changes) {
    const { record } = records.get(nameOf(change)) ?? { record: null };
    if (!fits(change, record?.revision)) throw new StoreConflictError(change.collection, change.key);
  }
  for (const change of changes) {
    const { collection, key } = change;
    const name = nameOf(change);
    const before = records.get(name)?.record ?? null;
    const record =
      change.kind === "delete" ? null : { revision: (before?.revision ?? 0) + 1, value: change.value };
    if (record === null) removed.add(name);
    changed.add(name);
    records.set(name, { collection, key, record });
  }
}

/** Writes the group and counts its transaction. */
async function write(
  { counters, records, removed, changed }: Group,
  query: RunQuery,
  schema: string,
  chainRecords: number | null,
): Promise<number> {
  const gone = [...removed].flatMap((name) => records.get(name) ?? []);
  if (gone.length > 0)
    await query(
      `DELETE FROM ${schema}.records WHERE (collection, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
      [gone.map(({ collection }) => collection), gone.map(({ key }) => encode(key))],
    );
  const left = [...changed].flatMap((name) => {
    const { collection, key, record } = records.get(name) ?? { record: null };
    return record === null || collection === undefined ? [] : [{ collection, key, ...record }];
  });
  const rows = await query(
    `WITH moved AS (
       INSERT INTO ${schema}.counters SELECT * FROM unnest($1::text[], $2::bigint[])
       ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
     ), written AS (${insertStatement(schema, 3)})
     ${countStatement(schema, 8)}`,
    [[...counters.keys()], [...counters.values()], ...columnsOf(left), countedRecords(chainRecords)],
  );
  return countedCommits(rows);
}

/** A record to write. */
type WrittenRecord = { collection: CollectionName; key: string; revision: number; value: unknown };

/** Writes records, new ones in this order after all others. */
export async function insertRecords(
  records: readonly WrittenRecord[],
  query: RunQuery,
  schema: string,
): Promise<void> {
  await query(insertStatement(schema, 1), columnsOf(records));
}

/** The statement that writes records; the first of its five values has the given number. */
function insertStatement(schema: string, value: number): string {
  const types = ["text", "text", "integer", "jsonb", "text"];
  const columns = types.map((type, index) => `$${value + index}::${type}[]`);
  return `INSERT INTO ${schema}.records (collection, key, revision, position, fields, value)
     SELECT collection, key, revision, last.position + row, fields, value
     FROM (SELECT coalesce(max(position), 0) AS position FROM ${schema}.records) AS last,
       unnest(${columns.join(", ")}) WITH ORDINALITY AS new (collection, key, revision, fields, value, row)
     ON CONFLICT (collection, key) DO UPDATE
     SET revision = EXCLUDED.revision, fields = EXCLUDED.fields, value = EXCLUDED.value`;
}

/** The values of {@link insertStatement}. */
function columnsOf(records: readonly WrittenRecord[]): unknown[][] {
  return [
    records.map(({ collection }) => collection),
    records.map(({ key }) => encode(key)),
    records.map(({ revision }) => revision),
    records.map(({ collection, value }) => JSON.stringify(fieldsOf(collection, value))),
    records.map(({ value }) => JSON.stringify(value)),
  ];
}

/** The fields that a record is found by; a number that is null is left out, so that it is in no order. */
function fieldsOf(collection: CollectionName, value: unknown): { [field: string]: string } {
  const orders = Object.values(orderings).filter((ordering) => ordering.collection === collection);
  const names = [...indexedFields[collection], ...orders.flatMap(({ within, by }) => [...within, by])];
  const fields: { [field: string]: string } = {};
  for (const name of new Set<string>(names)) {
    const field: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
    const absent = field === undefined || (field === null && orders.some(({ by }) => by === name));
    if (!absent) fields[name] = encode(field);
  }
  return fields;
}

function nameOf({ collection, key }: { collection: CollectionName; key: string }): string {
  return `${collection}\n${key}`;
}

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
function countStatement(schema: string, value: number): string {
  return `INSERT INTO ${schema}.about AS kept VALUES ('commits', '1'), ('chain_records', $${value})
     ON CONFLICT (name) DO UPDATE SET value = CASE kept.name
       WHEN 'commits' THEN kept.value::bigint + 1
       ELSE greatest(kept.value::bigint, EXCLUDED.value::bigint)
     END RETURNING name, value`;
}

/** The value of {@link countStatement}. */
function countedRecords(chainRecords: number | null): string {
  return String(chainRecords ?? 0);
}

/** Returns how many transactions there are by the rows of {@link countStatement}. */
function countedCommits(rows: Awaited<ReturnType<RunQuery>>): number {
  return Number(rows.find((row) => row["name"] === "commits")?.["value"]);
}

/** Runs statements on a connection, one caller at a time and in the order of the calls. */
type OnConnection = <T>(step: (query: RunQuery) => Promise<T>) => Promise<T>;

/** Gathers the commits that arrive during a transaction and writes them together in the next one. */
export class CommitQueue {
  readonly #onConnection: OnConnection;
  readonly #database: Database;
  #waiting: PendingCommit[] = [];

  constructor(onConnection: OnConnection, database: Database) {
    this.#onConnection = onConnection;
    this.#database = database;
  }

  /** Writes changes, all or none; it has its place in the order when this returns. */
  commit(
    counters: readonly string[],
    build: (numbers: readonly number[]) => readonly Change[],
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ counters, build, resolve, reject });
      if (this.#waiting.length === 1) void this.#write();
    });
  }

  async #write(): Promise<void> {
    let group: PendingCommit[] = [];
    try {
      const { told, commits } = await this.#onConnection(async (query) => {
        group = this.#waiting;
        this.#waiting = [];
        const records = await this.#database.chain.keep();
        return await writeGroup(group, query, this.#database, records);
      });
      if (commits !== null) this.#database.chain.committed(commits);
      for (const tell of told) tell();
    } catch (error) {
      // Also those that came before a connection was found.
      const refused = group.length > 0 ? group : this.#waiting.splice(0);
      for (const { reject } of refused) reject(error);
    }
  }
}
