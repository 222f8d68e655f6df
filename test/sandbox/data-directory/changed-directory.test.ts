import { execFileSync } from "node:child_process";
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { lockDataDirectory, takingMs } from "../../../sandbox/data-directory/lock.ts";
import { SandboxError } from "../../../sandbox/lib/errors/sandbox-error.ts";
import { readDirectory } from "../../../server/store/directory/directory-store.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { writeMerchant } from "./write-merchant.ts";

/** Starts a sandbox in a directory whose lock is removed; a sandbox that runs there may write it again first. */
async function startWithoutLock(dataDirectory: string): Promise<Sandbox> {
  for (;;) {
    await rm(join(dataDirectory, "lock.json"), { force: true });
    const sandbox = await createSandbox({ dataDirectory }).catch((error: unknown) => {
      if (!(error instanceof SandboxError && error.code === "data_directory_in_use")) throw error;
    });
    if (sandbox !== undefined) return sandbox;
  }
}

/** Makes sure that a start finds acknowledged writes, if the process is killed now. */
async function expectKept(dataDirectory: string, ids: readonly (string | null)[]): Promise<void> {
  const { collections } = await readDirectory(join(dataDirectory, "store"));
  for (const id of ids) expect(collections.merchants?.[`${id}`]?.value).toMatchObject({ id });
}

describe("what is changed under a running sandbox is written again, and nothing acknowledged is lost:", () => {
  const changes: readonly ((journal: string) => Promise<unknown>)[] = [
    async (journal) => await rm(journal),
    async (journal) => await truncate(journal),
    async (journal) => await truncate(journal, 100),
    async (journal) => await appendFile(journal, "x"),
    async (journal) => {
      await rm(journal);
      await writeFile(journal, "");
    },
    async (journal) => await rm(journal.replace("journal", "json")),
    async (journal) => await truncate(journal.replace("journal", "json")),
    async (journal) => await writeFile(journal.replace("journal", "json"), "{}"),
    async (journal) => {
      for (const file of [journal, journal.replace("journal", "json")]) await rm(file);
    },
  ];

  test("files of the store, before the next write", { tags: "thorough" }, async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const written = [await writeMerchant(sandbox)];
    for (const change of changes) {
      await change(join(dataDirectory, "store", "store.journal"));
      written.push(await writeMerchant(sandbox), await writeMerchant(sandbox));
      await expectKept(dataDirectory, written);
    }
  });

  test("files of the store, without a write", { tags: "thorough" }, async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const id = await writeMerchant(sandbox);
    const chain = join(dataDirectory, "store", "chain.json");
    const began = await readFile(chain);
    await truncate(join(dataDirectory, "store", "store.journal"));
    await expect.poll(async () => await expectKept(dataDirectory, [id])).toBeUndefined();
    await rm(chain);
    await expect.poll(async () => await readFile(chain).catch(() => null)).toEqual(began);
  });

  test("a lock", async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const lock = join(dataDirectory, "lock.json");
    const before = await readFile(lock, "utf8");
    for (const content of [null, "", '{"pid":"1"}', "x".repeat(1_000_000)]) {
      if (content === null) await rm(lock);
      else await writeFile(lock, content);
      expect(await writeMerchant(sandbox)).not.toBeNull();
      expect(await readFile(lock, "utf8")).toBe(before);
    }
    await rm(lock);
    await expect.poll(async () => await readFile(lock, "utf8").catch(() => null)).toBe(before);
    await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({ code: "data_directory_in_use" });
  });

  test("a directory in the place of a file of the store, once it is gone; GET /health names it", async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const file = join(dataDirectory, "store", "store.json");
    await rm(file);
    await mkdir(file);
    expect(await writeMerchant(sandbox)).toBeNull();
    const health = async () => await fetch(`${sandbox.description.urls.control}/health`);
    expect(await (await health()).json()).toMatchObject({
      code: "unhealthy",
      detail:
        "No response from store. Check that files can be written in its data directory, and send the request again.",
    });
    await rmdir(file);
    expect(await writeMerchant(sandbox)).not.toBeNull();
    expect((await health()).status).toBe(200);
  });

  test.skipIf(process.platform === "win32")("a pipe in the place of the lock, once it is gone", async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const lock = join(dataDirectory, "lock.json");
    await rm(lock);
    execFileSync("mkfifo", [lock]);
    expect(await writeMerchant(sandbox)).toBeNull();
    await rm(lock);
    expect(await writeMerchant(sandbox)).not.toBeNull();
  });
});

describe("a sandbox that no longer has its data directory refuses writes, says why, and changes nothing in it:", () => {
  test("it is moved away with all acknowledged writes, and nothing is written meanwhile", {
    tags: "thorough",
  }, async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    const sandbox = await createSandbox({ dataDirectory });
    const id = await writeMerchant(sandbox);
    await rename(dataDirectory, `${dataDirectory}.moved`);
    expect(await sandbox.ended).toContain(`${dataDirectory} was removed, moved or replaced`);
    await expect(sandbox.close()).rejects.toThrow(`${dataDirectory} was removed, moved or replaced`);
    await expectKept(`${dataDirectory}.moved`, [id]);
  });

  test("another one was started in it after its lock was removed, and no write of either is lost", async () => {
    const dataDirectory = await temporaryFolder();
    const first = await createSandbox({ dataDirectory });
    const written = [await writeMerchant(first), await writeMerchant(first)];
    const second = await startWithoutLock(dataDirectory);
    // Each waits for the disk while the other writes.
    const [refused, ...both] = await Promise.all([
      writeMerchant(first),
      writeMerchant(second),
      writeMerchant(second),
    ]);
    expect(refused).toBeNull();
    written.push(...both);
    expect(await first.ended).toContain(
      `Process ${process.pid} has taken ${dataDirectory} from this sandbox, whose lock.json was removed.`,
    );
    await expect(first.close()).rejects.toThrow("has taken");
    expect((await readdir(dataDirectory)).sort()).toEqual([".env", "lock.json", "sandbox.json", "store"]);
    written.push(await writeMerchant(second));
    await second.close();
    expect(written).not.toContain(null);
    await expectKept(dataDirectory, written);
  });

  test("another one was started in it after its lock was removed, and has stopped again", {
    tags: "thorough",
  }, async () => {
    const dataDirectory = await temporaryFolder();
    const first = await createSandbox({ dataDirectory });
    const written = [await writeMerchant(first)];
    const second = await startWithoutLock(dataDirectory);
    written.push(await writeMerchant(second));
    await second.close();
    expect(await writeMerchant(first)).toBeNull();
    await expect(first.close()).rejects.toThrow(/has taken|the store was changed since/);
    await expectKept(dataDirectory, written);
  });
});

test("a start that was killed while it took the directory does not delay the next one", async () => {
  const dataDirectory = await temporaryFolder();
  const ended = execFileSync("/bin/sh", ["-c", "echo $$"]).toString().trim();
  const taking = join(dataDirectory, "lock.taking");
  const began = performance.now();
  for (const leave of [
    async () => await symlink(`${ended} 1`, taking),
    // As no process makes it.
    ...[" ", "abc", "12", "12 34 56", `${process.pid}x 1`].map(
      (text) => async () => await symlink(text, taking),
    ),
    async () => await writeFile(taking, "12 34"),
    // As earlier versions left it.
    async () => await mkdir(taking),
  ]) {
    await leave();
    expect(await (await lockDataDirectory(dataDirectory)).release()).toBe(true);
  }
  // One that still runs is waited for that long.
  expect(performance.now() - began).toBeLessThan(takingMs);
  expect(await readdir(dataDirectory)).toEqual([]);
});
