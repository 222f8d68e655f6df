import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { setMining } from "../../sandbox/chain/clock/mining.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../sandbox/state/snapshot.ts";
import { ask } from "../ask.ts";

/** Anvil answers some calls before it mines; a caller that does not wait is caught in a few of so many rounds. */
const rounds = 40;

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "mining" });
  start = await sandbox.snapshot();
});

beforeEach(async () => await start.restore());

afterAll(async () => await sandbox.close());

async function control(method: string, path: string, body?: object): Promise<void> {
  const { status } = await fetch(sandbox.description.urls.control + path, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  });
  expect(status).toBe(200);
}

/** Sends a transaction of each of three wallets, without waiting for their blocks. */
async function submitThree(): Promise<Hex[]> {
  const { buyer, merchant, stranger } = sandbox.wallets;
  const sent: Hex[] = [];
  for (const wallet of [buyer, merchant, stranger])
    sent.push(await wallet.submit({ to: wallet.address, data: "0x" }));
  return sent;
}

async function rpc(method: string, params: unknown[]): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { text } = await ask(sandbox.description.urls.rpc, { method: "POST", headers, body });
  expect(JSON.parse(text)).toHaveProperty("result");
}

async function submitOne(): Promise<Hex> {
  const { buyer } = sandbox.wallets;
  return await buyer.submit({ to: buyer.address, data: "0x" });
}

async function chainNow() {
  const { client } = sandbox.chain;
  const [{ number, timestamp }, pool] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.getTxpoolStatus(),
  ]);
  return { number, timestamp, pending: pool.pending };
}

/** Has a fault pause mining, as `DELETE /faults` finds it. */
async function pauseByFault(): Promise<void> {
  await sandbox.relayer.restoreFaults({
    faults: [],
    mining: { automine: true, interval: null },
  });
}

const resumptions: [string, { pause: () => Promise<unknown>; resume: () => Promise<unknown> }][] = [
  [
    "DELETE /faults after a fault has paused mining",
    { pause: pauseByFault, resume: async () => await control("DELETE", "/faults") },
  ],
  [
    "relayer.clearFaults() after a fault has paused mining",
    { pause: pauseByFault, resume: async () => await sandbox.relayer.clearFaults() },
  ],
  [
    'POST /mining {"every":"transaction"}',
    {
      pause: async () => await control("POST", "/mining", { every: "never" }),
      resume: async () => await control("POST", "/mining", { every: "transaction" }),
    },
  ],
];

test.each(resumptions)(
  "%s answers when the one block of what waited is made",
  async (_, { pause, resume }) => {
    for (let round = 0; round < rounds; round += 1) {
      await pause();
      await submitThree();
      const before = await chainNow();
      expect(before.pending).toBe(3);
      await resume();
      expect(await chainNow()).toEqual({
        number: (before.number ?? 0n) + 1n,
        timestamp: before.timestamp + 1n,
        pending: 0,
      });
    }
  },
);

test("more waiting transactions than one block takes are all mined when mining resumes", async () => {
  const { client } = sandbox.chain;
  await setMining(client, "never");
  // Each of these may use 1,000,000 gas.
  await client.setBlockGasLimit({ gasLimit: 1_010_000n });
  await submitThree();
  const { number } = await chainNow();
  await setMining(client, "transaction");
  expect(await chainNow()).toMatchObject({ number: (number ?? 0n) + 3n, pending: 0 });
});

test("a restore to a moment at which transactions are mined at once ends with nothing to mine", async () => {
  for (let round = 0; round < rounds; round += 1) {
    await setMining(sandbox.chain.client, "never");
    await submitThree();
    await start.restore();
    const restored = await chainNow();
    expect(restored.pending).toBe(0);
    const { blockNumber } = await sandbox.wallets.buyer.receipt(await submitOne());
    expect(blockNumber).toBe((restored.number ?? 0n) + 1n);
  }
});

test("travel comes after the block of a transaction that was sent before it", async () => {
  const { chain, clock, wallets } = sandbox;
  for (let round = 0; round < rounds; round += 1) {
    const before = await chainNow();
    const hash = await submitOne();
    expect(await clock.travel(60)).toBe(Number(before.timestamp) + 61);
    const { blockNumber } = await wallets.buyer.receipt(hash);
    const mined = await chain.client.getBlock({ blockNumber });
    expect([mined.number, mined.timestamp]).toEqual([(before.number ?? 0n) + 1n, before.timestamp + 1n]);
    expect(await chainNow()).toMatchObject({
      number: (before.number ?? 0n) + 2n,
      timestamp: before.timestamp + 61n,
    });
  }
});

test("blocks that are asked for come after the block of a transaction that was sent before them", async () => {
  const mines: (() => Promise<unknown>)[] = [
    async () => await control("POST", "/blocks", { blocks: 2 }),
    async () => await rpc("anvil_mine", ["0x2"]),
    async () => await rpc("evm_mine_detailed", [{ blocks: 2 }]),
  ];
  for (const mine of mines)
    for (let round = 0; round < rounds; round += 1) {
      const { number } = await chainNow();
      const hash = await submitOne();
      await mine();
      const { blockNumber } = await sandbox.wallets.buyer.receipt(hash);
      expect([blockNumber, await chainNow()]).toMatchObject([
        (number ?? 0n) + 1n,
        { number: (number ?? 0n) + 3n, pending: 0 },
      ]);
    }
});

test("as many blocks are mined as were asked for, also more than the node is asked for at once", async () => {
  for (const blocks of [1, 100, 101, 201]) {
    const { number } = await chainNow();
    await control("POST", "/blocks", { blocks });
    expect(await chainNow()).toMatchObject({ number: (number ?? 0n) + BigInt(blocks) });
  }
});
