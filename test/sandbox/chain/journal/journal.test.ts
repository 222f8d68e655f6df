import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Address, type Hex, sha256, toHex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { verifyDirectory } from "../../../../sandbox/data-directory/verify-directory.ts";
import { toLine } from "../../../../server/store/directory/checked-lines.ts";
import { asOtherUser } from "../../../as-other-user.ts";
import { cli } from "../../../cli/program.ts";
import { runCli } from "../../../cli/run-cli.ts";
import { rpcOf } from "../../../end-to-end/rpc.ts";
import { readLines, writeSnapshot } from "../../../kit/store-lines.ts";
import { holdDisk } from "../../../server/store/directory/held-disk.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const address = "0x00000000000000000000000000000000000000aa";

test("a data directory of the first version is refused with what to do, and stays unchanged", async () => {
  const dataDirectory = await temporaryFolder();
  const settings = '{"version":1,"seed":"first","mode":"live"}';
  await writeFile(join(dataDirectory, "settings.json"), settings);
  await mkdir(join(dataDirectory, "chain"));
  const start = createSandbox({ dataDirectory });
  await expect(start).rejects.toMatchObject({
    code: "data_directory_mismatch",
    message: `${dataDirectory} was made by an earlier version, which kept chain and settings in other files. Start the sandbox once with each minor version in between, or choose another data directory.`,
  });
  await mkdir(join(dataDirectory, "store"));
  const snapshot = join(dataDirectory, "store", "store.json");
  await writeFile(snapshot, toLine({ format: 2, up_to: 0, counters: {} }));
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
    name: "StoreDamagedError",
    message: expect.stringMatching(
      /store\.json, line 1: this is format 2, and this version reads the formats 5 and 6\. Start/,
    ),
  });
  expect(await readFile(join(dataDirectory, "settings.json"), "utf8")).toBe(settings);
  await using sandbox = await createSandbox({ dataDirectory, fresh: true });
  expect(sandbox.chain.resumed).toBe(false);
  expect((await readdir(dataDirectory)).sort()).toEqual([".env", "lock.json", "sandbox.json", "store"]);
});

test.for([
  ["below a file", "file/inside", "a part of the path is a file \\(ENOTDIR, "],
  ["that is a file", "file", "a file has this name \\(EEXIST, "],
] as const)(
  "a data directory %s is refused with the path, the reason and what to do",
  async ([, name, reason]) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "");
    const dataDirectory = join(folder, name);
    await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(
        new RegExp(
          `^The data directory ${dataDirectory} cannot be opened: ${reason}.*\\)\\. Choose another one with the option dataDirectory\\.$`,
        ),
      ),
    });
  },
);

test("a chain that is made again holds no copy of the state for the calls between its blocks", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  for (const value of [1n, 2n, 3n]) {
    await first.chain.client.setBalance({ address, value });
    await first.chain.client.mine({ blocks: 1 });
  }
  const { hash } = await first.chain.client.getBlock();
  await first.close();
  await using second = await createSandbox({ dataDirectory });
  expect((await second.chain.client.getBlock()).hash).toBe(hash);
  const { snapshots } = await second.chain.client.request({ method: "anvil_metadata" });
  expect(snapshots).toEqual({});
});

const sender: Address = `0x${"a1".repeat(20)}`;
const funded = ["anvil_setBalance", [sender, "0xde0b6b3a7640000"]] as const;
const changed = ["anvil_setBalance", [`0x${"e".repeat(40)}`, "0x1"]] as const;
const unsigned = { from: sender, to: zeroAddress, value: "0x7" };
const poorest = privateKeyToAccount(sha256("0x02"));
const unpayable = await poorest.signTransaction({
  chainId: 31_337,
  to: zeroAddress,
  gas: 21_000n,
  nonce: 0,
  gasPrice: 10n ** 10n,
});

