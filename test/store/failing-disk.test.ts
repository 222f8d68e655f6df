import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, rmdir, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDirectoryStore, readDirectory } from "../../server/store/directory.ts";
import type { Store } from "../../server/store/store.ts";
import { startSandbox } from "../end-to-end/started-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const refusal = { name: "StoreUnavailableError" };

test("a journal is folded while commits go on without a pause, and nothing of them is lost", async () => {
  const folder = await temporaryFolder();
  const foldAbove = 100_000;
  const store = await openDirectoryStore(folder, foldAbove);
  const snapshots = new Set<number>();
  let duringFold = 0;
  let longest = 0;
  let committed = 0;
  // Whenever one ends the next one is in the queue already, so that no moment is quiet.
  const lanes = Array.from({ length: 32 }, async (_, lane) => {
    while (snapshots.size < 4) {
      committed += 1;
      await put(store, `${lane}/${committed}`, "x".repeat(500));
      if (existsSync(join(folder, "store.journal.folding"))) duringFold += 1;
      snapshots.add((await stat(join(folder, "store.json"))).ino);
      longest = Math.max(longest, await lengthOf(join(folder, "store.journal")));
    }
  });
  await Promise.all(lanes);
  expect(duringFold).toBeGreaterThan(32);
  const image = await store.export();
  expect(Object.keys(image.collections.used_transactions ?? {})).toHaveLength(committed);
  const { size } = await stat(join(folder, "store.json"));
  expect(longest).toBeLessThan(4 * size + 2 * foldAbove);
  expect(await readDirectory(folder)).toEqual(image);
  await store.close();
  expect(await readDirectory(folder)).toEqual(image);
  expect((await stat(join(folder, "store.journal"))).size).toBe(0);
});

test("a snapshot that cannot be written leaves the journal as it is, and commits go on", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder, 2_000);
  const obstacle = join(folder, "store.json.next");
  await mkdir(obstacle);
  for (let index = 0; index < 50; index += 1) await put(store, String(index), "x".repeat(100));
  expect(existsSync(join(folder, "store.journal.folding"))).toBe(true);
  expect(await readDirectory(folder)).toEqual(await store.export());
  await rmdir(obstacle);
  for (let index = 50; existsSync(join(folder, "store.journal.folding")); index += 1)
    await put(store, String(index), "x".repeat(100));
  expect(await readDirectory(folder)).toEqual(await store.export());
  await store.close();
});

test("a sync that fails refuses its commits for good, and the journal is begun anew before anything else is kept", async () => {
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

test("a data directory that this user may not write to is refused with a sentence that says so", async () => {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-store-"));
  onTestFinished(async () => await rm(folder, { recursive: true }));
  await (await openDirectoryStore(folder)).close();
  await chmod(folder, 0o500);
  await chmod(join(folder, "store.journal"), 0o400);
  await asNobody(async () => {
    await expect(openDirectoryStore(folder)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringMatching(/^The store in .* cannot be opened: EACCES.*\. Make it writable/),
    });
  });
});

const fullDisk = mountable();
test.skipIf(!fullDisk)(
  "a full disk is answered 503, loses nothing that was acknowledged, and is written to again once there is room (needs root, to mount one)",
  { timeout: 60_000 },
  async () => {
    const folder = await temporaryFolder();
    const disk = join(folder, "store");
    await mkdir(disk);
    mount(disk);
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
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
    await writeFile(join(disk, "filler"), Buffer.alloc(900_000));
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

/** Root may write everywhere, nobody may not. */
async function asNobody(step: () => Promise<void>): Promise<void> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    await step();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

function mount(folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
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
