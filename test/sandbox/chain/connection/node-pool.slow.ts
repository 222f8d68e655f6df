import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWalletClient, http, parseGwei } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { deployOn, type StartedNode, startAutominingAnvil } from "../../../kit/connected.ts";

let node: StartedNode;
let sandbox: Sandbox;
let folder = "";
beforeAll(async () => {
  node = await startAutominingAnvil();
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-"));
  const { folder: _, ...network } = await deployOn(node.url, {}, folder);
  sandbox = await createSandbox({ network, receiptTimeoutMs: 100 });
});
afterAll(async () => {
  await node.stop();
  await rm(folder, { recursive: true, force: true });
  await sandbox.close();
});
beforeEach(async () => await direct().setAutomine(true));

/** The node itself, as another program reaches it. */
function direct() {
  return createChainClient(node.url);
}

function operator() {
  const keys = sandbox.chain.accounts.programs["prg_demo"]?.operator;
  if (keys === undefined) throw new Error("There is no operator.");
  return privateKeyToAccount(keys.privateKey);
}

/** Asks for a purchase to be offered, and returns the relay operation as it is then. */
async function activate(isMined: boolean) {
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  await direct().setAutomine(isMined);
  const again = async () => {
    const path = { program: purchase.program, id: purchase.id };
    const header = { "Idempotency-Key": `activate-${purchase.id}` };
    await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: { path, header },
      body: { commitment_hash: purchase.commitment.hash },
    });
    const operations = await sandbox.relayer.list(purchase.program, { limit: 100 });
    const operation = operations.find(({ subject }) => subject.id === purchase.id);
    if (operation === undefined) throw new Error("The relayer was not asked.");
    return operation;
  };
  return { again, operation: await again() };
}

async function statusOf(id: string) {
  return await sandbox.relayer.read(id);
}

test("a transaction that the node drops is sent again, byte for byte", async () => {
  const chain = direct();
  const { operation } = await activate(false);
  const { hash, operation_id } = operation;
  if (hash === null) throw new Error("Nothing was sent.");
  await chain.dropTransaction({ hash });
  await chain.mine({ blocks: 1 });
  await expect.poll(async () => (await chain.getTxpoolStatus()).pending).toBe(1);
  await chain.mine({ blocks: 1 });
  await expect
    .poll(async () => await statusOf(operation_id))
    .toMatchObject({ status: "confirmed", hash, attempt: 1 });
});

test("a nonce that another program takes stops the operation, and the next attempt has another one", async () => {
  const chain = direct();
  const { operation, again } = await activate(false);
  const { operation_id, nonce } = operation;
  if (nonce === null) throw new Error("No nonce was claimed.");
  const account = operator();
  const fees = { maxFeePerGas: parseGwei("50"), maxPriorityFeePerGas: parseGwei("50") };
  await createWalletClient({ account, transport: http(node.url) }).sendTransaction({
    to: account.address,
    nonce,
    chain: null,
    gas: 21_000n,
    ...fees,
  });
  await chain.mine({ blocks: 1 });
  const stopped = { status: "needs_attention", status_reason: "nonce_taken" };
  await expect.poll(async () => await statusOf(operation_id)).toMatchObject(stopped);
  await sandbox.relayer.abandon(operation_id);
  await chain.setAutomine(true);
  await again();
  await expect
    .poll(async () => await statusOf(operation_id))
    .toMatchObject({ status: "confirmed", nonce: nonce + 1, attempt: 2 });
});

test("an operator without money says so in the operation, and continues with the same transaction once it has some", async () => {
  const chain = direct();
  const { address } = operator();
  await chain.setBalance({ address, value: 0n });
  const { operation } = await activate(true);
  const { operation_id, hash } = operation;
  expect(operation).toMatchObject({
    status: "signed",
    status_reason: "rpc_refused",
    error: {
      message: expect.stringMatching(
        new RegExp(
          String.raw`^The operator ${address} has 0 ether, and the transaction may cost 0\.\d+\. Send it ether, and the operation continues at the next block\.$`,
        ),
      ),
    },
  });
  await chain.setBalance({ address, value: 10n ** 18n });
  await chain.mine({ blocks: 1 });
  await expect
    .poll(async () => await statusOf(operation_id))
    .toMatchObject({ status: "confirmed", hash, attempt: 1 });
});

test("what the operator pays is what the program's gas budget has spent", async () => {
  const chain = direct();
  const { address } = operator();
  const [before, spent] = await Promise.all([
    chain.getBalance({ address }),
    sandbox.relayer.budget("prg_demo").then(({ spent_wei }) => BigInt(spent_wei)),
  ]);
  const { operation } = await activate(true);
  await expect.poll(async () => (await statusOf(operation.operation_id))?.status).toBe("confirmed");
  const budget = await sandbox.relayer.budget("prg_demo");
  expect(BigInt(budget.spent_wei) - spent).toBe(before - (await chain.getBalance({ address })));
  expect(budget.reserved_wei).toBe("0");
});

// The last test: the node does not come back.
test("GET /health names the node when it has ended, and neither the relayer nor the store", async () => {
  const health = async () => await (await fetch(`${sandbox.description.urls.control}/health`)).json();
  expect(await health()).toEqual({ status: "ok", parts: ["api", "store", "relayer", "node"] });
  await node.stop();
  expect(await health()).toMatchObject({
    code: "unhealthy",
    detail: "No response from node. Check that it runs, and send the request again.",
  });
});
