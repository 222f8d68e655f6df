import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { stopIn } from "../../../cli/commands/stop.ts";
import { inFlags } from "../../../cli/describe-failure.ts";
import { examine } from "../../../cli/doctor/examine.ts";
import { findRunning } from "../../../cli/running/find-running.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { verifyDirectory } from "../../../sandbox/data-directory/verify-directory.ts";
import { asOtherUser } from "../../as-other-user.ts";
import { tryCli } from "../../cli/run-cli.ts";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { listingOf } from "../../server/store/directory/held-disk.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

test.skipIf(process.platform !== "linux")(
  "a data directory that cannot be made because the directory above it takes none is refused at once",
  async () => {
    for (const dataDirectory of ["/proc/routing-sandbox", "/proc/routing-sandbox/below"]) {
      const reason = /: there is no such file \(ENOENT, .*\)\. Make it writable/;
      await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
        code: "storage_unavailable",
        message: expect.stringMatching(reason),
      });
      const findings = await examine({ dataDirectory, ports: {}, environment: {} });
      expect(findings.find(({ check }) => check === "data directory")).toMatchObject({
        ok: false,
        found: expect.stringContaining(
          `${dataDirectory} cannot be written to: there is no such file (ENOENT`,
        ),
      });
    }
  },
);

const moved =
  "Restore the data directory from a backup, or choose another one with the option dataDirectory.";

/** A stopped sandbox's data directory with a checkpoint. */
async function stoppedSandbox(): Promise<string> {
  const dataDirectory = await temporaryFolder();
  const sandbox = await createSandbox({ dataDirectory });
  await sandbox.chain.client.mine({ blocks: 20 });
  await sandbox.close();
  return dataDirectory;
}

/** Returns the problems that `doctor` finds in a data directory. */
async function problemsOf(dataDirectory: string): Promise<string[]> {
  const findings = await examine({ dataDirectory, ports: {}, environment: {} });
  return findings
    .filter(({ ok, check }) => !ok && ["data directory", "lock", "store"].includes(check))
    .map(({ found }) => found);
}

/** Puts something that is not a file in the place of one. */
const others: { readonly [kind: string]: (path: string) => Promise<unknown> } = {
  pipe: async (path) => execFileSync("mkfifo", [path]),
  socket: async (path) => {
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await once(server, "listening");
  },
  directory: async (path) => await mkdir(path),
  "loop of symbolic links": async (path) => await symlink(path, path),
  "link to a device": async (path) => await symlink("/dev/zero", path),
};

describe.skipIf(process.platform === "win32").each(Object.entries(others))(
  "a %s in the place of a file is refused at once, by a start, by data verify and by the doctor",
  (_kind, put) => {
    test("of the store, with its path, and nothing is changed", async () => {
      const dataDirectory = await stoppedSandbox();
      const store = join(dataDirectory, "store");
      const names = await readdir(store);
      expect(names.map((name) => name.replace(/[0-9a-f]{16}/, "…")).sort()).toEqual([
        "chain.json",
        "chain.….json",
        "store.journal",
        "store.json",
      ]);
      for (const name of names) {
        const file = join(store, name);
        await rename(file, join(dataDirectory, "kept"));
        await put(file);
        const message = `${file} is not a file. ${moved}`;
        await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
          name: "StoreDamagedError",
          message,
        });
        await expect(verifyDirectory(dataDirectory)).rejects.toMatchObject({ message });
        expect(await problemsOf(dataDirectory)).toEqual([inFlags(message)]);
        await rm(file, { recursive: true });
        await rename(join(dataDirectory, "kept"), file);
      }
      await using sandbox = await createSandbox({ dataDirectory });
      expect(sandbox.chain.resumed).toBe(true);
    });

    test("next to the store, with its path", async () => {
      const dataDirectory = await stoppedSandbox();
      for (const name of ["lock.json", "sandbox.json", ".env"]) {
        const file = join(dataDirectory, name);
        await put(file);
        const message = `${file} is not a file. Move it away, or choose another data directory with the option dataDirectory.`;
        await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
          code: "data_directory_mismatch",
          message,
        });
        expect(await problemsOf(dataDirectory)).toEqual([inFlags(message)]);
        await rm(file, { recursive: true });
      }
      await using sandbox = await createSandbox({ dataDirectory });
      expect(sandbox.chain.resumed).toBe(true);
    });
  },
);