test.each([
  {
    what: "waits for a block and has lost its funds to a reorg",
    every: "never",
    calls: [funded, ["eth_sendUnsignedTransaction", [unsigned]], ["anvil_reorg", [2, []]], changed],
  },
  {
    what: "was sent for an impersonated account, waits and has lost its funds to a reorg",
    every: "never",
    calls: [
      funded,
      ["anvil_impersonateAccount", [sender]],
      ["eth_sendTransaction", [unsigned]],
      ["anvil_reorg", [2, []]],
    ],
  },
  {
    what: "a reorg has left out, whose block another reorg takes",
    every: "transaction",
    calls: [["anvil_reorg", [2, [[unpayable, 0]]]], ["anvil_reorg", [2, []]], changed],
  },
  {
    what: "a reorg has left out of a block that stays when another reorg takes the next one",
    every: "transaction",
    calls: [["anvil_reorg", [2, [[unpayable, 0]]]], ["anvil_reorg", [1, []]], changed],
  },
] as const)(
  "blocks without a transaction that $what are made again",
  { tags: "thorough" },
  async ({ every, calls }) => {
    const dataDirectory = await temporaryFolder();
    const first = await createSandbox({ dataDirectory });
    const { urls } = first.description;
    const post = async (url: string, body: object) => {
      const headers = { "Content-Type": "application/json" };
      return await (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
    };
    await first.chain.client.mine({ blocks: 6 });
    await post(`${urls.control}/mining`, { every });
    for (const [method, params] of [...calls, ["evm_mine", []] as const])
      expect(await post(urls.rpc, { jsonrpc: "2.0", id: 1, method, params }), method).toHaveProperty(
        "result",
      );
    const { hash, transactions } = await first.chain.client.getBlock();
    expect(transactions).toEqual([]);
    await first.close();
    await using second = await createSandbox({ dataDirectory });
    expect((await second.chain.client.getBlock()).hash).toBe(hash);
  },
);

test("a reorg that would remove the block of the chain's epoch is refused, and the directory starts again", {
  tags: "thorough",
}, async () => {
  for (const programs of [undefined, ["prg_books"]]) {
    const dataDirectory = await temporaryFolder();
    const options = programs === undefined ? { dataDirectory } : { dataDirectory, programs };
    const first = await createSandbox({ ...options, mode: "live" });
    const { number } = await first.chain.client.getBlock();
    await expect(
      first.chain.client.request({ method: "anvil_reorg", params: [1, []] }),
    ).rejects.toMatchObject({
      name: "ReorgDepthError",
      message: `A reorg can remove at most 0 blocks now, not 1, because the prepared chain ends with block ${number}. Remove fewer blocks, or mine first.`,
    });
    await first.close();
    await using second = await createSandbox({ ...options, mode: "live" });
    expect(second.chain.resumed).toBe(true);
  }
});

test("writes continue after many callers have mined at once behind a reorg that placed a transaction", {
  tags: "thorough",
}, async () => {
  await using sandbox = await createSandbox({ dataDirectory: join(await temporaryFolder(), "sandbox") });
  const rpc = rpcOf(sandbox.description);
  const { address } = sandbox.wallets.stranger;
  await rpc("anvil_mine", "0x10");
  await rpc("anvil_reorg", 5, [[{ from: address, to: address }, 1]]);
  // More than the 128 blocks whose state Anvil keeps.
  await Promise.all(Array.from({ length: 12 }, async () => await rpc("anvil_mine", "0x64")));
  const { purchase } = await sandbox.given.purchase({ state: "paid" });
  expect(purchase.status).toBe("active");
});

test("files that a killed replacement left next to the directory are removed by the next start", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  await (await createSandbox({ dataDirectory })).close();
  for (const left of ["store.next", "store.old"]) {
    await mkdir(join(dataDirectory, left));
    await writeFile(join(dataDirectory, left, "store.json"), "half a store");
  }
  await using sandbox = await createSandbox({ dataDirectory });
  expect(sandbox.chain.resumed).toBe(true);
  expect((await readdir(dataDirectory)).sort()).toEqual([".env", "lock.json", "sandbox.json", "store"]);
});

