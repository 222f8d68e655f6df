import { spawnSync } from "node:child_process";
import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Address, type Hex, sha256, toHex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { verifyDirectory } from "../../../../sandbox/data-directory/verify-directory.ts";
import { asOtherUser } from "../../../as-other-user.ts";
import { cli } from "../../../cli/program.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const address = "0x00000000000000000000000000000000000000aa";

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

test("a store of which a file is missing is refused by a start, a load and data verify, which change nothing", {
  timeout: 60_000,
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

test("a store that lost all files of its directory, or that was never begun, is new; one that was killed while its journal was put aside continues", async () => {
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
  { timeout: 60_000 },
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

test("a fresh sandbox replaces the old one when its start has succeeded, and not before", async () => {
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

test("a transaction with a blob is kept with its blob, and made again", async () => {
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

test("a reorg with a transaction that its sender cannot pay for is made again", async () => {
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

test("a reorg with a transaction of an account that holds nothing, and that the node impersonates, is made again", async () => {
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

test("a replacement without its new directory is refused, and the old one stays", async () => {
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

test("parts of a replaced store that cannot be removed do not fail this start or the next", async () => {
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

test("a directory whose replacement was interrupted between its two renames is complete for a start and for data verify", async () => {
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
