import { randomUUID } from "node:crypto";
import { z } from "zod";
import { URL } from "../../protocol/globals.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import type { Relayer } from "../../relayer/relayer.ts";
import type { Log, Services } from "../../server/http/services.ts";
import type { JournaledStore } from "../../server/store/journaled/journaled-store.ts";
import {
  ClusterMember,
  ClusterMemberError,
  type ClusterRole,
} from "../../server/store/postgres/cluster-member.ts";
import { Database, type KeptChain } from "../../server/store/postgres/database.ts";
import { PostgresStore } from "../../server/store/postgres/postgres-store.ts";
import type { RelayerJournalStore } from "../../server/store/stored-relayer-journal.ts";
import { accounts, decimal, deployment } from "../chain/genesis/deployment-record.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { PinnedReceiver } from "../lib/http/pin-receiver.ts";
import { wait } from "../lib/time/timers.ts";
import type { SandboxUrls } from "../options/description.ts";
import { accountSettingSchema, programSettingSchema } from "../options/programs.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { Cluster } from "../service/cluster.ts";
import { bareHex } from "../service/keys.ts";
import { forwardingTo } from "./forwarding.ts";
import { keptIn } from "./kept-chain.ts";

const url = z.codec(z.url(), z.instanceof(URL), {
  decode: (text) => new URL(text),
  encode: ({ href }) => href,
});

/** The record that the first process of a shared sandbox writes for those that join it. */
const sharedSandbox = z.object({
  version: z.literal(1),
  mode: z.enum(["deterministic", "live"]),
  /** The settings that every process answers by. */
  settings: z.object({
    /** Empty for the chain of a node, of whose file of keys no database gets anything. */
    seed: z.string(),
    programs: z.array(programSettingSchema).readonly(),
    accounts: z.array(accountSettingSchema).readonly().default([]),
    confirmations: z.int(),
    gasBudgetWei: decimal,
    receiptTimeoutMs: z.int(),
    deliveryTimeoutMs: z.int(),
    rateLimit: z.object({ requests: z.number(), seconds: z.number() }).optional(),
    connectionLimits: z.object({ connections: z.number(), headersMs: z.number(), requestMs: z.number() }),
  }),
  /** Resolved once, for all processes. */
  receiver: z.object({
    url,
    addresses: z.array(z.object({ address: z.string(), family: z.int() })).readonly(),
  }),
  /** The URL of Anvil itself, which only the sandbox's own processes know, and the newest block that it loaded; null for the chain of a node. */
  anvil: z.object({ url: z.string(), loadedBlock: z.int() }).nullable(),
  urls: z.object({ api: z.string(), docs: z.string(), rpc: z.string(), control: z.string() }),
  deployment,
  /** The keys of test accounts; null for those of the chain of a node, which no database gets. */
  accounts: accounts.nullable(),
});

/** The parsed form of {@link sharedSandbox}. */
export type SharedSandbox = z.infer<typeof sharedSandbox>;

/** The error of a database that does not belong to the chain. @param kept - the epoch of the chain that it belongs to, if any. */
export function isOfAnother(database: Database, kept: string | null): SandboxError {
  return new SandboxError(
    "database_mismatch",
    `The database (${database.name}) ${kept === null ? "holds nothing of this sandbox's chain" : "holds what belongs to another chain"}. Start with the data directory that belongs to it (the option dataDirectory), or choose another schema (?schema= in the option store).`,
  );
}

/** A store in a database, and this process's place among those that share it. */
export class SharedStore implements Cluster {
  readonly store: PostgresStore;
  readonly awaited = "the database and the chain to respond";
  readonly member: ClusterMember;
  recordsId = "";
  readonly #log: Log;

  private constructor(store: PostgresStore, member: ClusterMember, log: Log) {
    this.store = store;
    this.member = member;
    this.#log = log;
  }

  /** The store of the relayer's journal. */
  get relayerJournal(): RelayerJournalStore {
    return this.member.relayerJournal;
  }

  /** Names the chain that the records rely on. */
  reliesOn(chain: KeptChain): void {
    this.store.database.chain = chain;
  }

  /** Opens the database and joins its cluster. @throws SandboxError database_in_use; StoreUnavailableError, DatabaseUrlError */
  static async open(url: string, role: ClusterRole, log: Log): Promise<SharedStore> {
    const store = await PostgresStore.open(new Database(url));
    try {
      const shared = new SharedStore(store, await ClusterMember.join(store, role).catch(asSandboxError), log);
      shared.recordsId = (await store.about("records_id")) ?? "";
      return shared;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /**
   * Makes sure that the database holds what belongs to a chain, and that neither of the two is older than what the other one knows of it.
   *
   * @param journal - where a data directory keeps what happens on the chain; null in memory.
   * @throws SandboxError database_mismatch
   */
  async requireChain(
    chain: { deployment: { epoch: string }; resumed: boolean; isOwn: boolean },
    journal: JournaledStore | null,
    { fresh, seed }: Pick<SandboxSettings, "fresh" | "seed">,
  ): Promise<void> {
    if (fresh) await this.store.clear();
    const kept = await this.store.about("epoch");
    const { epoch } = chain.deployment;
    // The chain of a node is there, whether a data directory knows of it or not.
    const resumed = chain.isOwn ? chain.resumed : kept !== null;
    if (kept === null && !resumed) {
      this.recordsId = chain.isOwn ? "" : randomUUID();
      await this.store.writeAbout("records_id", this.recordsId);
      await this.store.writeAbout("epoch", epoch);
    }
    // A fresh chain can have the epoch of one that is gone: what the database holds of that one is not on it.
    else if (kept !== epoch || !resumed) throw isOfAnother(this.store.database, kept);
    if (!chain.isOwn) await this.requireSeed(seed);
    const { commits, chainRecords } = await this.store.position();
    if (journal === null) return;
    const { chainCount, databaseCommits } = journal;
    if (chainCount < chainRecords)
      throw this.#isOlder(
        `The data directory has ${chainCount} records of the chain, and the database (${this.store.database.name}) relies on ${chainRecords}`,
        "data directory",
      );
    if (commits < databaseCommits)
      throw this.#isOlder(
        `The database (${this.store.database.name}) has ${commits} commits, and the data directory knows of ${databaseCommits}`,
        "database",
      );
  }

