import { createHash, hash } from "node:crypto";
import { Client, type ClientConfig, escapeIdentifier, Pool, type QueryConfig, type QueryResult } from "pg";
import { CodedError, codeOf } from "../../../protocol/coded-error.ts";
import type { ChainChange } from "../chain-changes.ts";
import { StoreUnavailableError } from "../store.ts";

/** Runs one statement and answers its rows. Without values, the text may be several statements, whose rows are not answered. */
export type RunQuery = (text: string, values?: unknown[]) => Promise<{ [column: string]: unknown }[]>;

/** The purposes of the advisory locks of a sandbox. */
export const locks = { commit: 1, leader: 2, owner: 3, members: 4, schema: 5 } as const;

/** A URL that names no database; it is not shown, because it may hold a password. */
export class DatabaseUrlError extends CodedError<"database_url_invalid"> {
  override readonly name = "DatabaseUrlError";

  constructor(message: string) {
    super("database_url_invalid", message);
  }
}

/** The most bytes of a name in PostgreSQL. */
const nameBytes = 63;

/** The longest time for a connection or a statement, in milliseconds. */
export const answerTimeoutMs = 10_000;

/** The chain that the records of a database belong to, which is kept elsewhere. */
export interface KeptChain {
  /**
   * Runs in each transaction before anything is committed.
   *
   * @returns how many records of the chain there are once what the commits rely on is durable; null when they are kept nowhere.
   */
  keep(): Promise<number | null>;
  /** Called once the database has the given number of commits. */
  committed(commits: number): void;
  /** Returns the durable changes of the chain; undefined when they are stored nowhere. */
  records(): readonly ChainChange[] | undefined;
  /**
   * Takes the chain back, which adds one record to it, before the transaction is committed that takes the records back.
   *
   * @param commits - how many commits the database has with that transaction.
   */
  restore(chain: readonly ChainChange[], commits: number): Promise<void>;
}

/** A PostgreSQL database with one schema for each sandbox in it. */
export class Database {
  /** The address of the database, without user and password. */
  readonly name: string;
  /** The schema, quoted. */
  readonly schema: string;
  /** The channel that commits are announced on, quoted. */
  readonly channel: string;
  /** The chain that the commits rely on. */
  chain: KeptChain = {
    keep: async () => null,
    committed() {},
    records: () => undefined,
    async restore() {},
  };
  readonly #config: ClientConfig;
  readonly #pool: Pool;
  /** Keeps the locks of one schema apart from those of another. */
  readonly #lockClass: number;

