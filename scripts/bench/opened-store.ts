/** Opens a store's directory in a process of its own and prints how long that took and what it holds in memory. */
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";

/** The measurements that {@link file://./store.ts} reads. */
export interface StoreMeasurement {
  milliseconds: number;
  /** Resident memory after a collection, in bytes. */
  memory: number;
}

const [folder = "", purchase = ""] = process.argv.slice(2);
const began = performance.now();
const store = await openDirectoryStore(folder);
await store.get("purchases", purchase);
const milliseconds = performance.now() - began;
globalThis.gc?.();
const opened: StoreMeasurement = { milliseconds, memory: process.memoryUsage().rss };
process.stdout.write(JSON.stringify(opened));
await store.close();
