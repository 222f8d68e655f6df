import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import promises, {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zeroHash } from "viem";
import { expect, onTestFinished, test } from "vitest";
import type { ExplorerChange } from "../../../../sandbox/activity/views.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { verifyDirectory } from "../../../../sandbox/data-directory/verify-directory.ts";
import type { PurchaseView } from "../../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../../sandbox/lib/page.ts";
import { openDirectoryStore, readDirectory } from "../../../../server/store/directory/directory-store.ts";
import type { Store } from "../../../../server/store/store.ts";
import { asOtherUser } from "../../../as-other-user.ts";
import { startSandbox } from "../../../end-to-end/started-sandbox.ts";
import { problem } from "../../../kit/answer.ts";
import { TestKit } from "../../../kit/test-kit.ts";
import { openStream } from "../../../sandbox/explorer/read-stream.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { event, operation, signerOf } from "../contract.ts";
import { holdDisk, listingOf, tearWrites, watchNames } from "./held-disk.ts";

const refusal = { name: "StoreUnavailableError" };

test("a journal is compacted while commits continue without a pause, and nothing of them is lost", async () => {
  const folder = await temporaryFolder();
  const compactAbove = 100_000;
  const store = await openDirectoryStore(folder, compactAbove);
  const snapshots = new Set<number>();
  let duringCompaction = 0;
  let longest = 0;
  let committed = 0;
  // Whenever one ends the next one is in the queue already, so that no moment is quiet.
  const lanes = Array.from({ length: 32 }, async (_, lane) => {
    while (snapshots.size < 4) {
      committed += 1;
      await put(store, `${lane}/${committed}`, "x".repeat(500));
      if (existsSync(join(folder, "store.journal.compacting"))) duringCompaction += 1;
      snapshots.add((await stat(join(folder, "store.json"))).ino);
      longest = Math.max(longest, await lengthOf(join(folder, "store.journal")));
    }
  });
  await Promise.all(lanes);
  expect(duringCompaction).toBeGreaterThan(32);
  const image = await store.export();
  expect(Object.keys(image.collections.used_transactions ?? {})).toHaveLength(committed);
  const { size } = await stat(join(folder, "store.json"));
  expect(longest).toBeLessThan(4 * size + 2 * compactAbove);
  expect(await readDirectory(folder)).toEqual(image);
  await store.close();
  expect(await readDirectory(folder)).toEqual(image);
  expect((await stat(join(folder, "store.journal"))).size).toBe(0);
});

test("a snapshot that cannot be written leaves the journal as it is, and commits continue", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder, 2_000);
  const obstacle = join(folder, "store.json.next");
  await mkdir(obstacle);
  for (let index = 0; index < 50; index += 1) await put(store, String(index), "x".repeat(100));
  expect(existsSync(join(folder, "store.journal.compacting"))).toBe(true);
  expect(await readDirectory(folder)).toEqual(await store.export());
  await rmdir(obstacle);
  for (let index = 50; existsSync(join(folder, "store.journal.compacting")); index += 1)
    await put(store, String(index), "x".repeat(100));
  expect(await readDirectory(folder)).toEqual(await store.export());
  await store.close();
});

test.runIf(existsSync("/dev/full"))(
  "a snapshot that the disk has no room for leaves nothing of itself, and is tried again once the journal has grown by as much",
  async () => {
    const folder = await temporaryFolder();
    const store = await openDirectoryStore(folder, 2_000);
    const [next, aside] = [join(folder, "store.json.next"), join(folder, "store.journal.compacting")];
    let index = 0;
    const putOne = async () => {
      index += 1;
      await put(store, String(index), "x".repeat(100));
    };
    const putUntilGone = async (file: string) => {
      for (let puts = 0; existsSync(file) && puts < 200; puts += 1) await putOne();
      expect(existsSync(file)).toBe(false);
    };
    for (const _ of ["the first time", "the second time"]) {
      // Every write to it fails with ENOSPC.
      await symlink("/dev/full", next);
      await putUntilGone(next);
    }
    await symlink("/dev/full", next);
    for (let more = 0; more < 5; more += 1) await putOne();
    expect(existsSync(next)).toBe(true);
    await rm(next);
    expect(existsSync(aside)).toBe(true);
    await putUntilGone(aside);
    expect(await readDirectory(folder)).toEqual(await store.export());
    await store.close();
  },
);