  /**
   * Makes sure that the seed of the keys for a node's chain is the one that the records were made with, of which the database has a digest alone.
   *
   * @throws SandboxError database_mismatch
   */
  async requireSeed(seed: string): Promise<void> {
    const digest = bareHex(deriveKey(seed, `records/${this.recordsId}`));
    const kept = await this.store.about("seed_digest");
    if (kept === null) await this.store.writeAbout("seed_digest", digest);
    else if (kept !== digest)
      throw new SandboxError(
        "database_mismatch",
        `The records in the database (${this.store.database.name}) were made with another seed than the option network.keys names. Name the file that they were made with, or choose another schema (?schema= in the option store).`,
      );
  }

  #isOlder(found: string, older: string): SandboxError {
    return new SandboxError(
      "database_mismatch",
      `${found}: the ${older} is older than the other. Put both back to backups of the same moment, or choose another data directory (the option dataDirectory) and schema (?schema= in the option store).`,
    );
  }

  /** Writes down what those that join have to know. */
  async publish(sandbox: {
    settings: SandboxSettings;
    chain: ChainNode;
    urls: SandboxUrls;
    receiver: PinnedReceiver;
  }): Promise<void> {
    const { settings, chain, urls, receiver } = sandbox;
    const { deployment, accounts } = chain;
    const encoded = z.encode(sharedSandbox, {
      version: 1,
      mode: settings.mode,
      settings: { ...settings, seed: chain.isOwn ? settings.seed : "" },
      receiver: { url: receiver.url, addresses: receiver.addresses },
      anvil: chain.isOwn ? { url: chain.anvil.url, loadedBlock: chain.anvil.loadedBlock } : null,
      urls,
      deployment,
      accounts: chain.isOwn ? accounts : null,
    });
    await this.store.writeAbout("sandbox", JSON.stringify(encoded));
  }

  /** Reads the record of the first process. @throws SandboxError database_mismatch when there was none. */
  async read(): Promise<SharedSandbox> {
    const text = await this.store.about("sandbox");
    if (text === null)
      throw new SandboxError(
        "database_mismatch",
        `No sandbox runs on the database (${this.store.database.name}). Start one with routing-sandbox start --store.`,
      );
    return z.decode(sharedSandbox, JSON.parse(text));
  }

  /** Has this process lead whenever no other one does; resolves when one does. */
  async lead(apiUrl: string, relayer: Relayer, changed: () => void): Promise<void> {
    let started = false;
    const gained = async () => {
      try {
        await relayer.recover();
      } catch (error) {
        // A start fails; later the next head of the chain has it looked at again.
        if (!started) throw error;
        this.#log.error({ causes: String(error) }, "taking up the relayer's journal");
      }
    };
    const lost = async () => await relayer.drain();
    await this.member.elect(apiUrl, { gained, lost, changed, wait });
    started = true;
  }

  /** A relayer that looks at the chain only while this process leads. */
  leading(relayer: Relayer): Relayer {
    const whileLeading = (look: () => Promise<void>) => async () => {
      if (this.member.leads()) await look();
    };
    return {
      ...relayer,
      follow: whileLeading(async () => await relayer.follow()),
      observe: whileLeading(async () => await relayer.observe()),
      unknownOutcomes: async () => (this.member.leads() ? await relayer.unknownOutcomes() : []),
      readNow: async (id) => await (this.member.leads() ? relayer.readNow(id) : relayer.read(id)),
    };
  }

  /** Forwards requests with an effect to the leader. */
  forwarding(ownUrl: string): Services["forwardToLeader"] {
    return forwardingTo(this.member, async () => await this.store.about("leader"), ownUrl);
  }

  /** Runs a step while no other process is in. @throws SandboxError sandbox_shared */
  async runAsOnlyProcess<T>(step: () => Promise<T>): Promise<T> {
    return await this.member.runAsOnlyProcess(step).catch(asSandboxError);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.member.close();
    await this.store.close();
  }
}

/** The error of a place in the cluster that another process has, as callers of a sandbox know it. */
function asSandboxError(error: unknown): never {
  if (!(error instanceof ClusterMemberError)) throw error;
  throw new SandboxError(error.code, error.message, { cause: error });
}

/**
 * Opens the database of a sandbox's settings for a chain.
 *
 * @param journal - where a data directory keeps what happens on the chain; null in memory.
 * @throws SandboxError database_mismatch, database_in_use; StoreUnavailableError, DatabaseUrlError.
 */
export async function openShared(
  { store, fresh, seed, log }: Pick<SandboxSettings, "fresh" | "seed" | "log"> & { store: string },
  chain: ChainNode,
  journal: JournaledStore | null,
): Promise<SharedStore> {
  const shared = await SharedStore.open(store, "owner", log);
  try {
    await shared.requireChain(chain, journal, { fresh, seed });
    if (journal !== null && chain.journal !== null) shared.reliesOn(keptIn(journal, chain.journal));
    return shared;
  } catch (error) {
    await shared[Symbol.asyncDispose]();
    throw error;
  }
}