test("a torn last record is dropped, and damage before it stops the start with file, record and byte and changes nothing", async () => {
  const dataDirectory = await temporaryFolder();
  const copy = await temporaryFolder();
  await using sandbox = await createSandbox({ dataDirectory });
  const { client } = sandbox.chain;
  for (const value of [1n, 2n]) await client.setBalance({ address, value });
  await cp(join(dataDirectory, "store"), join(copy, "store"), { recursive: true });
  const journal = join(copy, "store", "store.journal");
  const whole = await readFile(journal, "utf8");
  await writeFile(journal, whole.slice(0, -5));
  const torn = await createSandbox({ dataDirectory: copy });
  expect(await torn.chain.client.getBalance({ address })).toBe(1n);
  await torn.close();

  await cp(join(dataDirectory, "store"), join(copy, "store"), { recursive: true });
  const [first = ""] = whole.split("\n");
  const damaged = whole.replace("setBalance", "setbalance");
  await writeFile(journal, damaged);
  await expect(createSandbox({ dataDirectory: copy })).rejects.toMatchObject({
    name: "StoreDamagedError",
    message: expect.stringMatching(
      /store\.journal, line [0-9]+: it does not match its checksum \(byte [0-9]+\)\. Restore/,
    ),
  });
  expect(first).not.toBe("");
  expect(await readFile(journal, "utf8")).toBe(damaged);
});

test("a journal is refused if its chain started from another state, or its blocks cannot be mined again", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const sandbox = await createSandbox({ dataDirectory });
  await sandbox.chain.client.mine({ blocks: 2 });
  await sandbox.close();
  const state = join(dataDirectory, "store", "chain.json");
  const bytes = await readFile(state);
  await writeFile(state, Buffer.concat([bytes, Buffer.from(" ")]));
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
    name: "StoreDamagedError",
    message: `${state} does not match its checksum: it is the state that the chain came from. Restore the data directory from a backup, or choose another one with the option dataDirectory.`,
  });
  await writeFile(state, bytes);

  const snapshot = join(dataDirectory, "store", "store.json");
  const written = await readFile(snapshot, "utf8");
  const texts = await readLines(snapshot);
  const blocks = texts.filter((line) => line.chain?.kind === "block");
  blocks.at(-1).chain.gas_limit = "0x1c9c381";
  await writeSnapshot(snapshot, texts);
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
    code: "replay_failed",
    message: expect.stringContaining(
      `Block ${blocks.at(-1).chain.number} of ${join(dataDirectory, "store")} cannot be made again`,
    ),
  });

  const advice =
    "Restore the data directory from a backup, or choose another one with the option dataDirectory.";
  await writeFile(snapshot, written);
  const [header, ...rest] = await readLines(snapshot);
  await writeSnapshot(snapshot, [{ ...header, begin: { ...header.begin, settings: {} } }, ...rest]);
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
    name: "StoreDamagedError",
    message: `${snapshot}, line 1: its field begin.settings.version is not as it was written (byte 0). ${advice}`,
  });
  // A checksum that is right does not make a line JSON.
  const text = '","x}';
  await writeFile(snapshot, `{"sum":"${hash("sha256", text).slice(0, 16)}${text}\n`);
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
    name: "StoreDamagedError",
    message: `${snapshot}, line 1: it is not JSON (byte 0). ${advice}`,
  });
  await writeFile(state, "{}");
  const begin = { ...header.begin, state: hash("sha256", "{}") };
  await writeSnapshot(snapshot, [{ ...header, begin }, ...rest]);
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
    code: "state_unusable",
    message: `Anvil cannot load ${state}: missing field \`block\` at line 1 column 2. ${advice}`,
  });
  await writeFile(state, bytes);
  await writeFile(snapshot, written);
  await using again = await createSandbox({ dataDirectory });
  expect(again.chain.resumed).toBe(true);
});

