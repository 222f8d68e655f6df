import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TamperedNode } from "../../../check-contract/fixture/tampered-node.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { sendEnrollment } from "../binding/sent-enrollment.ts";

const node = new TamperedNode();
let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "mined", adaptChain: async (chain) => node.adapt(chain) });
  start = await sandbox.snapshot();
});
beforeEach(async () => {
  node.clear();
  await start.restore();
});
afterAll(async () => await sandbox.close());

const asPending = (answer: unknown) =>
  Object.assign({}, answer, { blockHash: null, blockNumber: null, transactionIndex: null });

test("a transaction that the node still answers from its pool is read as its block has it", async () => {
  let asked = 0;
  const confirm = await sendEnrollment(sandbox);
  node.change("eth_getTransactionByHash", (answer) => {
    asked += 1;
    return asPending(answer);
  });
  expect((await confirm()).data?.status).toBe("enrolled");
  expect(asked).toBeGreaterThan(0);
});

test("the service waits for a transaction whose block is being mined", async () => {
  let asked = 0;
  const confirm = await sendEnrollment(sandbox);
  node.change("eth_getTransactionByHash", asPending);
  node.change("eth_getTransactionReceipt", (answer) => {
    asked += 1;
    return asked === 1 ? null : answer;
  });
  expect((await confirm()).data?.status).toBe("enrolled");
  expect(asked).toBe(2);
});
