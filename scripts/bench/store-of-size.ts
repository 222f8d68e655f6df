/**
 * A directory store of a given size, in a process of its own:
 * - `fill <folder> <number> <file>`: stores so many purchases, copies of the one in the file, and prints how many it has stored so far;
 * - `measure <folder> <number> <file>`: opens the store, and prints what a start, a write, a read, a page, memory and disk take.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import type { Store } from "../../server/store/store.ts";
import { median } from "./benchmark.ts";
import { copiesOf, type PurchaseRecords } from "./purchase-copies.ts";
import { residentMemory } from "./resident-memory.ts";

/** The measurements of a store. */
export interface StoreOfSize {
  /** In milliseconds, like `write`. */
  start: number;
  write: number;
  /** In microseconds, like `page`. */
  read: number;
  page: number;
  /** In MiB, like `disk`. */
  memory: number;
  disk: number;
}

const [mode, folder = "", count = "", file = ""] = process.argv.slice(2);
const purchases = Number(count);
const copyOf = copiesOf(JSON.parse(await readFile(file, "utf8")));
const writes = 100;
const reads = 1_000;
const pages = 100;

async function storeCopy(store: Store, [purchase, event, answer]: PurchaseRecords): Promise<void> {
  await store.commit([`outbox/${event.value.program}`], ([sequence = 0]) => [
    { kind: "insert", collection: "purchases", key: purchase.key, value: purchase.value },
    { kind: "insert", collection: "events", key: event.key, value: { ...event.value, sequence } },
    { kind: "insert", collection: "idempotency", key: answer.key, value: answer.value },
  ]);
}

async function fill(): Promise<void> {
  const store = await openDirectoryStore(folder);
  for (let made = 0; made < purchases; made += 500) {
    if (made % 10_000 === 0) process.stdout.write(`${made}\n`);
    const batch = Array.from({ length: Math.min(500, purchases - made) }, (_, index) => copyOf(made + index));
    await Promise.all(batch.map(async (one) => await storeCopy(store, one)));
  }
  await store.close();
}

/** The median of the milliseconds that some work takes, each time with what was prepared for it. */
async function medianOf<T>(
  times: number,
  prepare: (index: number) => T,
  work: (prepared: T) => Promise<unknown>,
) {
  const took: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const prepared = prepare(index);
    const began = performance.now();
    await work(prepared);
    took.push(performance.now() - began);
  }
  return median(took);
}

async function sizeOnDisk(): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
}

async function measure(): Promise<StoreOfSize> {
  const [middle, middleEvent] = copyOf(Math.floor(purchases / 2));
  const began = performance.now();
  const store = await openDirectoryStore(folder);
  if ((await store.get("purchases", middle.key)) === undefined) throw new Error("A purchase is missing.");
  const start = performance.now() - began;
  globalThis.gc?.();
  const memory = await residentMemory(process.pid);
  const disk = await sizeOnDisk();
  const ids = Array.from(
    { length: reads },
    (_, index) => copyOf(Math.floor((index * purchases) / reads))[0].key,
  );
  const read = await medianOf(
    9,
    () => ids,
    async () => {
      for (const id of ids) await store.get("purchases", id);
    },
  );
  const { program } = middleEvent.value;
  const page = await medianOf(
    pages,
    () => ({ after: middleEvent.key, limit: 50 }),
    async (asked) => await store.list("events", { program }, asked),
  );
  // Each process writes other purchases.
  const first = purchases + process.pid * writes;
  const write = await medianOf(
    writes,
    (index) => copyOf(first + index),
    async (one) => await storeCopy(store, one),
  );
  return { start, write, read: (read * 1_000) / reads, page: page * 1_000, memory, disk };
}

if (mode === "fill") await fill();
else {
  process.stdout.write(JSON.stringify(await measure()));
  // A clean stop would write the snapshot again, and the next start would be another one.
  process.exit();
}
