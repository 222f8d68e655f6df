import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, rmSync } from "node:fs";
import {
  appendFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { SandboxError } from "../../../../sandbox/lib/errors/sandbox-error.ts";
import { lockDataDirectory, takingMs } from "../../../../sandbox/state/data-directory/lock.ts";
import { readDirectory } from "../../../../server/store/directory/directory-store.ts";
import { listingOf } from "../../../server/store/directory/held-disk.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { createMerchant } from "../../hosts/recorder/create-merchant.ts";

/** Writes through the API, and returns the id of the merchant that was acknowledged; null when the write was refused. */
async function write(sandbox: Sandbox): Promise<string | null> {
  const answer = await createMerchant(sandbox, randomUUID()).catch(() => null);
  return answer?.data?.id ?? null;
}

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

  test("files of the store, before the next write", async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const written = [await write(sandbox)];
    for (const change of changes) {
      await change(join(dataDirectory, "store", "store.journal"));
      written.push(await write(sandbox), await write(sandbox));
      await expectKept(dataDirectory, written);
    }
  });

  test("files of the store, without a write", async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const id = await write(sandbox);
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
      expect(await write(sandbox)).not.toBeNull();
      expect(await readFile(lock, "utf8")).toBe(before);
    }
    await rm(lock);
    await expect.poll(async () => await readFile(lock, "utf8").catch(() => null)).toBe(before);
    await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({ code: "data_directory_in_use" });
  });

  test.skipIf(process.platform === "win32")("a pipe in the place of the lock, once it is gone", async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const lock = join(dataDirectory, "lock.json");
    await rm(lock);
    execFileSync("mkfifo", [lock]);
    expect(await write(sandbox)).toBeNull();
    await rm(lock);
    expect(await write(sandbox)).not.toBeNull();
  });
});

describe("a sandbox that no longer has its data directory refuses writes, says why, and changes nothing in it:", () => {
  const losses: { readonly [loss: string]: (directory: string) => Promise<string> } = {
    "the store is removed": async (directory) => {
      await rm(join(directory, "store"), { recursive: true });
      return `${join(directory, "store")} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "the store is replaced by a copy": async (directory) => {
      const store = join(directory, "store");
      await rename(store, `${store}.moved`);
      await cp(`${store}.moved`, store, { recursive: true });
      return `${store} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "all in it is removed": async (directory) => {
      for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true });
      return `${join(directory, "store")} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "it is removed": async (directory) => {
      await rm(directory, { recursive: true });
      return `${directory} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "it is moved away": async (directory) => {
      await rename(directory, `${directory}.moved`);
      return `${directory} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "it is moved away, and there is another": async (directory) => {
      await rename(directory, `${directory}.moved`);
      await mkdir(directory);
      return `${directory} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "its lock was removed, and the store was changed": async (directory) => {
      // At once: the sandbox writes a lock again that it finds missing.
      rmSync(join(directory, "lock.json"));
      appendFileSync(join(directory, "store", "store.journal"), "x");
      return `${join(directory, "lock.json")} was removed while it was in use, and the store was changed since. Stop a sandbox`;
    },
  };

  const contentOf = async (directory: string) =>
    existsSync(directory)
      ? await Promise.all([listingOf(directory), listingOf(join(directory, "store")).catch(() => null)])
      : null;

  test.for(Object.entries(losses))("%s", async ([, lose]) => {
    const dataDirectory = join(await temporaryFolder(), "data");
    const sandbox = await createSandbox({ dataDirectory });
    const message = await lose(dataDirectory);
    const left = await contentOf(dataDirectory);
    expect(await write(sandbox)).toBeNull();
    expect(await sandbox.ended).toContain(message);
    await expect(sandbox.close()).rejects.toThrow(message);
    expect(await contentOf(dataDirectory)).toEqual(left);
  });

  test("it is moved away with all acknowledged writes, and nothing is written meanwhile", async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    const sandbox = await createSandbox({ dataDirectory });
    const id = await write(sandbox);
    await rename(dataDirectory, `${dataDirectory}.moved`);
    expect(await sandbox.ended).toContain(`${dataDirectory} was removed, moved or replaced`);
    await expect(sandbox.close()).rejects.toThrow(`${dataDirectory} was removed, moved or replaced`);
    await expectKept(`${dataDirectory}.moved`, [id]);
  });

  test("another one was started in it after its lock was removed, and no write of either is lost", async () => {
    const dataDirectory = await temporaryFolder();
    const first = await createSandbox({ dataDirectory });
    const written = [await write(first), await write(first)];
    const second = await startWithoutLock(dataDirectory);
    // Each waits for the disk while the other writes.
    const [refused, ...both] = await Promise.all([write(first), write(second), write(second)]);
    expect(refused).toBeNull();
    written.push(...both);
    expect(await first.ended).toContain(
      `Process ${process.pid} has taken ${dataDirectory} from this sandbox, whose lock.json was removed.`,
    );
    await expect(first.close()).rejects.toThrow("has taken");
    expect((await readdir(dataDirectory)).sort()).toEqual([".env", "lock.json", "sandbox.json", "store"]);
    written.push(await write(second));
    await second.close();
    expect(written).not.toContain(null);
    await expectKept(dataDirectory, written);
  });

  test("another one was started in it after its lock was removed, and has stopped again", async () => {
    const dataDirectory = await temporaryFolder();
    const first = await createSandbox({ dataDirectory });
    const written = [await write(first)];
    const second = await startWithoutLock(dataDirectory);
    written.push(await write(second));
    await second.close();
    expect(await write(first)).toBeNull();
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
