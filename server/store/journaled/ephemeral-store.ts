import { ChainLog } from "../chain-changes.ts";
import { MemoryTables } from "../tables/memory-tables.ts";
import { JournaledStore } from "./journaled-store.ts";

/** A store that keeps nothing after the process. */
export function openEphemeralStore(): JournaledStore {
  const nothing = async () => {};
  return new JournaledStore({
    durability: {
      append: nothing,
      broken: () => false,
      untouched: () => true,
      needsCompaction: () => false,
      prepareCompaction: nothing,
      compact: nothing,
      replace: nothing,
      close: nothing,
    },
    tables: new MemoryTables(),
    upTo: 0,
    chain: new ChainLog(),
    begin: null,
  });
}
