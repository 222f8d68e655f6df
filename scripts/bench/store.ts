/** Measures a write with few and with many purchases in the store, and in the three stores; and a start. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { ClosingStack } from "../../sandbox/lib/closing-stack.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import { openEphemeralStore } from "../../server/store/journaled/ephemeral-store.ts";
import { Database } from "../../server/store/postgres/database.ts";
import { PostgresStore } from "../../server/store/postgres/postgres-store.ts";
import type { Store } from "../../server/store/store.ts";
import { hasPostgres, startPostgres } from "../postgres-server.ts";
import { type Benchmark, median } from "./benchmark.ts";
import type { StoreMeasurement } from "./opened-store.ts";
import { copiesOf, originalPurchase } from "./purchase-copies.ts";

const few = 1_000;
const many = 100_000;
const writesPerRound = 300;
const program = "prg_demo";

const opened = new ClosingStack();
const root = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
opened.defer(async () => await rm(root, { recursive: true, force: true }));
let last = 0;

const sandbox = await createSandbox({ seed: "bench" });
const copyOf = copiesOf(await originalPurchase(sandbox));
await sandbox.close();

/** Returns a function that writes the records of a new purchase: the purchase, its event and the stored answer, in one commit. */
function newPurchase(store: Store): () => Promise<void> {
  last += 1;
  const [purchase, event, answer] = copyOf(last);
  return async () =>
    await store.commit([`outbox/${program}`], ([sequence = 0]) => [
      { kind: "insert", collection: "purchases", key: purchase.key, value: purchase.value },
      { kind: "insert", collection: "events", key: event.key, value: { ...event.value, sequence } },
      { kind: "insert", collection: "idempotency", key: answer.key, value: answer.value },
    ]);
}

/** Fills a store, many commits at a time, as fast as its groups go. */
async function fill(store: Store, purchases: number): Promise<Store> {
  for (let made = 0; made < purchases; made += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, purchases - made) }, async () => await newPurchase(store)()),
    );
  return store;
}

/** One write after the other; the median in milliseconds. */
function writing(store: Store): () => Promise<number> {
  return async () => {
    const times: number[] = [];
    for (let index = 0; index < writesPerRound; index += 1) {
      const write = newPurchase(store);
      const began = performance.now();
      await write();
      times.push(performance.now() - began);
    }
    return median(times);
  };
}

/** A directory as it is after a clean stop, and the same store open for writing. */
async function directory(purchases: number) {
  const [closed, folder] = [join(root, `closed-${purchases}`), join(root, `open-${purchases}`)];
  const before = last;
  await (await fill(await openDirectoryStore(closed), purchases)).close();
  last = before;
  const store = await fill(await openDirectoryStore(folder), purchases);
  opened.defer(async () => await store.close());
  return { write: writing(store), start: starting(closed, purchases) };
}

const openedStore = fileURLToPath(new URL("opened-store.ts", import.meta.url));

function starting(folder: string, purchases: number): () => Promise<number> {
  return async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--expose-gc",
      openedStore,
      folder,
      copyOf(1)[0].key,
    ]);
    const { milliseconds, memory }: StoreMeasurement = JSON.parse(stdout);
    process.stderr.write(`${purchases} purchases take ${(memory / 2 ** 20).toFixed(0)} MiB of memory\n`);
    return milliseconds;
  };
}

async function postgres(): Promise<Benchmark["subjects"]> {
  if (!hasPostgres) {
    process.stderr.write("PostgreSQL is not installed, and not measured (apt-get install postgresql)\n");
    return {};
  }
  const server = await startPostgres({ fsync: true });
  opened.defer(async () => await server.close());
  const url = server.url("bench");
  const store = await fill(await PostgresStore.open(new Database(url)), few);
  opened.defer(async () => await store.close());
  const start = async () => {
    const began = performance.now();
    const another = await PostgresStore.open(new Database(url));
    await another.get("purchases", copyOf(1)[0].key);
    const milliseconds = performance.now() - began;
    await another.close();
    return milliseconds;
  };
  return { "PostgreSQL, write at 1,000": writing(store), "PostgreSQL, start at 1,000": start };
}

const memory = await fill(openEphemeralStore(), few);
const [small, large] = [await directory(few), await directory(many)];

/** `npm run bench store` */
export const benchmark: Benchmark = {
  title: `A purchase written to the store, median of ${writesPerRound} one after the other, and a start until its first read`,
  baseline: "directory, write at 1,000",
  subjects: {
    "directory, write at 1,000": small.write,
    "directory, write at 100,000": large.write,
    "memory, write at 1,000": writing(memory),
    "directory, start at 1,000": small.start,
    "directory, start at 100,000": large.start,
    ...(await postgres()),
  },
  rounds: 7,
  bars: {
    "directory, write at 100,000": { atMost: 1.2 },
    "directory, start at 100,000": { noMoreThan: 1_000 },
    "PostgreSQL, write at 1,000": { atMost: 4 },
  },
  close: async () => await opened[Symbol.asyncDispose](),
};
