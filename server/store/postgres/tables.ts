import { StoreDamagedError } from "../directory/checked-lines.ts";
import { collectionNames, indexedFields, orderings } from "../records.ts";
import type { Database } from "./database.ts";

/** The format of the tables. */
const currentFormat = 1;

/**
 * Makes the tables where they are missing.
 *
 * A record's `value` is its JSON to the last character, which `json` and `jsonb` do not keep; `fields` are those that it is found by.
 *
 * @throws StoreDamagedError when they are of a newer format.
 */
export async function prepareTables(database: Database): Promise<void> {
  const { schema } = database;
  await database.transaction(async (query) => {
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