/** Names and contents of all files in a directory. */
async function contentsOf(directory: string): Promise<(readonly [string, string])[]> {
  const names = (await readdir(directory)).sort();
  return await Promise.all(
    names.map(async (name) => [name, await readFile(join(directory, name), "latin1")] as const),
  );
}

/** The directory as a clean stop leaves it, and a snapshot file. */
async function stopped(): Promise<{ dataDirectory: string; file: string }> {
  const [dataDirectory, folder] = [await temporaryFolder(), await temporaryFolder()];
  const file = join(folder, "saved.snapshot");
  const sandbox = await createSandbox({ dataDirectory });
  await sandbox.chain.client.mine({ blocks: 17 });
  await sandbox.save(file);
  await sandbox.close();
  return { dataDirectory, file };
}

test("a file or folder that is not a store is refused in its place and stays unchanged, even with --fresh", async () => {
  const dataDirectory = await temporaryFolder();
  const store = join(dataDirectory, "store");
  await writeFile(store, "precious");
  const expectRefusals = async (what: string) => {
    const message = `${store} ${what}. Move it away, or choose another data directory with the option dataDirectory.`;
    const refusal = { name: "StoreDamagedError", message };
    for (const fresh of [false, true])
      await expect(createSandbox({ dataDirectory, fresh })).rejects.toMatchObject(refusal);
    await expect(verifyDirectory(dataDirectory)).rejects.toMatchObject(refusal);
  };
  await expectRefusals("is not a directory, so it contains no store");
  expect(await readFile(store, "utf8")).toBe("precious");
  await rm(store);
  await mkdir(store);
  await writeFile(join(store, "notes.txt"), "precious");
  await expectRefusals("holds notes.txt and no file of a store");
  expect(await contentsOf(store)).toEqual([["notes.txt", "precious"]]);
});

test("a start leaves alone what has the name of a file of the first version, and refuses an .env that is not a sandbox's", async () => {
  const dataDirectory = await temporaryFolder();
  const own = join(dataDirectory, "chain");
  const [settings, environment] = [join(dataDirectory, "settings.json"), join(dataDirectory, ".env")];
  await mkdir(own);
  await writeFile(join(own, "index.ts"), "precious");
  await writeFile(settings, '{"version":1,"theme":"dark"}');
  await writeFile(environment, "TOKEN=precious\n");
  for (const fresh of [false, true])
    await expect(createSandbox({ dataDirectory, fresh })).rejects.toMatchObject({
      code: "data_directory_mismatch",
      message: `${environment} is not a sandbox's. Move it away, or choose another data directory with the option dataDirectory.`,
    });
  expect(await readFile(environment, "utf8")).toBe("TOKEN=precious\n");
  await rm(environment);
  await (await createSandbox({ dataDirectory, fresh: true })).close();
  expect(await contentsOf(own)).toEqual([["index.ts", "precious"]]);
  expect(await readFile(settings, "utf8")).toBe('{"version":1,"theme":"dark"}');
});

test("a copy of a directory in use can be verified and started; the directory itself stays locked, even under another name", {
  tags: "thorough",
}, async () => {
  const folder = await temporaryFolder();
  const [first, moved, copy] = ["first", "moved", "copy"].map((name) => join(folder, name));
  if (first === undefined || moved === undefined || copy === undefined) throw new Error("Three names.");
  await using sandbox = await createSandbox({ dataDirectory: first, seed: "copied" });
  await cp(first, copy, { recursive: true });
  const { number } = await sandbox.chain.client.getBlock();
  const mined = runCli("mine", "3", "--data-dir", copy);
  await expect(mined).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`No sandbox runs in ${copy}.`),
  });
  expect((await sandbox.chain.client.getBlock()).number).toBe(number);
  const named = relative(process.cwd(), copy);
  expect(await runCli("data", "verify", "--data-dir", named)).toContain(
    `${named} is complete: seed "copied"`,
  );
  const again = await createSandbox({ dataDirectory: copy });
  expect(again.chain.resumed).toBe(true);
  await again.close();
  await rename(first, moved);
  await expect(createSandbox({ dataDirectory: moved })).rejects.toMatchObject({
    code: "data_directory_in_use",
    message: `Process ${process.pid} runs a sandbox in ${moved}. Stop it, or choose another directory with the option dataDirectory.`,
  });
  await rename(moved, first);
  await sandbox.close();
});

