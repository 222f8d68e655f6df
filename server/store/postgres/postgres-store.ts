import { Mutex } from "async-mutex";
import { StoreDamagedError } from "../directory/checked-lines.ts";
import {
  type CollectionName,
  type Collections,
  collectionNames,
  indexedFields,
  type Ordered,
  type OrderingName,
  orderings,
} from "../records.ts";
import type { Change, Filter, OrderedPage, Store, Stored, StoreImage } from "../store.ts";
import { CommitQueue, countCommit, type DatabasePosition, insertRecords } from "./commit-group.ts";
import type { Database, RunQuery } from "./database.ts";
import { Reader } from "./reader.ts";

/** The number of records that go into the database with one statement when all are replaced. */
const portion = 1_000;

/**
 * A store in PostgreSQL, which several processes may have open at the same time.
 *
 * Every read asks the database, so that each process sees what any other has committed.
 *
 * @example const store = await PostgresStore.open(new Database("postgres://localhost/sandbox?schema=checkout"))
 */
export class PostgresStore implements Store {
  readonly database: Database;
  readonly #reader: Reader;
  readonly #commits: CommitQueue;

  private constructor(database: Database) {
    this.database = database;
    this.#reader = new Reader(database.query, database.schema);
    const turn = new Mutex();
    this.#commits = new CommitQueue(
      async (step) => await turn.runExclusive(async () => await database.onConnection(step)),
      database,
    );
  }

  /** Opens a store and makes its tables. @throws StoreUnavailableError, StoreDamagedError */
  static async open(database: Database): Promise<PostgresStore> {
    await database.transaction(async (query) => await prepareTables(database, query));
    return new PostgresStore(database);
  }

  async get<C extends CollectionName>(
    collection: C,
    key: string,
  ): Promise<Stored<Collections[C]> | undefined> {
    return await this.#reader.get(collection, key);
  }

  async list<C extends CollectionName>(
    collection: C,
    filter: Filter<C>,
    page?: { after?: string | undefined; limit?: number; reverse?: boolean },
  ): Promise<Stored<Collections[C]>[]> {
    return await this.#reader.list(collection, filter, page);
  }

  async ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    page?: OrderedPage,
  ): Promise<Stored<Ordered<O>>[]> {
    return await this.#reader.ordered(ordering, within, page);
  }

  async next(counter: string): Promise<number> {
    const { query, schema } = this.database;
    const [row] = await query(
      `INSERT INTO ${schema}.counters AS taken VALUES ($1, 1)
       ON CONFLICT (name) DO UPDATE SET value = taken.value + 1 RETURNING value`,
      [counter],
    );
    return Number(row?.["value"]);
  }

  async commit(
    counters: readonly string[],
    build: (numbers: readonly number[]) => readonly Change[],
  ): Promise<void> {
    await this.#commits.commit(counters, build);
  }

  async export(): Promise<StoreImage> {
    const { database } = this;
    const image = await database.transaction(
      async (query) => await readImage(query, database.schema),
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    );
    await database.chain.keep();
    const chain = database.chain.records();
    return chain === undefined ? image : { ...image, chain };
  }

  async import(image: StoreImage): Promise<void> {
    const { database } = this;
    const commits = await database.transaction(async (query) => {
      await query(`SELECT pg_advisory_xact_lock(${database.lock("commit")})`);
      await clear(query, database.schema);
      const counters = Object.entries(image.counters);
      await query(`INSERT INTO ${database.schema}.counters SELECT * FROM unnest($1::text[], $2::bigint[])`, [
        counters.map(([name]) => name),
        counters.map(([, value]) => value),
      ]);
      for (const collection of collectionNames) {
        const records = Object.entries(image.collections[collection] ?? {});
        for (let from = 0; from < records.length; from += portion) {
          const some = records.slice(from, from + portion);
          await insertRecords(
            some.map(([key, { revision, value }]) => ({ collection, key, revision, value })),
            query,
            database.schema,
          );
        }
      }
      await query(`NOTIFY ${database.channel}`);
      const chainRecords = await database.chain.keep();
      const commits = await countCommit(
        query,
        database.schema,
        chainRecords === null ? null : chainRecords + 1,
      );
      // Last, so that a chain that cannot be taken back leaves the records as they are.
      if (image.chain !== undefined) await database.chain.restore(image.chain, commits);
      return commits;
    });
    database.chain.committed(commits);
  }

  /** Returns the position of the database. */
  async position(): Promise<DatabasePosition> {
    const [commits, chainRecords] = await Promise.all([this.about("commits"), this.about("chain_records")]);
    return { commits: Number(commits ?? 0), chainRecords: Number(chainRecords ?? 0) };
  }

  /** Returns a note about the sandbox as a whole, such as which chain it is on. */
  async about(name: string): Promise<string | null> {
    const { query, schema } = this.database;
    const [row] = await query(`SELECT value FROM ${schema}.about WHERE name = $1`, [name]);
    return row === undefined ? null : String(row["value"]);
  }

  async writeAbout(name: string, value: string, query = this.database.query): Promise<void> {
    await query(
      `INSERT INTO ${this.database.schema}.about VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`,
      [name, value],
    );
  }

  /** Forgets everything but the tables themselves. */
  async clear(): Promise<void> {
    const { database } = this;
    await database.transaction(async (query) => {
      await query(`SELECT pg_advisory_xact_lock(${database.lock("commit")})`);
      await clear(query, database.schema);
      await query(`DELETE FROM ${database.schema}.about WHERE name <> 'format'`);
    });
  }

  async close(): Promise<void> {
    await this.database.close();
  }
}

