/**
 * A process of the benchmark `memory`, which prints one number: `node --expose-gc memory-host.ts` with
 * - `bare`: the memory of a bare Express and a bare Anvil, in MiB;
 * - `stored <number> <folder>`: of a sandbox with so many purchases in its store, which it leaves in the folder, and of its Anvil;
 * - `start 0 <folder>`: the milliseconds of a start in that folder;
 * - `chain <number> <folder>`: the memory of the Anvil of a sandbox with so many purchases that are paid on chain, which it leaves in the folder;
 * - `again <states> <folder>`: of a bare Anvil that has mined the blocks of that folder again, and keeps so many states.
 */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import express from "express";
import { maxUint256 } from "viem";
import { toNode } from "../../relayer/node/node.ts";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { nodeSocket } from "../../sandbox/chain/client/node-socket.ts";
import { chainId, genesisTimestamp, walletNames } from "../../sandbox/chain/genesis/roles.ts";
import { replay } from "../../sandbox/chain/journal/replay.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { readDirectory } from "../../server/store/directory/directory-store.ts";
import type { Collections } from "../../server/store/records.ts";
import type { Stored } from "../../server/store/store.ts";
import { elapsed } from "./benchmark.ts";

/** The time after which V8 has given pages that it no longer needs back to the operating system, in milliseconds. */
const idle = 12_000;

/** The records of a created purchase in the store: its own, its event and its stored answer. */
type PurchaseRecords = [
  purchase: Stored<Collections["purchases"]>,
  event: Stored<Collections["events"]>,
  answer: Stored<Collections["idempotency"]>,
];

/** Returns the resident memory of processes after a garbage collection and a pause, in MiB. Linux only. */
async function weigh(...pids: readonly number[]): Promise<number> {
  globalThis.gc?.();
  globalThis.gc?.();
  await setTimeout(idle);
  let sum = 0;
  for (const pid of pids)
    sum += Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
  return sum;
}

/** Creates a purchase and puts copies of its records into the store, each with hashes, signatures, ids and a key of its own. */
async function fill({ store, given }: Sandbox, count: number): Promise<void> {
  const { id, event_id } = (await given.purchase({ state: "created" })).purchase;
  const purchase = await store.get("purchases", id);
  const event = await store.get("events", event_id);
  const answers = await store.list("idempotency", {});
  const answer = answers.find(({ value }) => value.response?.body.includes(event_id));
  if (purchase === undefined || event === undefined || answer === undefined)
    throw new Error("A created purchase has a record, an event and a stored answer.");
  const original = JSON.stringify([purchase, event, answer]);
  const own = new RegExp(
    ["0x[0-9a-f]{64,}", id, event_id, answer.key.slice(answer.key.indexOf("\n") + 1)].join("|"),
    "g",
  );
  const writes: Promise<unknown>[] = [];
  for (let copy = 1; copy < count; copy += 1) {
    const records: PurchaseRecords = JSON.parse(original.replaceAll(own, (one) => randomLike(one, copy)));
    const [purchases, events, idempotency] = records;
    writes.push(
      store.commit([], () => [
        { kind: "put", collection: "purchases", ...purchases },
        { kind: "put", collection: "events", ...events },
        { kind: "put", collection: "idempotency", ...idempotency },
      ]),
    );
    if (writes.length === 1_000) await Promise.all(writes.splice(0));
  }
  await Promise.all(writes);
}

/** Returns hexadecimal digits as long as a text, after its prefix; equal texts and numbers give equal ones. */
function randomLike(text: string, copy: number): string {
  const prefix = /^(?:0x|[a-z]+_)?/.exec(text)?.[0] ?? "";
  return (
    prefix +
    hash("sha512", `${copy}/${text}`)
      .repeat(2)
      .slice(0, text.length - prefix.length)
  );
}

async function weighBare(): Promise<number> {
  await using anvil = await startAnvil();
  const server = express().listen(0, "127.0.0.1");
  const memory = await weigh(process.pid, anvil.pid);
  server.close();
  return memory;
}

async function weighStored(count: number, dataDirectory: string): Promise<number> {
  await using sandbox = await createSandbox({ seed: "bench", dataDirectory });
  if (count > 0) await fill(sandbox, count);
  return await weigh(process.pid, sandbox.chain.anvil.pid);
}

async function timeStart(dataDirectory: string): Promise<number> {
  await using opened = new AsyncDisposableStack();
  return await elapsed(async () => opened.use(await createSandbox({ seed: "bench", dataDirectory })));
}

async function weighChain(purchases: number, dataDirectory: string): Promise<number> {
  await using sandbox = await createSandbox({ seed: "bench", dataDirectory, gasBudgetWei: maxUint256 });
  for (let made = 0; made < purchases; made += 1) await sandbox.given.purchase({ state: "paid" });
  return await weigh(sandbox.chain.anvil.pid);
}

async function weighAgain(keptStates: number, dataDirectory: string): Promise<number> {
  const store = join(dataDirectory, "store");
  const { chain = [] } = await readDirectory(store);
  const initialState = join(store, "chain.json");
  const unlocked = walletNames.length;
  await using anvil = await startAnvil({ chainId, genesisTimestamp, initialState, unlocked, keptStates });
  const socket = nodeSocket(anvil.url);
  const { request } = createChainClient(anvil.url, socket.transport);
  await replay(toNode(request), chain, { position: 0, made() {}, searches: true, folder: store });
  const memory = await weigh(anvil.pid);
  socket.close();
  return memory;
}

const measurements: { readonly [what: string]: (number: number, folder: string) => Promise<number> } = {
  bare: weighBare,
  stored: weighStored,
  start: async (_, folder) => await timeStart(folder),
  chain: weighChain,
  again: weighAgain,
};
const [what = "", number, folder = ""] = process.argv.slice(2);
console.log(await measurements[what]?.(Number(number), folder));