test.runIf(existsSync("/dev/full"))(
  "a description that the disk has no room for is refused with its path",
  { tags: "thorough" },
  async () => {
    const dataDirectory = await temporaryFolder();
    const description = join(dataDirectory, "sandbox.json");
    await symlink("/dev/full", `${description}.next`);
    await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(
        new RegExp(
          `^${description} cannot be opened: the disk is full \\(ENOSPC\\)\\. Make it writable, with room on its disk,`,
        ),
      ),
    });
  },
);

test.runIf(existsSync("/dev/full"))(
  "keys are not rotated while the description with the new ones cannot be written",
  { tags: "thorough" },
  async () => {
    const dataDirectory = await temporaryFolder();
    await using sandbox = await createSandbox({ dataDirectory });
    const file = join(dataDirectory, "sandbox.json");
    const published = async () => {
      const keys = await (await fetch(`${sandbox.description.urls.api}/.well-known/jwks.json`)).json();
      return { keys, file: await readFile(file, "utf8") };
    };
    const before = await published();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      // The part that could not be written completely is removed again.
      await symlink("/dev/full", `${file}.next`);
      await expect(sandbox.rotateKeys()).rejects.toMatchObject({
        code: "storage_unavailable",
        message: expect.stringContaining(`${file} cannot be`),
      });
    }
    expect(await published()).toEqual(before);
    await sandbox.rotateKeys();
    const after = await published();
    expect(after.keys).not.toEqual(before.keys);
    expect(JSON.parse(after.file).receiver).toEqual(sandbox.description.receiver);
  },
);

test("a directory in the place of a file of the store is refused with its path", {
  tags: "thorough",
}, async () => {
  const { dataDirectory } = await stopped();
  for (const name of ["store.json", "store.journal"]) {
    const path = join(dataDirectory, "store", name);
    await rename(path, `${path}.kept`);
    await mkdir(path);
    const refusal = {
      name: "StoreDamagedError",
      message: `${path} is not a file. Restore the data directory from a backup, or choose another one with the option dataDirectory.`,
    };
    await expect(createSandbox({ dataDirectory })).rejects.toMatchObject(refusal);
    await expect(verifyDirectory(dataDirectory)).rejects.toMatchObject(refusal);
    await rm(path, { recursive: true });
    await rename(`${path}.kept`, path);
  }
});

test("changes of the chain that the disk refused are written later in the order in which they happened", async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  {
    using disk = await holdDisk();
    let sync = disk.next();
    /** Has the disk refuse everything until a call has ended. */
    const refuse = async (call: Promise<unknown>) => {
      const ended = expect(call)
        .rejects.toThrow()
        .then(() => null);
      for (
        let next = await Promise.race([sync, ended]);
        next !== null;
        next = await Promise.race([sync, ended])
      ) {
        next.fail();
        sync = disk.next();
      }
    };
    for (const value of [1n, 2n]) await refuse(first.chain.client.setBalance({ address, value }));
  }
  await first.chain.client.mine({ blocks: 1 });
  const { hash } = await first.chain.client.getBlock();
  expect(await first.chain.client.getBalance({ address })).toBe(2n);
  await first.close();
  await using second = await createSandbox({ dataDirectory });
  expect((await second.chain.client.getBlock()).hash).toBe(hash);
  expect(await second.chain.client.getBalance({ address })).toBe(2n);
});

