import type { Change } from "../store.ts";
import { type PendingCommit, writeGroup } from "./commit-group.ts";
import type { Database, RunQuery } from "./database.ts";

/** Runs statements on a connection, one caller at a time and in the order of the calls. */
export type OnConnection = <T>(step: (query: RunQuery) => Promise<T>) => Promise<T>;

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