test("a failed sync refuses its commits, and a new journal is begun before the next write", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder, 1);
  // The journal's next file takes every write, and cannot be synced.
  await symlink("/dev/null", join(folder, "store.journal.next"));
  await put(store, "kept", "1");
  await put(store, "kept, too", "x".repeat(200));
  await expect.poll(() => existsSync(join(folder, "store.journal.next"))).toBe(false);
  const before = await store.export();
  const lost = await Promise.allSettled(["lost", "lost, too"].map(async (key) => await put(store, key, "2")));
  for (const outcome of lost) expect(outcome).toMatchObject({ status: "rejected", reason: refusal });
  expect(await store.export()).toEqual(before);
  await put(store, "after", "3");
  const after = await store.export();
  expect(Object.keys(after.collections.used_transactions ?? {})).toEqual(["kept", "kept, too", "after"]);
  expect(await readDirectory(folder)).toEqual(after);
  expect((await stat(join(folder, "store.journal"))).isFile()).toBe(true);
  await store.close();
});

test("a renamed journal without its new file is not written to again, and no stored data is lost", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder, 2_000);
  const { rename: original } = promises;
  onTestFinished(() => {
    promises.rename = original;
    syncBuiltinESMExports();
  });
  let refused = 0;
  promises.rename = async (from, to) => {
    if (from === join(folder, "store.journal.next") && refused === 0) {
      refused += 1;
      throw new Error("EIO: i/o error, rename");
    }
    await original(from, to);
  };
  syncBuiltinESMExports();
  for (let index = 0; refused === 0; index += 1) await put(store, String(index), "x".repeat(100));
  for (const key of ["first", "second", "third"]) {
    await put(store, key, "after");
    // As a process leaves it that is killed now.
    expect(await readDirectory(folder)).toEqual(await store.export());
  }
  expect((await readdir(folder)).sort()).toEqual(["store.journal", "store.json"]);
  await store.close();
});

test("the names of the files that a write is in are on disk before it is acknowledged", async () => {
  const folder = await temporaryFolder();
  await (await openDirectoryStore(folder)).close();
  // As a process leaves it that is killed while it puts the journal aside.
  await rename(join(folder, "store.journal"), join(folder, "store.journal.compacting"));
  await writeFile(join(folder, "store.journal.next"), "");
  using names = await watchNames(folder);
  const store = await openDirectoryStore(folder, 2_000);
  expect(names.synced.at(-1)).toEqual(await listingOf(folder));
  await store.close();
  await rm(join(folder, "store.journal.compacting"));

  const compacting = await openDirectoryStore(folder, 2_000);
  // The snapshot cannot be written, so that nothing but the journal itself has its name synced.
  await mkdir(join(folder, "store.json.next"));
  for (let index = 0; !existsSync(join(folder, "store.journal.compacting")); index += 1)
    await put(compacting, String(index), "x".repeat(100));
  await put(compacting, "acknowledged", "");
  expect(names.synced.at(-1)).toMatchObject(await filesOf(folder));
  await rmdir(join(folder, "store.json.next"));
  await compacting.close();

  const repaired = await openDirectoryStore(folder);
  using disk = await holdDisk();
  const refused = put(repaired, "refused", "");
  (await disk.next()).fail();
  await expect(refused).rejects.toMatchObject(refusal);
  disk.release();
  await put(repaired, "acknowledged, too", "");
  expect(names.synced.at(-1)).toMatchObject(await filesOf(folder));
  await repaired.close();
});

test("the name of a snapshot is on disk before the journal that it replaces is gone", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  await put(store, "kept", "1");
  const before = await filesOf(folder);
  using names = await watchNames(folder);
  await store.import(await store.export());
  const after = await filesOf(folder);
  expect(after).not.toMatchObject({ "store.json": before["store.json"] });
  expect(names.synced).toMatchObject([{ ...before, "store.json": after["store.json"] }, after]);
  await store.close();
});