async function clear(query: RunQuery, schema: string): Promise<void> {
  await query(`DELETE FROM ${schema}.records`);
  await query(`DELETE FROM ${schema}.counters`);
}

async function readImage(query: RunQuery, schema: string): Promise<StoreImage> {
  const counters: StoreImage["counters"] = {};
  for (const row of await query(`SELECT name, value FROM ${schema}.counters ORDER BY name`))
    counters[String(row["name"])] = Number(row["value"]);
  const collections: StoreImage["collections"] = {};
  const reader = new Reader(query, schema);
  for (const name of collectionNames) {
    const records = await reader.list(name, {});
    const entries = records.map(({ key, revision, value }) => [key, { revision, value }] as const);
    Object.assign(collections, { [name]: Object.fromEntries(entries) });
  }
  return { version: 1, counters, collections };
}

/** The format of the tables. */
const currentFormat = 1;

/**
 * Makes the tables where they are missing.
 *
 * A record's `value` is its JSON to the last character, which `json` and `jsonb` do not keep; `fields` are those that it is found by.
 *
 * @throws StoreDamagedError when they are of a newer format.
 */
async function prepareTables(database: Database, query: RunQuery): Promise<void> {
  const { schema } = database;
  await query(`SELECT pg_advisory_xact_lock(${database.lock("schema")})`);
  await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await query(`CREATE TABLE IF NOT EXISTS ${schema}.about (name text PRIMARY KEY, value text NOT NULL)`);
  const [format] = await query(`SELECT value FROM ${schema}.about WHERE name = 'format'`);
  if (format !== undefined && format["value"] !== String(currentFormat))
    throw new StoreDamagedError(
      `The tables in ${database.name} are of format ${format["value"]}, and this version knows format ${currentFormat}. Use the version that made them, or another schema.`,
    );
  if (format !== undefined) return;
  for (const statement of statements(schema)) await query(statement);
  await query(`INSERT INTO ${schema}.about VALUES ('format', $1)`, [String(currentFormat)]);
}

/**
 * Makes the tables as a start does, and takes that back.
 *
 * @returns the epoch of the chain that the records belong to; null when there are none.
 * @throws StoreUnavailableError, StoreDamagedError
 */
export async function tryTables(database: Database): Promise<string | null> {
  return await database.onConnection(async (query) => {
    await query("BEGIN");
    await prepareTables(database, query);
    const [row] = await query(`SELECT value FROM ${database.schema}.about WHERE name = 'epoch'`);
    await query("ROLLBACK");
    return row === undefined ? null : String(row["value"]);
  });
}

function statements(schema: string): string[] {
  const records = `${schema}.records`;
  const filters = collectionNames.flatMap((collection) =>
    indexedFields[collection].map(
      (field) =>
        `CREATE INDEX ON ${records} ((fields->>'${field}'), position) WHERE collection = '${collection}'`,
    ),
  );
  const orders = Object.values(orderings).map(({ collection, within, by }) => {
    const columns = [...within.map((field) => `(fields->>'${field}')`), `((fields->>'${by}')::bigint)`];
    return `CREATE UNIQUE INDEX ON ${records} (${columns.join(", ")}) WHERE collection = '${collection}'`;
  });
  return [
    `CREATE TABLE ${schema}.counters (name text PRIMARY KEY, value bigint NOT NULL)`,
    `CREATE TABLE ${records} (
      collection text NOT NULL,
      key text COLLATE "C" NOT NULL,
      revision integer NOT NULL,
      position bigint NOT NULL UNIQUE,
      fields jsonb NOT NULL,
      value text NOT NULL,
      PRIMARY KEY (collection, key)
    )`,
    `CREATE INDEX ON ${records} (collection, position)`,
    ...filters,
    ...orders,
  ];
}
