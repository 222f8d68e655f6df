import { z } from "zod";
import type { JournaledStore } from "../../server/store/journaled/journaled-store.ts";
import type { KeptChain } from "../../server/store/postgres/database.ts";
import { StoreUnavailableError } from "../../server/store/store.ts";
import type { ChainJournal } from "../chain/journal/chain-journal.ts";
import { askControl } from "../service/ask-control.ts";

const path = "/chain/kept";

/** The schema of a request: the number of commits of the database that a process knows of. */
export const keepRequestSchema = z.strictObject({ commits: z.int().min(0) }).meta({ id: "KeepChain" });

/** The schema of the answer: the number of records of the chain. */
export const keptSchema = z.object({ records: z.int().nullable() }).meta({ id: "KeptChain" });

/** The chain of a sandbox with a database, which its first process keeps in a data directory. */
export function keptIn(store: JournaledStore, journal: ChainJournal): KeptChain {
  return {
    keep: async () => await journal.keep(),
    committed: (commits) => journal.committed(commits),
    records: () => store.chain,
    restore: async (chain, commits) => {
      const taken = [...chain, { kind: "database", commits } as const];
      await store.import({ version: 1, counters: {}, collections: {}, chain: taken });
    },
  };
}

/** The chain of a sandbox that a process has joined: the first one keeps it, and learns from each request how many commits the database has. */
export function keptByFirst(controlUrl: string): KeptChain {
  let known = 0;
  const refused = (cause: unknown) =>
    new StoreUnavailableError("The first process of the sandbox does not keep the chain.", { cause });
  return {
    async keep() {
      const response = await askControl(controlUrl, "POST", path, { commits: known }).catch(
        (cause: unknown) => {
          throw refused(cause);
        },
      );
      if (!response.ok) throw refused(new Error(`It responded with ${response.status}.`));
      const kept: unknown = await response.json().catch((cause: unknown) => {
        throw refused(cause);
      });
      return keptSchema.parse(kept).records;
    },
    committed(commits) {
      known = Math.max(known, commits);
    },
    records: () => undefined,
    // Only the first process restores.
    async restore() {},
  };
}
