import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BlockChange, ChainChange, ChainSource } from "../../../../server/store/chain-changes.ts";
import {
  newDirectoryStore,
  openDirectoryStore,
  readDirectory,
} from "../../../../server/store/directory/directory-store.ts";
import type { JournaledStore } from "../../../../server/store/journaled/journaled-store.ts";
import type { Store } from "../../../../server/store/store.ts";
import { readLines } from "../../../kit/store-lines.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { holdDisk } from "../directory/held-disk.ts";

/** A chain whose changes a test makes up. */
class MadeUpChain implements ChainSource {
  waiting: ChainChange[] = [];

  async take() {
    return this.waiting.splice(0);
  }

  giveBack(changes: readonly ChainChange[]) {
    this.waiting.unshift(...changes);
  }
}

test("chain records are written before the commits that follow them", async () => {
  const { folder, store, chain } = await openFollowing();
  chain.waiting.push(block(1));
  await put(store, "0x01");
  chain.waiting.push(block(2), call("anvil_setBalance"));
  await put(store, "0x02");
  const kinds = (await readLines(join(folder, "store.journal"))).map((line) => Object.keys(line)[0]);
  expect(kinds).toEqual(["chain", "number", "chain", "chain", "number"]);
  await store.close();
  expect((await readDirectory(folder)).chain).toEqual([block(1), block(2), call("anvil_setBalance")]);
});

test("chain records that the disk refused are written with the next write, together with later ones", async () => {
  const { folder, store, chain } = await openFollowing();
  using disk = await holdDisk();
  chain.waiting.push(block(1));
  const refused = put(store, "0x01");
  (await disk.next()).fail();
  await expect(refused).rejects.toMatchObject({ name: "StoreUnavailableError" });
  disk.release();
  expect(store.chain).toEqual([]);
  chain.waiting.push(block(2));
  await store.recordChain();
  expect(store.chain).toEqual([block(1), block(2)]);
  expect((await readDirectory(folder)).chain).toEqual([block(1), block(2)]);
  await store.close();
});

test("a write in progress is not taken for a change of the store by another process", async () => {
  const { store } = await openFollowing();
  using disk = await holdDisk();
  const written = put(store, "0x01");
  const sync = await disk.next();
  expect(store.isBroken).toBe(false);
  sync.pass();
  disk.release();
  await written;
  await store.close();
});

test("a commit is refused if the chain does not answer, because it may depend on an unknown block", async () => {
  const { store, chain } = await openFollowing();
  chain.take = async () => {
    throw new Error("silence");
  };
  await expect(put(store, "0x01")).rejects.toMatchObject({ name: "StoreUnavailableError" });
  expect(await store.get("used_transactions", "0x01")).toBeUndefined();
  await store.close();
});

test("a restore undoes records and chain atomically, with what waited for a block then, and no move of the clock", async () => {
  const { folder, store, chain } = await openFollowing();
  chain.waiting.push(block(1), { kind: "sent", transaction: "0x01" });
  await put(store, "0x01");
  const image = await store.export();
  const moved: ChainChange = { kind: "clock", offset: 60 };
  chain.waiting.push(block(2), call("anvil_impersonateAccount"), moved, block(3));
  await put(store, "0x02");
  await store.import(image);
  const expected = [block(1), moved];
  expect(store.chain).toEqual(expected);
  const { chain: kept, collections } = await readDirectory(folder);
  expect(kept).toEqual(expected);
  expect(Object.keys(collections.used_transactions ?? {})).toEqual(["0x01"]);
  chain.waiting.push(block(2));
  await put(store, "0x03");
  await store.close();
  expect((await readDirectory(folder)).chain).toEqual([...expected, block(2)]);
});

test("a reorg keeps the record of a transaction that waits for a block", async () => {
  const { store, chain } = await openFollowing();
  const sent: ChainChange = { kind: "sent", transaction: "0x01" };
  chain.waiting.push(block(1), block(2), sent, { kind: "rewind", number: 1, hash: block(1).hash });
  await store.recordChain();
  expect(store.chain).toEqual([block(1), sent]);
  await store.close();
});

