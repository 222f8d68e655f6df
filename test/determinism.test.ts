import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../sandbox/create-sandbox.ts";
import { actorsOf } from "../testkit/demo/actors.ts";
import { silentPrinter } from "../testkit/demo/printer.ts";
import { runDemo } from "../testkit/demo/run-demo.ts";
import { Session } from "../testkit/demo/session.ts";
import { enrollMerchant } from "../testkit/demo/show-merchant.ts";
import { demoSteps } from "../testkit/demo/show-purchase.ts";
import { programFile } from "./program-file.ts";

const demo = programFile("run-demo");

/** The fingerprint after the demo in a process of its own. */
async function runElsewhere(seed: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [demo, seed]);
  return JSON.parse(stdout);
}

/** The fingerprint after the demo in this process. */
async function runHere(seed: string): Promise<unknown> {
  await using sandbox = await createSandbox({ seed });
  await runDemo(sandbox.description, silentPrinter);
  return await sandbox.fingerprint();
}

let first: Promise<unknown> | undefined;

/** The fingerprint after the demo with the seed `equal`, run alone: what every other run with that seed must come to. */
async function runAlone(): Promise<unknown> {
  first ??= runHere("equal");
  return await first;
}

/** Every transaction hash on the chain, in order. */
async function transactionHashes({ chain }: Sandbox): Promise<string[]> {
  const { client } = chain;
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const hashes: string[] = [];
  for (let number = 0n; number <= head; number += 1n)
    hashes.push(...(await client.getBlock({ blockNumber: number })).transactions);
  return hashes;
}

/** Returns the state that must be equal in two equal runs. */
async function traits(sandbox: Sandbox) {
  const { contracts, chain, accounts } = sandbox.description;
  const events = (await sandbox.store.list("events", {})).map(({ value }) => [value.id, value.type]);
  const fingerprint = await sandbox.fingerprint();
  return { contracts, chain, accounts, events, fingerprint, transactions: await transactionHashes(sandbox) };
}

test("two fresh sandboxes with one seed that run the same demo are equal to the last block hash", async () => {
  await using first = await createSandbox({ seed: "equal" });
  await runDemo(first.description, silentPrinter);
  await using second = await createSandbox({ seed: "equal" });
  await runDemo(second.description, silentPrinter);
  const { transactions, ...rest } = await traits(first);
  expect(transactions.length).toBeGreaterThan(20);
  expect(await traits(second)).toEqual({ transactions, ...rest });
});

test("two processes that run the demo one after the other have one fingerprint", {
  tags: "thorough",
}, async () => {
  const here = await runAlone();
  expect(await runElsewhere("equal")).toEqual(here);
});

test("sandboxes that run at the same time do not affect each other", { tags: "thorough" }, async () => {
  const alone = await runAlone();
  const [among] = await Promise.all(["equal", "a", "b", "c"].map(runHere));
  expect(among).toEqual(alone);
});

test("another seed gives another chain and other ids", async () => {
  await using first = await createSandbox({ seed: "one" });
  await using second = await createSandbox({ seed: "two" });
  expect(second.description.chain.epoch).not.toBe(first.description.chain.epoch);
  expect(second.description.accounts).not.toEqual(first.description.accounts);
  expect(second.description.contracts).toEqual(first.description.contracts);
});

test("after fifty dirty resets a sandbox runs the demo as a fresh one does", {
  tags: "thorough",
}, async () => {
  await using sandbox = await createSandbox({ seed: "equal" });
  const start = await sandbox.snapshot();
  const actors = actorsOf(sandbox.description);
  for (let round = 0; round < 50; round += 1) {
    const session = await Session.open(actors, silentPrinter);
    if (round % 5 === 0) {
      const merchant = await enrollMerchant(session);
      await demoSteps.createPurchase(session, merchant, "purchase", `${round + 1}000000`);
    }
    if (round % 7 === 0) await sandbox.clock.travel({ days: 1 });
    await start.restore();
  }
  await runDemo(sandbox.description, silentPrinter);
  expect(await sandbox.fingerprint()).toEqual(await runAlone());
});
