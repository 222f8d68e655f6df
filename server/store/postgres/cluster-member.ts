import { Mutex } from "async-mutex";
import type { Client } from "pg";
import { CodedError, messageOf } from "../../../protocol/coded-error.ts";
import { StoreUnavailableError } from "../store.ts";
import type { RelayerJournalStore } from "../stored-relayer-journal.ts";
import { CommitQueue } from "./commit-group.ts";
import { answerTimeoutMs, type RunQuery, reaching } from "./database.ts";
import type { PostgresStore } from "./postgres-store.ts";
import { Reader } from "./reader.ts";

/** `owner`: the one process that has chain, clock and control. `member`: one that only answers the API. */
export type ClusterRole = "owner" | "member";

/** Another process holds the lock that this one needs. */
export class ClusterMemberError extends CodedError<"database_in_use" | "sandbox_shared"> {
  override readonly name = "ClusterMemberError";
}

/** The functions that an election calls in its process. */
export interface ElectionListener {
  /** This process leads from now on; awaited before {@link ClusterMember.leads} says so. */
  gained: () => Promise<void>;
  /** It no longer leads, and will not again before this has resolved. */
  lost: () => Promise<void>;
  /** A process, perhaps this one, has committed something. */
  changed: () => void;
  /** Resolves after the given number of milliseconds of real time. */
  wait: (milliseconds: number) => Promise<void>;
}

/** The pause between two tries to take a lock that another process holds, in milliseconds. */
export const electionIntervalMs = 50;

/**
 * A process's place in a sandbox that several share: one connection that holds its advisory locks for as long as it is open.
 *
 * One of the processes leads: the relayer's journal is written by it alone and over this very connection, so that the end of the
 * connection ends both at once and no nonce is ever claimed by two.
 */
export class ClusterMember {
  readonly #store: PostgresStore;
  readonly #role: ClusterRole;
  #client: Client;
  #ended: Promise<void>;
  #leading: { reader: Reader; commits: CommitQueue } | null = null;
  #leads = false;
  #closing = false;
  #electing: Promise<void> | null = null;

  private constructor(store: PostgresStore, role: ClusterRole, client: Client) {
    this.#store = store;
    this.#role = role;
    this.#client = client;
    this.#ended = endOf(client);
  }