test("the content of a snapshot is on disk before it gets the name of the one that it replaces", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  await put(store, "kept", "x".repeat(500));
  const before = await listingOf(folder);
  using names = await watchNames(folder);
  await store.import(await store.export());
  const after = await listingOf(folder);
  expect(names.written).toEqual([
    {
      ino: after["store.json"],
      size: await lengthOf(join(folder, "store.json")),
      listed: { ...before, "store.json.next": after["store.json"] },
    },
  ]);
  await store.close();
});

test("the names of the files that a sandbox continues with are on disk once it has started, and that its start has succeeded", async () => {
  const dataDirectory = await temporaryFolder();
  using names = await watchNames(dataDirectory);
  await using _sandbox = await createSandbox({ dataDirectory });
  const there = await listingOf(dataDirectory);
  expect(Object.keys(there).sort()).toEqual([".env", "lock.json", "sandbox.json", "store"]);
  expect(names.synced.at(-1)).toEqual(there);
});

test("reads return only what is on disk, whatever writes are in progress", async () => {
  const store = await openDirectoryStore(await temporaryFolder());
  await put(store, "changed", "before");
  await put(store, "removed", "before");
  using disk = await holdDisk();
  const look = async () => [
    await store.get("used_transactions", "changed"),
    await store.get("used_transactions", "removed"),
    (await store.list("used_transactions", {})).map(({ key }) => key),
    (await store.list("events", { program: "prg_disk" })).map(({ value }) => value.sequence),
    (await store.ordered("operations_by_sequence", ["prg_disk"])).map(({ key }) => key),
  ];
  const before = await look();
  const written = store.commit(["outbox/prg_disk"], ([sequence = 0]) => [
    { kind: "put", collection: "used_transactions", key: "changed", value: { step: "", subject: "after" } },
    { kind: "delete", collection: "used_transactions", key: "removed" },
    event("evt_1", "prg_disk", sequence),
    operation("prg_disk", 1, "accepted", null),
  ]);
  const sync = await disk.next();
  expect(await look()).toEqual(before);
  sync.pass();
  await written;
  expect(await look()).toEqual([
    { key: "changed", value: { step: "", subject: "after" }, revision: 2 },
    undefined,
    ["changed"],
    [1],
    ["op_prg_disk_1"],
  ]);
  disk.release();
  await store.close();
});

test("a write that the disk refuses is never read, and writes that arrived meanwhile are refused with it", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  await put(store, "kept", "before");
  const before = await store.export();
  const look = async () => [
    await store.get("used_transactions", "kept"),
    await store.list("used_transactions", {}),
    await store.list("events", {}),
  ];
  const seen = await look();
  using disk = await holdDisk();
  const count = async (key: string) =>
    await store.commit(["outbox/prg_disk"], ([sequence = 0]) => [event(key, "prg_disk", sequence)]);
  const refused = [put(store, "kept", "lost"), count("lost")];
  const sync = await disk.next();
  refused.push(put(store, "late", "lost"), count("late"));
  expect(await look()).toEqual(seen);
  sync.fail();
  for (const outcome of await Promise.allSettled(refused))
    expect(outcome).toMatchObject({ status: "rejected", reason: refusal });
  expect(await look()).toEqual(seen);
  expect(await store.export()).toEqual(before);
  // Nor by a process that takes over from one which is killed now.
  expect(await readDirectory(folder)).toEqual(before);
  disk.release();
  await count("kept");
  expect((await store.list("events", {})).map(({ key, value }) => [key, value.sequence])).toEqual([
    ["kept", 1],
  ]);
  expect(await readDirectory(folder)).toEqual(await store.export());
  await store.close();
});

test("a write that the disk refuses right after a repair is never read, and leaves the journal as the repair began it", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  await put(store, "kept", "x".repeat(500));
  const before = await store.export();
  using disk = await holdDisk();
  for (const key of ["lost", "lost right after the repair"]) {
    const refused = put(store, key, "");
    (await disk.next()).fail();
    await expect(refused).rejects.toMatchObject(refusal);
    expect(await readDirectory(folder)).toEqual(before);
  }
  expect(await lengthOf(join(folder, "store.journal"))).toBe(0);
  disk.release();
  await put(store, "after", "");
  expect(await readDirectory(folder)).toEqual(await store.export());
  await store.close();
});

