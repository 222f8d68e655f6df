import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Liar } from "../../sandbox/check-contract/liar.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../sandbox/snapshot.ts";

const node = new Liar();
let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "mined", adaptChain: async (chain) => node.adapt(chain) });
  start = await sandbox.snapshot();
});
beforeEach(async () => {
  node.repent();
  await start.restore();
});
afterAll(async () => await sandbox.close());

/** Has a merchant enroll by a transaction, which is confirmed to the service after `sent`. */
async function enroll(sent: () => void) {
  const { client, wallets } = sandbox;
  const path = { program: "prg_demo" };
  const { data: merchant } = await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path, header: { "Idempotency-Key": "merchant-1" } },
    body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" },
  });
  if (merchant === undefined) throw new Error("The merchant was not created.");
  const { transaction, message } = merchant.enrollment;
  const { transactionHash } = await wallets.merchant.send(transaction);
  const signature = await wallets.merchant.signMessage(message);
  sent();
  const { data } = await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
    params: { path: { ...path, id: merchant.id }, header: { "Idempotency-Key": "enrollment-1" } },
    body: { transaction_hash: transactionHash, signature },
  });
  return data;
}

const asPending = (answer: unknown) =>
  Object.assign({}, answer, { blockHash: null, blockNumber: null, transactionIndex: null });

test("a transaction that the node still answers from its pool is read as its block has it", async () => {
  let asked = 0;
  const enrolled = await enroll(() =>
    node.tell("eth_getTransactionByHash", (answer) => {
      asked += 1;
      return asPending(answer);
    }),
  );
  expect(enrolled?.status).toBe("enrolled");
  expect(asked).toBeGreaterThan(0);
});

test("a transaction whose block the node is making is waited for", async () => {
  let asked = 0;
  const enrolled = await enroll(() => {
    node.tell("eth_getTransactionByHash", asPending);
    node.tell("eth_getTransactionReceipt", (answer) => {
      asked += 1;
      return asked === 1 ? null : answer;
    });
  });
  expect(enrolled?.status).toBe("enrolled");
  expect(asked).toBe(2);
});
