/** Measures a write with few and with many purchases in the store, and in the three stores; and a start. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Hex } from "viem";
import { ClosingStack } from "../../sandbox/lib/closing-stack.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import { openEphemeralStore } from "../../server/store/journaled/ephemeral-store.ts";
import { Database } from "../../server/store/postgres/database.ts";
import { PostgresStore } from "../../server/store/postgres/postgres-store.ts";
import type { PurchaseRecord } from "../../server/store/records.ts";
import type { Store } from "../../server/store/store.ts";
import { hasPostgres, startPostgres } from "../postgres-server.ts";
import { type Benchmark, median } from "./benchmark.ts";
import type { StoreMeasurement } from "./opened-store.ts";
import { purchaseRecord } from "./purchase-record.ts";

const few = 1_000;
const many = 100_000;
const writesPerRound = 300;
const program = "prg_bench";

const opened = new ClosingStack();
const root = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
opened.defer(async () => await rm(root, { recursive: true, force: true }));
let last = 0;

function newPurchase(id: string, hash: Hex): PurchaseRecord {
  return purchaseRecord({
    id,
    program,
    commitment_hash: hash,
    commitment_signature: `0x${"22".repeat(65)}`,
    salt: hash,
    terms: { title: "A course on settlement", sku: "course-42" },
    amount: "1000",
    event_id: `evt_${id}`,
  });
}

/** Writes the records of a new purchase: the purchase, its event and the stored answer, in one commit. */
async function createPurchase(store: Store): Promise<void> {
  last += 1;
  const id = `pur_${last}`;
  const hash: Hex = `0x${last.toString(16).padStart(64, "0")}`;
  const text = JSON.stringify({ id, padding: "x".repeat(1_200) });
  await store.commit([`outbox/${program}`], ([sequence = 0]) => [
    { kind: "insert", collection: "purchases", key: id, value: newPurchase(id, hash) },
    {
      kind: "insert",
      collection: "events",
      key: `evt_${id}`,
      value: {
        id: `evt_${id}`,
        program,
        sequence,
        type: "purchase.created",
        subject: id,
        body: JSON.stringify({ id, hash }),
        body_sha256: hash,
        created_at: 0,
        delivery: "undelivered",
      },
    },
    {
      kind: "insert",
      collection: "idempotency",
      key: `${program}\n${id}`,
      value: { fingerprint: hash, state: "done", subject: null, response: { status: 201, body: text } },
    },
  ]);
}

/** Fills a store, many commits at a time, as fast as its groups go. */
async function fill(store: Store, purchases: number): Promise<Store> {
  for (let made = 0; made < purchases; made += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, purchases - made) }, async () => await createPurchase(store)),
    );
  return store;
}

/** One write after the other; the median in milliseconds. */
function writing(store: Store): () => Promise<number> {
  return async () => {
    const times: number[] = [];
    for (let index = 0; index < writesPerRound; index += 1) {
      const began = performance.now();
      await createPurchase(store);
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
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", openedStore, folder]);
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
    await another.get("purchases", "pur_1");
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
