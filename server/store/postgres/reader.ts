import {
  type CollectionName,
  type Collections,
  type Ordered,
  type OrderingName,
  orderings,
} from "../records.ts";
import type { Filter, OrderedPage, Stored } from "../store.ts";
import type { RunQuery } from "./database.ts";

/** Encodes a key or a field for the tables: as JSON, which holds every character that PostgreSQL's text does not. */
export function encode(value: unknown): string {
  return JSON.stringify(value);
}

/** Reads records with one statement each. */
export class Reader {
  readonly #query: RunQuery;
  readonly #records: string;

  constructor(query: RunQuery, schema: string) {
    this.#query = query;
    this.#records = `${schema}.records`;
  }

  async get<C extends CollectionName>(
    collection: C,
    key: string,
  ): Promise<Stored<Collections[C]> | undefined> {
    const text = `SELECT key, revision, value FROM ${this.#records} WHERE collection = $1 AND key = $2`;
    const [row] = await this.#query(text, [collection, encode(key)]);
    return row && toStored(row);
  }

  async list<C extends CollectionName>(
    collection: C,
    filter: Filter<C>,
    { after, limit, reverse = false }: { after?: string | undefined; limit?: number; reverse?: boolean } = {},
  ): Promise<Stored<Collections[C]>[]> {
    const values: unknown[] = [];
    const value = (one: unknown) => `$${values.push(one)}`;
    const wanted = Object.entries(filter).map(
      ([field, one]) => `fields->>'${field}' = ${value(encode(one))}`,
    );
    const place =
      after === undefined
        ? []
        : [
            `position ${reverse ? "<" : ">"} (SELECT position FROM ${this.#records} WHERE collection = '${collection}' AND key = ${value(encode(after))})`,
          ];
    const rows = await this.#query(
      `SELECT key, revision, value FROM ${this.#records}
       WHERE ${[`collection = '${collection}'`, ...wanted, ...place].join(" AND ")}
       ORDER BY position ${reverse ? "DESC" : "ASC"} LIMIT ${value(limit ?? null)}`,
      values,
    );
    return rows.map((row) => toStored<Collections[C]>(row));
  }

  async ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    { from, reverse = false, limit }: OrderedPage = {},
  ): Promise<Stored<Ordered<O>>[]> {
    const { collection, within: fields, by } = orderings[ordering];
    const values: unknown[] = [];
    const value = (one: unknown) => `$${values.push(one)}`;
    const number = `(fields->>'${by}')::bigint`;
    const wanted = fields.map((field, index) => `fields->>'${field}' = ${value(encode(within[index]))}`);
    const place =
      from === undefined ? `${number} IS NOT NULL` : `${number} ${reverse ? "<=" : ">="} ${value(from)}`;
    const rows = await this.#query(
      `SELECT key, revision, value FROM ${this.#records}
       WHERE ${[`collection = '${collection}'`, ...wanted, place].join(" AND ")}
       ORDER BY ${number} ${reverse ? "DESC" : "ASC"} LIMIT ${value(limit ?? null)}`,
      values,
    );
    return rows.map((row) => toStored<Ordered<O>>(row));
  }
}

function toStored<T>(row: { [column: string]: unknown }): Stored<T> {
  return {
    key: JSON.parse(String(row["key"])),
    revision: Number(row["revision"]),
    value: JSON.parse(String(row["value"])),
  };
}