test("a write that the disk refuses right after the journal was renamed is never read", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder, 2_000);
  // The snapshot cannot be written, so that the journal stays aside.
  await mkdir(join(folder, "store.json.next"));
  for (let index = 0; !existsSync(join(folder, "store.journal.compacting")); index += 1)
    await put(store, String(index), "x".repeat(100));
  await put(store, "kept", "");
  const before = await store.export();
  using disk = await holdDisk();
  const refused = put(store, "lost", "");
  (await disk.next()).fail();
  await expect(refused).rejects.toMatchObject(refusal);
  expect(await readDirectory(folder)).toEqual(before);
  disk.release();
  await rmdir(join(folder, "store.json.next"));
  await put(store, "after", "");
  expect(await readDirectory(folder)).toEqual(await store.export());
  await store.close();
});

test("data that a killed process had written is on disk before the store opens again", async () => {
  const [before, folder] = [await temporaryFolder(), await temporaryFolder()];
  const killed = await openDirectoryStore(before);
  await put(killed, "written", "");
  await cp(before, folder, { recursive: true });
  await killed.close();
  using disk = await holdDisk();
  const opening = openDirectoryStore(folder);
  const first = await Promise.race([disk.next().then(() => "synced"), opening.then(() => "opened")]);
  expect(first).toBe("synced");
  disk.release();
  const store = await opening;
  expect(await store.get("used_transactions", "written")).toMatchObject({ revision: 1 });
  await store.close();
});

test("a write that the disk took a part of is cut off, and that is on disk before the write is refused", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  await put(store, "kept", "");
  const before = await store.export();
  const bytes = await lengthOf(join(folder, "store.journal"));
  using disk = await holdDisk();
  const tear = await tearWrites();
  const outcome = put(store, "lost", "x".repeat(100)).catch((error) => error.name);
  const first = await Promise.race([disk.next().then(() => "synced"), outcome]);
  tear[Symbol.dispose]();
  expect(first).toBe("synced");
  expect(await lengthOf(join(folder, "store.journal"))).toBe(bytes);
  disk.release();
  expect(await outcome).toBe(refusal.name);
  expect(await readDirectory(folder)).toEqual(before);
  await put(store, "after", "");
  expect(await readDirectory(folder)).toEqual(await store.export());
  await store.close();
});

test("a number is not assigned twice when the commit of another number is refused", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  using disk = await holdDisk();
  expect(await store.next("mer")).toBe(1);
  const refused = put(store, "refused", "lost");
  (await disk.next()).fail();
  await expect(refused).rejects.toMatchObject(refusal);
  disk.release();
  await put(store, "made with 1", "kept");
  await store.close();
  const again = await openDirectoryStore(folder);
  expect(await again.next("mer")).toBe(2);
  await again.close();
});

test("commits that arrive during a sync share the next sync", async () => {
  const store = await openDirectoryStore(await temporaryFolder());
  using disk = await holdDisk();
  const first = put(store, "first", "1");
  const sync = await disk.next();
  const others = Array.from({ length: 50 }, async (_, index) => await put(store, `other-${index}`, "1"));
  sync.pass();
  (await disk.next()).pass();
  await Promise.all([first, ...others]);
  expect(disk.asked()).toBe(2);
  await store.close();
});

test("a commit that conflicts with a write in progress fails once that write can be read", async () => {
  const store = await openDirectoryStore(await temporaryFolder());
  const insert = async (subject: string) =>
    await store.commit([], () => [
      { kind: "insert", collection: "used_transactions", key: "0x01", value: { step: "", subject } },
    ]);
  const read = async () => (await store.get("used_transactions", "0x01"))?.value.subject;
  using disk = await holdDisk();
  const order: string[] = [];
  const won = insert("won").then(() => order.push("won"));
  const lost = insert("lost").catch(async (error) => order.push(error.name, String(await read())));
  const sync = await disk.next();
  await read();
  expect(order).toEqual([]);
  sync.pass();
  await Promise.all([won, lost]);
  expect(order.toSorted()).toEqual(["StoreConflictError", "won", "won"]);
  disk.release();
  await store.close();
});

