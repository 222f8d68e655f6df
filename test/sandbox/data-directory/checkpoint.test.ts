import { cp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { verifyDirectory } from "../../../sandbox/data-directory/verify-directory.ts";
import { readLines, writeSnapshot } from "../../kit/store-lines.ts";
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