test("a store of which a file is missing is refused by a start, a load and data verify, which change nothing", {
  tags: "thorough",
}, async () => {
  const { dataDirectory, file } = await stopped();
  const store = join(dataDirectory, "store");
  const whole = await contentsOf(store);
  expect(whole.map(([name]) => name.replace(/\.[0-9a-f]{16}/, ".digest"))).toEqual([
    "chain.digest.json",
    "chain.json",
    "store.journal",
    "store.json",
  ]);
  const checkpoint = whole[0]?.[0] ?? "";
  for (const [gone, missing, there] of [
    [["store.json"], "store.json", checkpoint],
    [["store.json", checkpoint], "store.json", "chain.json"],
    [["store.json", checkpoint, "chain.json"], "store.json", "store.journal"],
    [["store.json", "store.journal", "chain.json"], "store.json", checkpoint],
    [["store.journal"], "store.journal", "store.json"],
  ] as const) {
    for (const name of gone) await rm(join(store, name));
    const left = await contentsOf(store);
    const refusal = {
      name: "StoreDamagedError",
      message: `${join(store, missing)} is missing, although ${join(store, there)} is there. Restore it from a backup; to begin with a new sandbox, choose another directory with the option dataDirectory, or copy this one away and start with the option fresh.`,
    };
    await expect(createSandbox({ dataDirectory })).rejects.toMatchObject(refusal);
    await expect(createSandbox({ dataDirectory, from: file })).rejects.toMatchObject(refusal);
    await expect(verifyDirectory(dataDirectory)).rejects.toMatchObject(refusal);
    expect(await contentsOf(store)).toEqual(left);
    for (const [name, content] of whole) await writeFile(join(store, name), content, "latin1");
  }
  await using again = await createSandbox({ dataDirectory });
  expect(again.chain.resumed).toBe(true);
});

test("a store that lost all files of its directory, or that was never begun, is new; one that was killed while its journal was put aside continues", {
  tags: "thorough",
}, async () => {
  const { dataDirectory } = await stopped();
  const store = join(dataDirectory, "store");
  const journal = join(store, "store.journal");
  await rename(journal, `${journal}.compacting`);
  await expect(createSandbox({ dataDirectory })).rejects.toThrow(`${journal} is missing, although`);
  await writeFile(`${journal}.next`, "");
  await verifyDirectory(dataDirectory);
  const continued = await createSandbox({ dataDirectory });
  expect(continued.chain.resumed).toBe(true);
  await continued.close();
  expect(await readdir(store)).not.toContain("store.journal.next");
  await rm(store, { recursive: true });
  await mkdir(store);
  await mkdir(`${store}.next`);
  await writeFile(join(`${store}.next`, "store.json.next"), "half a store");
  await using begun = await createSandbox({ dataDirectory });
  expect(begun.chain.resumed).toBe(false);
});

const user = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const userRuns = spawnSync(process.execPath, [cli, "--version"], user).status === 0;

test.skipIf(!userRuns)(
  "a --fresh of a store that this user may not remove is refused, and the next start continues with it",
  { tags: "thorough" },
  async () => {
    const dataDirectory = await temporaryFolder();
    const store = join(dataDirectory, "store");
    await (await createSandbox({ dataDirectory, seed: "first" })).close();
    await chmod(store, 0o555);
    if (user.uid !== undefined)
      for (const path of [dataDirectory, store]) await chown(path, user.uid, user.gid);
    const fresh = spawnSync(process.execPath, [cli, "start", "--fresh", "--data-dir", dataDirectory], user);
    expect([fresh.status, String(fresh.stderr)]).toEqual([
      1,
      `The store in ${store} cannot be opened: this user has no permission (EACCES, ${store}). Make it writable, with room on its disk, or choose another one with --data-dir.\n`,
    ]);
    await chmod(store, 0o755);
    await using first = await createSandbox({ dataDirectory });
    expect([first.description.seed, first.chain.resumed]).toEqual(["first", true]);
  },
);