test("a record that two commits change is compared with the later one until that is on disk too", async () => {
  const store = await openDirectoryStore(await temporaryFolder());
  const change = async (subject: string, revision: number) =>
    await store.commit([], () => [
      {
        kind: "update",
        collection: "used_transactions",
        key: "0x01",
        value: { step: "", subject },
        revision,
      },
    ]);
  await put(store, "0x01", "1");
  using disk = await holdDisk();
  const second = change("2", 1);
  const sync = await disk.next();
  const third = change("3", 2);
  sync.pass();
  await second;
  const late = await disk.next();
  const conflict = { name: "StoreConflictError", collection: "used_transactions", key: "0x01" };
  const outdated = expect(change("lost", 2)).rejects.toMatchObject(conflict);
  const fourth = change("4", 3);
  late.pass();
  disk.release();
  await Promise.all([third, outdated, fourth]);
  expect(await store.get("used_transactions", "0x01")).toEqual({
    key: "0x01",
    value: { step: "", subject: "4" },
    revision: 4,
  });
  await store.close();
});

test("an ordered read of writes in progress has each record once, in its new state", async () => {
  const store = await openDirectoryStore(await temporaryFolder());
  for (const sequence of [1, 2, 3])
    await store.commit([], () => [operation("prg_disk", sequence, "accepted", null)]);
  using disk = await holdDisk();
  const written = store.commit([], () => [operation("prg_disk", 2, "signed", 7)]);
  const sync = await disk.next();
  const read = async (...parts: Parameters<Store["ordered"]>) =>
    (await store.ahead().ordered(...parts)).map(({ value }) => [value.sequence, value.nonce]);
  expect(await read("operations_by_sequence", ["prg_disk"])).toEqual([
    [1, null],
    [2, 7],
    [3, null],
  ]);
  expect(await read("operations_by_status", ["prg_disk", "accepted"], { limit: 2 })).toEqual([
    [1, null],
    [3, null],
  ]);
  expect(await read("operations_by_status", ["prg_disk", "signed"])).toEqual([[2, 7]]);
  sync.pass();
  disk.release();
  await written;
  await store.close();
});

test("a commit that lost to a write that the disk refuses can be repeated", async () => {
  const store = await openDirectoryStore(await temporaryFolder());
  const insert = async (subject: string) =>
    await store.commit([], () => [
      { kind: "insert", collection: "used_transactions", key: "0x01", value: { step: "", subject } },
    ]);
  using disk = await holdDisk();
  const outcomes = Promise.allSettled([insert("refused"), insert("lost")]);
  (await disk.next()).fail();
  expect(await outcomes).toMatchObject([
    { status: "rejected", reason: refusal },
    {
      status: "rejected",
      reason: { name: "StoreConflictError", collection: "used_transactions", key: "0x01" },
    },
  ]);
  disk.release();
  await insert("again");
  expect((await store.get("used_transactions", "0x01"))?.value.subject).toBe("again");
  await store.close();
});

test("a write that is based on a write in progress is refused if that write is", async () => {
  const store = await openDirectoryStore(await temporaryFolder());
  const relayed = async (sequence: number, { commit }: Pick<Store, "commit">) =>
    await commit([], () => [operation("prg_disk", sequence, "signed", sequence)]);
  const last = async ({ ordered }: Pick<Store, "ordered">) =>
    (await ordered("operations_by_nonce", [signerOf("prg_disk"), zeroHash], { reverse: true, limit: 1 }))[0]
      ?.value.nonce;
  await relayed(1, store.ahead());
  using disk = await holdDisk();
  const refused = relayed(2, store.ahead());
  const ahead = store.ahead();
  expect(await last(ahead)).toBe(2);
  expect((await ahead.get("operations", "op_prg_disk_2"))?.revision).toBe(1);
  const sync = await disk.next();
  const behind = relayed(3, ahead);
  expect(await last(store.ahead())).toBe(3);
  sync.fail();
  for (const outcome of await Promise.allSettled([refused, behind, relayed(4, ahead)]))
    expect(outcome).toMatchObject({ status: "rejected", reason: refusal });
  disk.release();
  await expect(relayed(4, ahead)).rejects.toMatchObject(refusal);
  expect(await last(store.ahead())).toBe(1);
  await relayed(2, store.ahead());
  const kept = await store.ordered("operations_by_nonce", [signerOf("prg_disk"), zeroHash]);
  expect(kept.map(({ value }) => value.nonce)).toEqual([1, 2]);
  await store.close();
});

