import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { silentNarrator } from "../../sandbox/demo/narrator.ts";
import { runDemo } from "../../sandbox/demo/run-demo.ts";

/** What must be equal between two equal runs. */
async function traits({ chain, description, store }: Sandbox) {
  const { client } = chain;
  const latest = await client.getBlock({ blockTag: "latest" });
  const hashes: string[] = [];
  for (let number = 0n; number <= latest.number; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number });
    hashes.push(...transactions);
  }
  return {
    contracts: description.contracts,
    epoch: description.chain.epoch,
    accounts: description.accounts,
    transactions: hashes,
    lastBlock: latest.hash,
    stateRoot: latest.stateRoot,
    operations: (await store.list("operations", {})).map(({ value }) => value),
    events: (await store.list("events", {})).map(({ value }) => [value.id, value.type]),
  };
}

test("two fresh sandboxes with one seed that tell the same story are equal to the last block hash", async () => {
  await using first = await createSandbox({ seed: "equal" });
  await runDemo(first.description, silentNarrator);
  await using second = await createSandbox({ seed: "equal" });
  await runDemo(second.description, silentNarrator);
  const { transactions, ...rest } = await traits(first);
  expect(transactions.length).toBeGreaterThan(20);
  expect(await traits(second)).toEqual({ transactions, ...rest });
});

test("another seed gives another chain and other ids", async () => {
  await using first = await createSandbox({ seed: "one" });
  await using second = await createSandbox({ seed: "two" });
  expect(second.description.chain.epoch).not.toBe(first.description.chain.epoch);
  expect(second.description.accounts).not.toEqual(first.description.accounts);
  expect(second.description.contracts).toEqual(first.description.contracts);
});

test("a restored sandbox tells the story again with equal hashes", async () => {
  await using sandbox = await createSandbox({ seed: "restored" });
  const start = await sandbox.snapshot();
  await runDemo(sandbox.description, silentNarrator);
  const first = await traits(sandbox);
  await start.restore();
  await runDemo(sandbox.description, silentNarrator);
  expect(await traits(sandbox)).toEqual(first);
});

test("a snapshot from before a newer restore is refused", async () => {
  await using sandbox = await createSandbox();
  const older = await sandbox.snapshot();
  const newer = await sandbox.snapshot();
  await older.restore();
  await expect(newer.restore()).rejects.toThrow("An older snapshot was restored");
});