test("a fresh sandbox replaces the old one when its start has succeeded, and not before", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory, seed: "first" });
  await first.chain.client.setBalance({ address, value: 1n });
  await first.close();
  const failing = createSandbox({
    dataDirectory,
    seed: "second",
    fresh: true,
    adaptChain: async () => {
      throw new Error("It fails.");
    },
  });
  await expect(failing).rejects.toThrow("It fails.");
  const again = await createSandbox({ dataDirectory });
  expect([again.description.seed, again.chain.resumed]).toEqual(["first", true]);
  expect(await again.chain.client.getBalance({ address })).toBe(1n);
  await again.close();
  await (await createSandbox({ dataDirectory, seed: "second", fresh: true })).close();
  await using second = await createSandbox({ dataDirectory });
  expect([second.description.seed, second.chain.resumed]).toEqual(["second", true]);
  expect(await second.chain.client.getBalance({ address })).toBe(0n);
});

test("a transaction with a blob is kept with its blob, and made again", { tags: "thorough" }, async () => {
  const dataDirectory = await temporaryFolder();
  const sandbox = await createSandbox({ dataDirectory });
  const { stranger } = sandbox.description.wallets;
  if (stranger === undefined) throw new Error("There is no stranger.");
  const account = privateKeyToAccount(stranger.private_key);
  // The commitment to a blob of zeros, and its proof, are the point at infinity.
  const infinity: Hex = `0xc0${"00".repeat(47)}`;
  const serializedTransaction = await account.signTransaction({
    type: "eip4844",
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    to: account.address,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
    maxFeePerBlobGas: 10n ** 9n,
    blobVersionedHashes: [`0x01${sha256(infinity).slice(4)}`],
    sidecars: [{ blob: `0x${"00".repeat(131_072)}`, commitment: infinity, proof: infinity }],
  });
  const { client } = sandbox.chain;
  const hash = await client.sendRawTransaction({ serializedTransaction });
  const { blockHash, status, type } = await client.waitForTransactionReceipt({ hash });
  expect([status, type]).toEqual(["success", "eip4844"]);
  await sandbox.close();
  await using again = await createSandbox({ dataDirectory });
  expect(await again.chain.client.getTransactionReceipt({ hash })).toMatchObject({ blockHash });
});

test.for([
  ["a transaction", "deterministic"],
  ["a transaction", "live"],
  ["mining", "deterministic"],
] as const)(
  "calls that change accounts at the moment of %s in mode %s, before a reorg, are made again as they were",
  { tags: "thorough" },
  async ([kind, mode]) => {
    const dataDirectory = await temporaryFolder();
    const first = await createSandbox({ dataDirectory, mode });
    const { wallets, description, chain } = first;
    const ask = async (method: string, ...params: unknown[]) => {
      const response = await fetch(description.urls.rpc, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      expect(await response.json()).toMatchObject({ result: null });
    };
    await chain.client.mine({ blocks: 2 });
    const accounts = Array.from({ length: 12 }, (_, round) => sha256(toHex(round)).slice(0, 42) as Address);
    for (const [round, account] of accounts.entries()) {
      const makeBlock = async () =>
        kind === "mining"
          ? await chain.client.mine({ blocks: 1 })
          : await wallets.buyer.submit({ to: zeroAddress, data: "0x" });
      const change = async () => {
        for (let turn = 0; turn < round % 4; turn += 1) await new Promise(setImmediate);
        await ask("anvil_setBalance", account, toHex(round + 1));
      };
      await Promise.all([makeBlock(), change()]);
      await chain.client.request({ method: "anvil_reorg", params: [1, []] });
    }
    const balancesOf = async ({ chain: { client } }: Sandbox) =>
      await Promise.all(accounts.map(async (address) => await client.getBalance({ address })));
    const [balances, head] = [await balancesOf(first), (await chain.client.getBlock()).hash];
    await first.close();
    await verifyDirectory(dataDirectory);
    await using second = await createSandbox({ dataDirectory });
    expect(await balancesOf(second)).toEqual(balances);
    expect((await second.chain.client.getBlock()).hash).toBe(head);
  },
);

test("a reorg with a transaction that its sender cannot pay for is made again", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  const { client } = first.chain;
  await client.mine({ blocks: 3 });
  const poor = privateKeyToAccount(sha256("0x01"));
  const fields = { chainId: first.description.chain.chain_id, to: poor.address, gas: 21_000n, nonce: 0 };
  const raw = await poor.signTransaction({ ...fields, gasPrice: 10n ** 10n });
  await client.request({ method: "anvil_reorg", params: [3, [[raw, 1]]] });
  const { hash, transactions } = await client.getBlock();
  expect(transactions).toEqual([]);
  await first.close();
  await using second = await createSandbox({ dataDirectory });
  expect((await second.chain.client.getBlock()).hash).toBe(hash);
});

