import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readableStates } from "../../../../sandbox/chain/start-chain.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { actorsOf } from "../../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../../testkit/demo/printer.ts";
import { Session } from "../../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../../../testkit/demo/show-purchase.ts";
import { continueSandbox } from "../../../continue-sandbox.ts";
import { programFile } from "../../../program-file.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const loader = programFile("load-and-continue");

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await createSandbox({
    seed: "saved",
    programs: ["prg_books", "prg_demo"],
    gasBudgetWei: 7n * 10n ** 17n,
  });
});

afterAll(async () => {
  await sandbox.close();
});

/** Saves the sandbox at a moment that has something of everything. */
async function save(): Promise<string> {
  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "purchase",
    "25000000",
  );
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "lose_response", count: null });
  await demoSteps.activate(session, purchase, "activate");
  await sandbox.clock.travel({ hours: 1 });
  await sandbox.rotateKeys("notifications");
  await sandbox.faults.set({ layer: "delivery", action: "answer", status: 503 });
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  return file;
}

test("another process with another home and folder continues from a snapshot file as the sandbox itself does", {
  timeout: 60_000,
}, async () => {
  const start = await sandbox.snapshot();
  const file = await save();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const saved = await sandbox.fingerprint();
  const home = await temporaryFolder();
  const { stdout } = await promisify(execFile)(process.execPath, [loader, file], {
    cwd: home,
    env: { ...process.env, HOME: home },
  });
  const elsewhere = JSON.parse(stdout);
  expect(elsewhere).toMatchObject({ seed: "saved", faults: sandbox.faults.list(), loaded: saved });
  expect(elsewhere.budget).toEqual(await sandbox.relayer.budget("prg_books"));
  await continueSandbox(sandbox);
  expect(elsewhere.end).toEqual(await sandbox.fingerprint());
  await start.restore();
});

test("a loaded sandbox reads the states of the latest blocks of its file, and loses the oldest one with each new block", {
  timeout: 60_000,
}, async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "saved.snapshot");
  await using saved = await createSandbox({ seed: "many-blocks" });
  await saved.chain.client.mine({ blocks: 2 * readableStates });
  await saved.save(file);
  await using loaded = await createSandbox({ from: file, dataDirectory: join(folder, "loaded") });
  expect(await unreadableOf(loaded)).toEqual([]);
  await loaded.chain.client.mine({ blocks: readableStates / 2 });
  expect(await unreadableOf(loaded)).toEqual([]);
});

/** Returns which of the latest blocks have no state that can be read. */
async function unreadableOf({ chain, wallets }: Sandbox): Promise<bigint[]> {
  const newest = await chain.client.getBlockNumber();
  const blocks = Array.from({ length: readableStates }, (_, index) => newest - BigInt(index));
  const { address } = wallets.buyer;
  const reads = blocks.map((blockNumber) => chain.client.getBalance({ address, blockNumber }));
  const results = await Promise.allSettled(reads);
  return blocks.filter((_, index) => results[index]?.status === "rejected");
}