test.skipIf(process.platform === "win32")(
  "a pipe with the name under which a file is written first is refused with its path, or does no harm",
  async () => {
    const dataDirectory = await stoppedSandbox();
    const pipe = async (...name: string[]) => {
      const path = join(dataDirectory, ...name);
      execFileSync("mkfifo", [path]);
      return path;
    };
    for (const name of ["sandbox.json.next", ".env.next"]) {
      const path = await pipe(name);
      await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
        code: "storage_unavailable",
        message: expect.stringContaining(path),
      });
      await rm(path, { force: true });
    }
    for (const name of ["store.json.next", "store.journal.next"]) await pipe("store", name);
    await using sandbox = await createSandbox({ dataDirectory });
    await sandbox.chain.client.mine({ blocks: 20 });
    await sandbox.close();
    expect((await verifyDirectory(dataDirectory)).checkpoint).toBe("used");
  },
);

test("a foreign .env is found by the doctor, too", async () => {
  const dataDirectory = await temporaryFolder();
  const file = join(dataDirectory, ".env");
  await writeFile(file, "PORT=3000\n");
  const message = `${file} is not a sandbox's. Move it away, or choose another data directory with the option dataDirectory.`;
  expect(await problemsOf(dataDirectory)).toEqual([inFlags(message)]);
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({ message });
});

describe("a user's own directory next to the store", () => {
  test.for(["store.old", "store.next"])(
    "named %s stays, and a fresh start is refused until it is gone",
    async (name) => {
      const dataDirectory = await stoppedSandbox();
      const own = join(dataDirectory, name);
      await mkdir(own);
      await writeFile(join(own, "notes.txt"), "mine");
      await (await createSandbox({ dataDirectory })).close();
      await expect(createSandbox({ dataDirectory, fresh: true })).rejects.toMatchObject({
        name: "StoreDamagedError",
        message: `${own} holds notes.txt and no file of a store. Move it away, or choose another data directory with the option dataDirectory.`,
      });
      expect(await readdir(own)).toEqual(["notes.txt"]);
      await rm(own, { recursive: true });
      await using sandbox = await createSandbox({ dataDirectory, fresh: true });
      expect(sandbox.chain.resumed).toBe(false);
    },
  );

  test("named store.old is not taken for a store that was being replaced", async () => {
    const dataDirectory = await temporaryFolder();
    for (const name of ["store.old", "store.next"]) {
      await mkdir(join(dataDirectory, name));
      await writeFile(join(dataDirectory, name, "notes.txt"), "mine");
    }
    const message = /store\.(old|next) holds notes\.txt and no file of a store\. Move it away/;
    for (const fresh of [false, true])
      await expect(createSandbox({ dataDirectory, fresh })).rejects.toThrow(message);
    for (const name of ["store.old", "store.next"])
      expect(await readdir(join(dataDirectory, name))).toEqual(["notes.txt"]);
  });

  test("named loading keeps its files", async () => {
    const dataDirectory = await temporaryFolder();
    await mkdir(join(dataDirectory, "loading"));
    await writeFile(join(dataDirectory, "loading", "notes.txt"), "mine");
    await (await createSandbox({ dataDirectory })).close();
    expect(await readdir(join(dataDirectory, "loading"))).toEqual(["notes.txt"]);
  });
});

test("a file named unfinished, which the first version had, does not have a store replaced", async () => {
  const dataDirectory = await stoppedSandbox();
  await writeFile(join(dataDirectory, "unfinished"), "");
  await using sandbox = await createSandbox({ dataDirectory });
  expect(sandbox.chain.resumed).toBe(true);
});