test("a reorg with a transaction of an account that holds nothing, and that the node impersonates, is made again", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  const { client } = first.chain;
  await client.mine({ blocks: 3 });
  const from = "0x00000000000000000000000000000000000000bb";
  await client.impersonateAccount({ address: from });
  const unsigned = { from, to: first.wallets.stranger.address, gas: "0x30d40" };
  await client.request({ method: "anvil_reorg", params: [2, [[unsigned, 0]]] });
  const { hash, transactions } = await client.getBlock();
  expect(transactions).toEqual([]);
  await first.close();
  await using second = await createSandbox({ dataDirectory });
  expect((await second.chain.client.getBlock()).hash).toBe(hash);
});

test("a replacement without its new directory is refused, and the old one stays", {
  tags: "thorough",
}, async () => {
  const { dataDirectory } = await stopped();
  const store = join(dataDirectory, "store");
  await rename(store, `${store}.old`);
  const left = await contentsOf(`${store}.old`);
  const refusal = {
    name: "StoreDamagedError",
    message: expect.stringContaining(
      `${join(`${store}.next`, "store.json")} is missing, although ${store}.old is there. Restore`,
    ),
  };
  await expect(createSandbox({ dataDirectory })).rejects.toMatchObject(refusal);
  await expect(verifyDirectory(dataDirectory)).rejects.toMatchObject(refusal);
  expect(await contentsOf(`${store}.old`)).toEqual(left);
});

test("parts of a replaced store that cannot be removed do not fail this start or the next", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const kept = join(dataDirectory, "store", "kept");
  const left = join(dataDirectory, "store.old", "kept");
  await asOtherUser([dataDirectory], async () => {
    await (await createSandbox({ dataDirectory, seed: "first" })).close();
    await mkdir(join(kept, "inside"), { recursive: true });
    await chmod(kept, 0o555);
    await (await createSandbox({ dataDirectory, seed: "second", fresh: true })).close();
    expect(await readdir(left)).toEqual(["inside"]);
    const second = await createSandbox({ dataDirectory });
    expect([second.description.seed, second.chain.resumed]).toEqual(["second", true]);
    await second.close();
    await expect(createSandbox({ dataDirectory, fresh: true })).rejects.toMatchObject({
      name: "StoreDamagedError",
      message: expect.stringContaining(
        `${join(dataDirectory, "store.old")} holds kept and no file of a store.`,
      ),
    });
    await chmod(left, 0o755);
  });
});

test("a directory whose replacement was interrupted between its two renames is complete for a start and for data verify", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const sandbox = await createSandbox({ dataDirectory, seed: "next" });
  await sandbox.chain.client.setBalance({ address, value: 1n });
  await sandbox.close();
  const store = join(dataDirectory, "store");
  await rename(store, `${store}.next`);
  await mkdir(`${store}.old`);
  expect(await verifyDirectory(dataDirectory)).toMatchObject({ seed: "next" });
  await using again = await createSandbox({ dataDirectory });
  expect([again.description.seed, await again.chain.client.getBalance({ address })]).toEqual(["next", 1n]);
  expect((await readdir(dataDirectory)).filter((name) => name.startsWith("store"))).toEqual(["store"]);
});