test("a missing or duplicate chain record is refused with file, line and byte", async () => {
  const { folder, store, chain } = await openFollowing();
  for (const number of [1, 2, 3]) {
    chain.waiting.push(block(number));
    await store.recordChain();
  }
  const file = join(folder, "store.journal");
  const [first = "", second = "", third = ""] = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, `${first}\n${third}\n`);
  await expect(readDirectory(folder)).rejects.toThrow(
    `${file}, line 2: chain record 3 follows chain record 1 (byte ${first.length + 1}).`,
  );
  await writeFile(file, `${first}\n${second}\n${second}\n`);
  expect((await readDirectory(folder)).chain).toEqual([block(1), block(2)]);
  await store.close();
});

test("a new directory replaces the old one atomically", async () => {
  const parent = await temporaryFolder();
  const folder = join(parent, "store");
  const first = await openDirectoryStore(folder);
  await put(first, "0x01");
  await first.close();
  const fresh = await newDirectoryStore(folder);
  await put(fresh.store, "0x02");
  expect(await keysIn(folder)).toEqual(["0x01"]);
  await cp(folder, join(parent, "before"), { recursive: true });
  await fresh.begin({ seed: "new" }, async (next) => await writeFile(join(next, "chain.json"), "{}"));
  expect(await keysIn(folder)).toEqual(["0x02"]);
  await put(fresh.store, "0x03");
  expect(await keysIn(folder)).toEqual(["0x02", "0x03"]);
  expect(await keysIn(`${folder}.old`)).toEqual(["0x01"]);
  await fresh.keep();
  await fresh.store.close();
  expect(await readdir(parent)).toEqual(["before", "store"]);
  // As a process leaves them that is killed between the two names.
  await rename(folder, `${folder}.next`);
  await rename(join(parent, "before"), `${folder}.old`);
  expect(await keysIn(folder)).toEqual(["0x02", "0x03"]);
  const again = await openDirectoryStore(folder);
  expect(await keysIn(folder)).toEqual(["0x02", "0x03"]);
  await again.close();
  // As one leaves them that is killed before that.
  await mkdir(`${folder}.next`);
  await writeFile(join(`${folder}.next`, "store.json"), "half a store");
  expect(await keysIn(folder)).toEqual(["0x02", "0x03"]);
});

test("a new directory that the disk refuses leaves the old one as it was", async () => {
  const folder = join(await temporaryFolder(), "store");
  const old = await openDirectoryStore(folder);
  await put(old, "0x01");
  await old.close();
  const fresh = await newDirectoryStore(folder);
  await put(fresh.store, "0x02");
  const refused = fresh.begin(null, async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { syscall: "write" });
  });
  await expect(refused).rejects.toMatchObject({ name: "StoreUnavailableError" });
  expect(await keysIn(folder)).toEqual(["0x01"]);
});

async function openFollowing(): Promise<{ folder: string; store: JournaledStore; chain: MadeUpChain }> {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  const chain = new MadeUpChain();
  store.follow(chain);
  return { folder, store, chain };
}

async function keysIn(folder: string): Promise<string[]> {
  return Object.keys((await readDirectory(folder)).collections.used_transactions ?? {});
}

function block(number: number): BlockChange {
  const hash = `0x${number}`;
  const [base_fee, gas_limit, coinbase] = ["0x1", "0x2", "0x3"];
  return { kind: "block", number, hash, timestamp: number, base_fee, gas_limit, coinbase, transactions: [] };
}

function call(method: string): ChainChange {
  return { kind: "call", method, params: [] };
}

async function put(store: Store, key: string): Promise<void> {
  const value = { step: "offer", subject: "x" };
  await store.commit([], () => [{ kind: "put", collection: "used_transactions", key, value }]);
}
