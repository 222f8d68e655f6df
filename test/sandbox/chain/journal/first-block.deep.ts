import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { rpcOf } from "../../../end-to-end/rpc.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

/** The number of loads of a chain. If there were two blocks 0, Anvil would answer one of them at random. */
const loads = 4;

/** Everything that the chain RPC answers about block 0. */
async function readFirst({ description, chain: { deployment } }: Sandbox) {
  const rpc = rpcOf(description);
  const first: { parentHash: string } = (await rpc("eth_getBlockByNumber", "0x1", false)) as never;
  const questions: [string, ...unknown[]][] = [
    ["eth_getBlockByNumber", "0x0", true],
    ["eth_getBlockByNumber", "0x0", false],
    ["eth_getBlockByNumber", "earliest", true],
    ["eth_getBlockByHash", first.parentHash, true],
    ["erigon_getHeaderByNumber", "0x0"],
    ["eth_getBlockReceipts", "0x0"],
    ["eth_getBlockTransactionCountByNumber", "0x0"],
    ["eth_getLogs", { fromBlock: "0x0", toBlock: "0x0" }],
    ["eth_getLogs", { fromBlock: "earliest", toBlock: `0x${deployment.epochBlock.number.toString(16)}` }],
    ["eth_getLogs", { blockHash: first.parentHash }],
  ];
  const answers = await Promise.all(
    questions.map(async (question) => [question[0], await rpc(...question)] as const),
  );
  expect(answers[0]?.[1]).toMatchObject({ hash: first.parentHash });
  // As a contract reads it: PUSH0 BLOCKHASH PUSH0 MSTORE PUSH1 32 PUSH0 RETURN.
  expect(await rpc("eth_call", { data: "0x5f405f5260205ff3" }, "latest")).toBe(first.parentHash);
  return answers;
}

/** The fees up to block 0, which include the next block's base fee. */
async function readFees({ description }: Sandbox): Promise<unknown> {
  return await rpcOf(description)("eth_feeHistory", "0x2", "0x0", [50]);
}

test("block 0 is the parent of block 1 after every load: from a checkpoint, a compacted journal, a snapshot file and the journal of a killed Anvil", async () => {
  const folder = await temporaryFolder();
  const [dataDirectory, file] = [join(folder, "data"), join(folder, "saved.snapshot")];
  let sandbox = await createSandbox({ seed: "zero", dataDirectory });
  const first = await readFirst(sandbox);
  for (let load = 0; load < loads; load += 1) {
    // A stop with so many blocks writes a checkpoint and compacts the journal.
    await sandbox.chain.client.mine({ blocks: 20 });
    const fees = await readFees(sandbox);
    await sandbox.close();
    sandbox = await createSandbox({ dataDirectory });
    expect(sandbox.chain.anvil.loadedBlock).toBeGreaterThan(20 * load);
    expect(await readFirst(sandbox)).toEqual(first);
    expect(await readFees(sandbox)).toEqual(fees);
  }
  await sandbox.save(file);
  const fees = await readFees(sandbox);
  const { pid } = sandbox.chain.anvil;
  process.kill(pid, "SIGKILL");
  await expect.poll(() => sandbox.chain.anvil.pid, { timeout: 30_000, interval: 20 }).not.toBe(pid);
  await expect.poll(async () => await readFees(sandbox).catch(() => null), { timeout: 30_000 }).toEqual(fees);
  expect(await readFirst(sandbox)).toEqual(first);
  await sandbox.close();

  const loaded = join(folder, "loaded");
  for (let load = 0; load < loads; load += 1) {
    await using saved = await createSandbox({ from: file, dataDirectory: loaded, fresh: true });
    expect(await readFirst(saved)).toEqual(first);
    expect(await readFees(saved)).toEqual(fees);
    await saved.chain.client.mine({ blocks: 20 });
  }
  await using resumed = await createSandbox({ dataDirectory: loaded });
  expect(await readFirst(resumed)).toEqual(first);
});