  /** Joins the cluster of a database. @throws ClusterMemberError when there is an owner already; StoreUnavailableError. */
  static async join(store: PostgresStore, role: ClusterRole): Promise<ClusterMember> {
    const client = await store.database.connect();
    const member = new ClusterMember(store, role, client);
    if (await member.#takeLock(client)) return member;
    await client.end();
    throw new ClusterMemberError(
      "database_in_use",
      "Another sandbox runs on this database and schema. Stop it, choose another schema, or join it with routing-sandbox join.",
    );
  }

  /** Returns whether this process leads, with the journal taken over from the leader before it. */
  leads(): boolean {
    return this.#leads;
  }

  /** The journal's store: reads see every write that was called before them; writes are refused unless this process leads. */
  readonly relayerJournal: RelayerJournalStore = {
    get: (...parts) => (this.#leading?.reader ?? this.#store).get(...parts),
    list: (...parts) => (this.#leading?.reader ?? this.#store).list(...parts),
    ordered: (...parts) => (this.#leading?.reader ?? this.#store).ordered(...parts),
    commit: async (...parts) => {
      if (this.#leading === null) throw new StoreUnavailableError("Another process leads the relayer.");
      await this.#leading.commits.commit(...parts);
    },
    // A read waits for every write that was called before it.
    ahead: () => this.relayerJournal,
  };

  /**
   * Tries to lead from now on, again and again, until it is closed.
   *
   * @param name - is written down while this process leads, for {@link PostgresStore.about} `leader`.
   * @returns when this process leads, or another one does.
   */
  async elect(name: string, listener: ElectionListener): Promise<void> {
    await this.#tryToLead(this.#client, name, listener);
    this.#electing = this.#keepElecting(name, listener);
  }

  /** Runs a step while no other process is in. @throws ClusterMemberError when one is. */
  async runAsOnlyProcess<T>(step: () => Promise<T>): Promise<T> {
    const members = this.#store.database.lock("members");
    const client = this.#client;
    const [found] = await ask(client, `SELECT pg_try_advisory_lock(${members}) AS taken`);
    if (!found?.["taken"])
      throw new ClusterMemberError(
        "sandbox_shared",
        "Other processes use this sandbox too: stop those that joined it, then try again.",
      );
    try {
      return await step();
    } finally {
      await ask(client, `SELECT pg_advisory_unlock(${members})`);
    }
  }

  /** Leaves the cluster; the locks of this process are free when it resolves. */
  async close(): Promise<void> {
    this.#closing = true;
    // The end of a connection is noticed some time after its client has gone.
    await this.#releaseRole(this.#client).catch(() => undefined);
    await this.#client.end();
    await this.#electing;
  }

  /** Takes the lock of the role on a new connection. @returns false when another process has it. */
  async #takeLock(client: Client): Promise<boolean> {
    const { database } = this.#store;
    if (this.#role === "member")
      // It waits for as long as another process is to be the only one.
      await client.query(`SELECT pg_advisory_lock_shared(${database.lock("members")})`);
    else {
      const [found] = await ask(client, `SELECT pg_try_advisory_lock(${database.lock("owner")}) AS taken`);
      if (!found?.["taken"]) return false;
    }
    await ask(client, `LISTEN ${database.channel}`);
    return true;
  }

  /** Releases the lock of the role. */
  async #releaseRole(client: Client): Promise<void> {
    const { database } = this.#store;
    if (this.#role === "member")
      await ask(client, `SELECT pg_advisory_unlock_shared(${database.lock("members")})`);
    else await ask(client, `SELECT pg_advisory_unlock(${database.lock("owner")})`);
  }

  /** Takes part in elections until it is closed, with a new connection for each that has ended. */
  async #keepElecting(name: string, listener: ElectionListener): Promise<void> {
    for (;;) {
      const client = this.#client;
      client.on("notification", listener.changed);
      while (!this.#leading && (await this.#isOpen(client))) {
        await listener.wait(electionIntervalMs);
        await this.#tryToLead(client, name, listener).catch(() => undefined);
      }
      await this.#ended;
      this.#leads = false;
      this.#leading = null;
      await listener.lost();
      if (this.#closing) return;
      await this.#reconnect(listener);
      if (this.#closing) return;
      listener.changed();
    }
  }

  async #isOpen(client: Client): Promise<boolean> {
    return await ask(client, "SELECT 1").then(
      () => true,
      () => false,
    );
  }

  async #reconnect({ wait }: ElectionListener): Promise<void> {
    while (!this.#closing) {
      try {
        const client = await this.#store.database.connect();
        this.#client = client;
        this.#ended = endOf(client);
        if (await this.#takeLock(client)) return;
        await client.end();
      } catch {
        // The database is away; it is asked again.
      }
      await wait(electionIntervalMs);
    }
  }

  /** Leads when no other process does. */
  async #tryToLead(client: Client, name: string, listener: ElectionListener): Promise<void> {
    const { database } = this.#store;
    const [found] = await ask(client, `SELECT pg_try_advisory_lock(${database.lock("leader")}) AS taken`);
    if (!found?.["taken"]) return;
    const turn = new Mutex();
    const query: RunQuery = async (text, values) => await ask(client, text, values);
    const inTurn: RunQuery = async (text, values) =>
      await turn.runExclusive(async () => await query(text, values));
    const commits = new CommitQueue(
      async (step) => await turn.runExclusive(async () => await transact(query, step)),
      database,
    );
    this.#leading = { reader: new Reader(inTurn, database.schema), commits };
    try {
      // Over the connection that leads: a write that lasts longer than the lead would name a process that no longer leads.
      await this.#store.writeAbout("leader", name, query);
      await listener.gained();
    } catch (error) {
      // This connection would keep the lead for a process that does not lead.
      this.#leading = null;
      await ask(client, `SELECT pg_advisory_unlock(${database.lock("leader")})`);
      throw error;
    }
    this.#leads = this.#leading !== null;
  }
}

/**
 * Runs a statement. A connection that does not respond in time is ended: what it holds is free for another one then, also when the
 * statement still takes effect.
 *
 * @throws StoreUnavailableError
 */
async function ask(
  client: Client,
  text: string,
  values: unknown[] = [],
): Promise<{ [column: string]: unknown }[]> {
  const statement = { text, values, query_timeout: answerTimeoutMs };
  return await reaching(async () => {
    try {
      return (await client.query(statement)).rows;
    } catch (error) {
      if (messageOf(error) === "Query read timeout") void client.end();
      throw error;
    }
  });
}

function endOf(client: Client): Promise<void> {
  return new Promise((resolve) => client.once("end", resolve));
}

async function transact<T>(query: RunQuery, step: (query: RunQuery) => Promise<T>): Promise<T> {
  await query("BEGIN");
  try {
    const result = await step(query);
    await query("COMMIT");
    return result;
  } catch (error) {
    await query("ROLLBACK");
    throw error;
  }
}