test("during a write, the API and the explorer show the previous state, even if the disk refuses the write", async () => {
  await using kit = await TestKit.open({ dataDirectory: await temporaryFolder() });
  const { control } = kit.sandbox.description.urls;
  const purchase = await kit.createPurchase(await kit.enrolledMerchant());
  const transaction_hash = await kit.act("merchant", "purchase", purchase.id, "register");
  const register = async () =>
    await kit.post(
      kit.path(`/purchases/${purchase.id}/registration`),
      { transaction_hash },
      { "Idempotency-Key": "register-1" },
    );
  const look = async () => {
    const read = await kit.get(kit.path(`/purchases/${purchase.id}`));
    const listed = await fetch(`${control}/explorer/purchases`);
    const { data }: ViewPage<PurchaseView> = JSON.parse(await listed.text());
    return [JSON.parse(read.text).status, data.map(({ status }) => status)];
  };
  const stream = await openStream(`${control}/stream`);
  onTestFinished(() => stream.close());
  using disk = await holdDisk();
  const answer = register();
  const sync = await disk.next();
  expect(await look()).toEqual(["created", ["created"]]);
  sync.fail();
  const refused = await answer;
  expect([refused.status, problem(refused).code]).toEqual([503, "storage_unavailable"]);
  expect(await look()).toEqual(["created", ["created"]]);
  disk.release();
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
  // The refused write is not among the reported changes until then.
  const told = new Set<string>();
  while (!told.has("faults")) {
    const message = await stream.next(({ event }) => event === "change");
    const change: ExplorerChange = JSON.parse(message?.data ?? "");
    for (const topic of change.topics) told.add(topic);
  }
  expect([...told]).not.toContain("purchases");
  expect((await register()).status).toBe(200);
  expect(await look()).toEqual(["active", ["active"]]);
  expect((await stream.change("purchases")).purchases).toEqual([purchase.id]);
});

test("a relayed operation is listed when it is on disk, and its budget is reserved then", async () => {
  await using kit = await TestKit.open({ dataDirectory: await temporaryFolder() });
  const purchase = await kit.createPurchase(await kit.enrolledMerchant());
  const activate = async () =>
    await kit.post(
      kit.path(`/purchases/${purchase.id}/activate`),
      { commitment_hash: purchase.commitment.hash },
      { "Idempotency-Key": "activate-1" },
    );
  const look = async () => (await kit.get(kit.path("/transactions"))).text;
  const before = await look();
  using disk = await holdDisk();
  const answer = activate();
  // The key is in progress, then the operation is accepted.
  (await disk.next()).pass();
  const sync = await disk.next();
  expect(await look()).toBe(before);
  sync.fail();
  expect((await answer).status).toBe(503);
  expect(await look()).toBe(before);
  disk.release();
  expect((await activate()).status).toBe(200);
  expect(JSON.parse(await look()).data).toHaveLength(1);
});

test("a data directory that this user may not write to is refused with a sentence that says so", async () => {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-store-"));
  onTestFinished(async () => {
    await chmod(folder, 0o700);
    await rm(folder, { recursive: true });
  });
  await (await openDirectoryStore(folder)).close();
  await chmod(folder, 0o500);
  await chmod(join(folder, "store.journal"), 0o400);
  await asOtherUser([], async () => {
    await expect(openDirectoryStore(folder)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringMatching(
        /^The store in .* cannot be opened: this user has no permission \(EACCES.*\)\. Make it writable/,
      ),
    });
  });
});