  /**
   * @param url - `postgres://user:password@host:port/database?schema=name`; the schema is `routing_sandbox` by default.
   * @throws DatabaseUrlError
   */
  constructor(url: string) {
    const { config, schema } = parse(url);
    this.#config = {
      ...config,
      keepAlive: true,
      connectionTimeoutMillis: answerTimeoutMs,
      application_name: "routing-sandbox",
    };
    this.name = `${config.database ?? ""} at ${config.host ?? ""}:${config.port ?? 5432}, schema ${schema}`;
    this.schema = escapeIdentifier(schema);
    const digest = createHash("sha256").update(schema).digest();
    this.channel = escapeIdentifier(`routing_sandbox_${digest.toString("hex", 0, 8)}`);
    this.#lockClass = digest.readInt32BE(0);
    this.#pool = new Pool({ ...this.#config, max: 8, query_timeout: answerTimeoutMs });
    // A connection that breaks off while it is not used is replaced when it is needed.
    this.#pool.on("error", () => {});
  }

  /** The two numbers of an advisory lock, as SQL. */
  lock(name: keyof typeof locks): string {
    return `${this.#lockClass}, ${locks[name]}`;
  }

  /** Runs one statement on any connection. */
  readonly query: RunQuery = async (text, values = []) =>
    await reaching(async () => rowsOf(await this.#pool.query(prepared(text, values))));

  /** Runs a transaction on a connection of its own. */
  async transaction<T>(step: (query: RunQuery) => Promise<T>, begin = "BEGIN"): Promise<T> {
    return await this.onConnection(async (query) => {
      await query(begin);
      const result = await step(query);
      await query("COMMIT");
      return result;
    });
  }

  /** Runs statements on a connection of their own; a transaction that they leave open when they fail is rolled back. */
  async onConnection<T>(step: (query: RunQuery) => Promise<T>): Promise<T> {
    const client = await reaching(async () => await this.#pool.connect());
    let failure: Error | undefined;
    // Without a listener, a connection that breaks off in the middle would end the process.
    const broken = () => {};
    client.on("error", broken);
    const query: RunQuery = async (text, values = []) =>
      await reaching(async () => rowsOf(await client.query(prepared(text, values))));
    try {
      return await step(query);
    } catch (error) {
      failure = error instanceof StoreUnavailableError ? error : undefined;
      if (failure === undefined) await query("ROLLBACK");
      throw error;
    } finally {
      client.off("error", broken);
      // A connection that failed is closed: its state is unknown, and the next transaction gets another one.
      client.release(failure);
    }
  }

  /** Opens a connection that the caller keeps. */
  async connect(): Promise<Client> {
    const client = new Client(this.#config);
    client.on("error", () => {});
    await reaching(async () => await client.connect());
    return client;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Returns a statement that PostgreSQL parses and plans once per connection; several statements in one text cannot be prepared. */
function prepared(text: string, values: unknown[]): QueryConfig {
  return values.length === 0 ? { text } : { name: hash("sha256", text).slice(0, nameBytes), text, values };
}

function rowsOf(result: QueryResult | QueryResult[]): { [column: string]: unknown }[] {
  return Array.isArray(result) ? [] : result.rows;
}

/** The refusals of PostgreSQL by their SQLSTATE whose remedy is not to look whether it runs. */
const remedies: { readonly [code: string]: string | undefined } = {
  "25006": "It can only be read. Name a database that can be written.",
  "28000": "Correct the user in the URL of the option store.",
  "28P01": "Correct the user and the password in the URL of the option store.",
  "3D000": "There is no such database. Create it, or correct the URL of the option store.",
  "42501": "The role lacks a right. Grant it CREATE on the database.",
  "53300": "It has as many connections as it takes. Close some, or raise its max_connections.",
};

/** Has whatever the database or the way to it refuses told as one error. */
export async function reaching<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    const code = codeOf(cause);
    const remedy =
      remedies[code ?? ""] ?? "Check that it runs, and that the URL of the option store is right.";
    throw new StoreUnavailableError(
      `The database refused or did not respond${code === undefined ? "" : ` (${code})`}. ${remedy}`,
      { cause },
    );
  }
}

function parse(text: string): { config: ClientConfig; schema: string } {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new DatabaseUrlError(
      "The option store must be a URL as in postgres://user:password@localhost:5432/database?schema=my_sandbox.",
    );
  const query = url.searchParams;
  const schema = query.get("schema") ?? "routing_sandbox";
  if (schema === "" || schema.includes("\0") || Buffer.byteLength(schema) > nameBytes)
    throw new DatabaseUrlError(`The schema in the option store must have 1 to ${nameBytes} bytes.`);
  const unknown = [...query.keys()].filter((name) => name !== "schema" && name !== "host");
  if (unknown.length > 0)
    throw new DatabaseUrlError(
      `The option store takes schema and host after the question mark, not ${unknown.join(", ")}.`,
    );
  const config: ClientConfig = {
    // A path to a folder names a Unix socket.
    host: query.get("host") ?? (decodeURIComponent(url.hostname) || "localhost"),
    port: url.port === "" ? 5432 : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)) || "postgres",
    ...(url.username === "" ? {} : { user: decodeURIComponent(url.username) }),
    ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
  };
  return { config, schema };
}