test("a start that is refused changes nothing in the store, and removes what a killed sandbox left next to it", async () => {
  const dataDirectory = await temporaryFolder();
  const killed = await startSandbox(dataDirectory);
  await killed.end("SIGKILL");
  expect((await readdir(dataDirectory)).sort()).toEqual([".env", "lock.json", "sandbox.json", "store"]);
  const store = join(dataDirectory, "store");
  await appendFile(join(store, "chain.json"), " ");
  const before = await listingOf(store);
  await expect(createSandbox({ dataDirectory, mode: "live" })).rejects.toMatchObject({
    name: "StoreDamagedError",
  });
  expect(await listingOf(store)).toEqual(before);
  expect(await readdir(dataDirectory)).toEqual(["store"]);
});

describe("a fresh start that fails leaves the sandbox that was there", () => {
  async function merchantIn(dataDirectory: string): Promise<string> {
    await using sandbox = await createSandbox({ dataDirectory, seed: "old" });
    return (await sandbox.given.merchant({ state: "enrolled" })).merchant.id;
  }

  async function expectMerchant(dataDirectory: string, id: string): Promise<void> {
    await using sandbox = await createSandbox({ dataDirectory, seed: "old" });
    const stored = await sandbox.store.get("merchants", id);
    expect(stored?.value).toMatchObject({ status: "enrolled" });
    expect(Object.keys(await listingOf(dataDirectory)).filter((name) => /\.(old|next)/.test(name))).toEqual(
      [],
    );
  }

  test("when its files cannot be written at the end", async () => {
    const dataDirectory = await temporaryFolder();
    const id = await merchantIn(dataDirectory);
    await mkdir(join(dataDirectory, "sandbox.json.next"));
    await expect(createSandbox({ dataDirectory, seed: "new", fresh: true })).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    await rm(join(dataDirectory, "sandbox.json.next"), { recursive: true });
    expect((await readdir(dataDirectory)).sort()).toEqual(["store"]);
    await expectMerchant(dataDirectory, id);
  });

  test("when its Anvil is killed", async () => {
    const dataDirectory = await temporaryFolder();
    const id = await merchantIn(dataDirectory);
    const killed = createSandbox({
      dataDirectory,
      seed: "new",
      fresh: true,
      adaptChain: async (chain) => {
        process.kill(chain.anvil.pid, "SIGKILL");
        await chain.anvil.ended;
        return chain;
      },
    });
    await expect(killed).rejects.toThrow();
    await expectMerchant(dataDirectory, id);
  });

  test("and where nothing was, it leaves nothing", async () => {
    const dataDirectory = await temporaryFolder();
    await mkdir(join(dataDirectory, "sandbox.json.next"));
    await expect(createSandbox({ dataDirectory, seed: "new" })).rejects.toThrow("cannot be opened");
    expect(await readdir(dataDirectory)).toEqual(["sandbox.json.next"]);
  });
});

test("a start that is refused removes the files that a killed sandbox has left", async () => {
  const dataDirectory = await temporaryFolder();
  await writeFile(join(dataDirectory, "sandbox.json"), "{}");
  await writeFile(join(dataDirectory, ".env"), "ROUTING_SANDBOX_API_URL=http://127.0.0.1:4010\n");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expect(createSandbox({ dataDirectory, ports: { api: port } })).rejects.toThrow(`Port ${port}`);
  expect(await readdir(dataDirectory)).toEqual([]);
});

// Without root, it would be this user's own: stop would end this process.
test.skipIf(process.geteuid?.() !== 0)(
  "a data directory that this user may not read is refused by stop, status, listen and a start, and found by the doctor (needs root, to be another user)",
  async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    await using sandbox = await createSandbox({ dataDirectory });
    const message =
      /cannot be read: this user has no permission \(EACCES, .*\)\. Run the command as the user who has started the sandbox, or choose/;
    await asOtherUser([], async () => {
      await expect(stopIn(dataDirectory, 1_000)).rejects.toThrow(message);
      await expect(findRunning(dataDirectory)).rejects.toThrow(message);
      await expect(createSandbox({ dataDirectory })).rejects.toThrow(message);
      expect(await problemsOf(dataDirectory)).toContainEqual(expect.stringMatching(message));
      // It would verify nothing.
      const { stderr } = await tryCli(["listen", "--port", "0", "--data-dir", dataDirectory]);
      expect(stderr).toMatch(message);
    });
    expect(await findRunning(dataDirectory)).toMatchObject({ pid: sandbox.description.pid });
  },
);