const fullDisk = mountable();
test.skipIf(!fullDisk)(
  "a full disk is answered 503, loses nothing that was acknowledged, and is written to again once there is room (needs root, to mount one)",
  async () => {
    const disk = await temporaryFolder();
    mount(disk);
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
    const folder = join(disk, "data");
    const sandbox = await startSandbox(folder);
    const { urls, accounts } = sandbox.description;
    const create = async (reference: string) => {
      const program = accounts[0]?.program;
      const { credential } = JSON.parse(issued);
      return await fetch(`${urls.api}/v1/routing/programs/${program}/merchants`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${credential}`,
          "Content-Type": "application/json",
          "Idempotency-Key": `full-disk-${reference}`,
        },
        body: JSON.stringify({
          name: "Full disk",
          wallet: `0x${reference.padStart(40, "0")}`,
          funding_cap: "1",
        }),
      });
    };
    const issued = await issue(urls.api, accounts[0]?.key ?? "");
    const acknowledged: { reference: string; text: string }[] = [];
    const refused: string[] = [];
    const { bavail, bsize } = await statfs(disk);
    await writeFile(join(disk, "filler"), Buffer.alloc(bavail * bsize - 140_000));
    for (let index = 1; refused.length < 5; index += 1) {
      const reference = String(index);
      const response = await create(reference);
      const text = await response.text();
      expect([201, 503]).toContain(response.status);
      if (response.status === 201) acknowledged.push({ reference, text });
      else {
        expect(JSON.parse(text)).toMatchObject({ code: "storage_unavailable" });
        expect(response.headers.get("retry-after")).toBe("1");
        refused.push(reference);
      }
    }
    expect(acknowledged.length).toBeGreaterThan(3);
    await truncate(join(disk, "filler"), 0);
    for (const reference of refused) {
      const response = await create(reference);
      expect(response.status).toBe(201);
      acknowledged.push({ reference, text: await response.text() });
    }
    await sandbox.end("SIGKILL");
    await using again = await startSandbox(folder);
    urls.api = again.description.urls.api;
    for (const { reference, text } of acknowledged) {
      const response = await create(reference);
      expect(response.headers.get("idempotent-replayed")).toBe("true");
      expect(await response.text()).toBe(text);
    }
  },
);

/** Returns the files that the names of snapshot and journal refer to. */
async function filesOf(folder: string) {
  const { "store.json": snapshot, "store.journal": journal } = await listingOf(folder);
  return { "store.json": snapshot, "store.journal": journal };
}

/** 0 in the moment in which one journal takes the place of another. */
async function lengthOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

async function issue(api: string, key: string): Promise<string> {
  const response = await fetch(`${api}/v1/routing/access`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: "{}",
  });
  return await response.text();
}

async function put(store: Store, key: string, subject: string): Promise<void> {
  const value = { step: "offer", subject };
  await store.commit([], () => [{ kind: "put", collection: "used_transactions", key, value }]);
}

test.skipIf(!fullDisk)(
  "data verify reads a directory on a read-only disk (needs root, to mount one)",
  async () => {
    const [folder, disk] = [await temporaryFolder(), await temporaryFolder()];
    execFileSync("mount", ["--bind", folder, disk]);
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
    execFileSync("mount", ["-o", "remount,bind,ro", disk]);
    await using sandbox = await createSandbox({ dataDirectory: join(folder, "data") });
    const { number } = await sandbox.chain.client.getBlock();
    const verify = async () => await verifyDirectory(join(disk, "data"));
    await expect(verify()).rejects.toMatchObject({ code: "data_directory_in_use" });
    await sandbox.chain.client.mine({ blocks: 2 });
    const { hash } = await sandbox.chain.client.getBlock();
    await sandbox.close();
    expect(await verify()).toMatchObject({ head: { number: Number(number) + 2, hash } });
  },
);

function mount(folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], { stdio: "ignore" });
}

function mountable(): boolean {
  try {
    mount("/mnt");
    execFileSync("umount", ["/mnt"]);
    return true;
  } catch {
    return false;
  }
}
