import { cp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { verifyDirectory } from "../../../sandbox/data-directory/verify-directory.ts";
import { tryCli } from "../../cli/run-cli.ts";
import { kill } from "../../end-to-end/kill.ts";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { readLines, writeSnapshot } from "../../kit/store-lines.ts";
import { listingOf } from "../../server/store/directory/held-disk.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const address = "0x00000000000000000000000000000000000000aa";

/** The files of checkpoints that a data directory has. */
async function checkpointsIn(dataDirectory: string): Promise<string[]> {
  const names = await readdir(join(dataDirectory, "store"));
  return names.filter((name) => /^chain\.[0-9a-f]{16}\.json$/.test(name));
}

/** Returns the state that must be equal after a stop and a start. */
async function readState({ chain: { client }, fingerprint, clock }: Sandbox) {
  const [head, next, balance] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.getBlock({ blockTag: "pending" }),
    client.getBalance({ address }),
  ]);
  const { baseFeePerGas, gasLimit, timestamp } = next;
  return {
    head,
    baseFeePerGas,
    gasLimit,
    timestamp,
    balance,
    now: await clock.now(),
    fingerprint: await fingerprint(),
  };
}

test("a stop with sixteen blocks that are newer than the last checkpoint writes one, and a stop with fifteen does not", async () => {
  const dataDirectory = await temporaryFolder();
  const stopWith = async (newer: number) => {
    await using sandbox = await createSandbox({ dataDirectory });
    const { client, anvil } = sandbox.chain;
    await client.mine({ blocks: anvil.loadedBlock + newer - Number(await client.getBlockNumber()) });
    expect(await checkpointsIn(dataDirectory)).toEqual([]);
  };
  await stopWith(15);
  await stopWith(16);
  expect(await checkpointsIn(dataDirectory)).toHaveLength(1);
});

test.for(["missing", "torn", "flipped", "of another block"])(
  "a checkpoint that is %s is not used: the next start makes all blocks again",
  { tags: "thorough" },
  async (damage) => {
    const dataDirectory = await temporaryFolder();
    const first = await createSandbox({ dataDirectory });
    await first.chain.client.mine({ blocks: 20 });
    const before = await readState(first);
    await first.close();
    const [name = ""] = await checkpointsIn(dataDirectory);
    const file = join(dataDirectory, "store", name);
    const state = await readFile(file);
    if (damage === "missing") await rm(file);
    if (damage === "torn") await truncate(file, Math.floor(state.length / 2));
    if (damage === "flipped")
      await writeFile(file, Buffer.from(state.map((byte, at) => (at === 999 ? byte ^ 1 : byte))));
    if (damage === "of another block") await cp(join(dataDirectory, "store", "chain.json"), file);
    await using second = await createSandbox({ dataDirectory });
    expect(second.chain.anvil.loadedBlock).toBeLessThan(20);
    expect(await readState(second)).toEqual(before);
  },
);

test("data verify refuses a journal whose blocks are whole but do not have the block that the chain's epoch is made of", async () => {
  const dataDirectory = await temporaryFolder();
  const sandbox = await createSandbox({ dataDirectory });
  const { number, hash } = sandbox.chain.deployment.epochBlock;
  await sandbox.close();
  await verifyDirectory(dataDirectory);
  const snapshot = join(dataDirectory, "store", "store.json");
  const [header, ...rest] = await readLines(snapshot);
  const other = `0x${"ab".repeat(32)}`;
  header.begin.chain.deployment.epochBlock.hash = other;
  await writeSnapshot(snapshot, [header, ...rest]);
  await expect(verifyDirectory(dataDirectory)).rejects.toMatchObject({
    name: "StoreDamagedError",
    message: `The journal in ${join(dataDirectory, "store")} has another block ${number} (${hash}) than the chain began with (${other}). Restore the data directory from a backup, or choose another one with the option dataDirectory.`,
  });
});

test("a start after a stop loads the state of the last checkpoint, and makes the blocks behind it again, none of which differs", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  await first.given.purchase({ state: "paid" });
  await first.chain.client.mine({ blocks: 20 });
  await first.chain.client.setBalance({ address, value: 7n });
  await first.chain.client.request({ method: "evm_setBlockGasLimit", params: ["0x17d7840"] } as never);
  const before = await readState(first);
  await first.close();
  expect(await checkpointsIn(dataDirectory)).toHaveLength(1);

  const second = await createSandbox({ dataDirectory });
  expect(second.chain.anvil.loadedBlock).toBe(Number(before.head.number));
  expect(await readState(second)).toEqual(before);
  await second.given.purchase({ state: "refunded" });
  const later = await readState(second);
  await second.close();

  const third = await createSandbox({ dataDirectory });
  expect(third.chain.anvil.loadedBlock).toBe(Number(before.head.number));
  expect(await readState(third)).toEqual(later);
  await third.chain.client.mine({ blocks: 20 });
  await third.close();
  expect(await checkpointsIn(dataDirectory)).toHaveLength(1);
});

test("a checkpoint is written while a sandbox runs, and a start after a kill of all makes the blocks behind it again", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const first = await startSandbox(dataDirectory, "--mode", "deterministic");
  const post = async (path: string, body: unknown) =>
    await fetch(first.description.urls.control + path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  await post("/blocks", { blocks: 300 });
  await expect.poll(async () => await checkpointsIn(dataDirectory), { timeout: 30_000 }).toHaveLength(1);
  await post("/blocks", { blocks: 3 });
  await kill(first, "all at once");
  await using second = await createSandbox({ dataDirectory });
  expect(second.chain.anvil.loadedBlock).toBeGreaterThan(300);
  expect(Number(await second.chain.client.getBlockNumber())).toBe(second.chain.anvil.loadedBlock + 3);
});

test("data verify mines every block again, compares it, prints what it found, and changes nothing", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const verify = async (...options: string[]) =>
    await tryCli(["data", "verify", "--data-dir", dataDirectory, ...options]);
  expect(await verify()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `${dataDirectory} contains no sandbox. Name the data directory of a sandbox with --data-dir.`,
    ),
  });
  const sandbox = await createSandbox({ dataDirectory, seed: "verified" });
  await sandbox.given.purchase({ state: "paid" });
  await sandbox.chain.client.mine({ blocks: 20 });
  expect(await verify()).toMatchObject({ code: 1, stderr: expect.stringContaining("runs a sandbox in") });
  const { number, hash } = await sandbox.chain.client.getBlock();
  await sandbox.close();
  const before = await listingOf(join(dataDirectory, "store"));
  const whole = await verify("--json");
  expect(JSON.parse(whole.stdout)).toMatchObject({
    seed: "verified",
    head: { number: Number(number), hash },
    checkpoint: "used",
  });
  const [name = ""] = await checkpointsIn(dataDirectory);
  await truncate(join(dataDirectory, "store", name), 100);
  expect(await verify()).toEqual({
    code: 0,
    stdout: expect.stringContaining("is missing or damaged, so the next start mines all blocks again"),
    stderr: "",
  });
  expect(await listingOf(join(dataDirectory, "store"))).toEqual(before);
  await rm(join(dataDirectory, "store", "store.journal"));
  const snapshot = join(dataDirectory, "store", "store.json");
  await writeFile(snapshot, (await readFile(snapshot, "utf8")).replace("verified", "verifieD"));
  expect(await verify()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/store\.json, line 1: it does not match its checksum \(byte 0\)\. Restore/),
  });
});
