import type { EIP1193RequestFn, Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClock } from "../../../../sandbox/chain/clock/clock.ts";
import { setMining } from "../../../../sandbox/chain/clock/mining.ts";
import type { ChainNode } from "../../../../sandbox/chain/start-chain.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { ask } from "../../../ask.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

/** Anvil answers some calls before it mines; a caller that does not wait is caught in a few of so many rounds. */
const rounds = 40;

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await freshSandbox();
  start = await sandbox.snapshot();
});

beforeEach(async () => await start.restore());

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
  await sandbox.faults.set({ layer: "chain", action: "pause_mining" });
}

const resumptions: [string, { pause: () => Promise<unknown>; resume: () => Promise<unknown> }][] = [
  [
    "DELETE /faults after a fault has paused mining",
    { pause: pauseByFault, resume: async () => await control("DELETE", "/faults") },
  ],
  [
    "faults.clear() after a fault has paused mining",
    { pause: pauseByFault, resume: async () => await sandbox.faults.clear() },
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

test("more waiting transactions than fit into one block are all mined when mining resumes", async () => {
  const { client } = sandbox.chain;
  await setMining(client, "never");
  // Each of these may use 1,000,000 gas.
  await client.setBlockGasLimit({ gasLimit: 1_010_000n });
  await submitThree();
  const { number } = await chainNow();
  await setMining(client, "transaction");
  expect(await chainNow()).toMatchObject({ number: (number ?? 0n) + 3n, pending: 0 });
});

test("a restore to a moment at which transactions are mined at once ends with nothing to mine", {
  tags: "thorough",
}, async () => {
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

test("travel waits for the block of a transaction that was sent before", async () => {
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

describe("while a node that mines at once is late with a transaction's block,", () => {
  let late: Sandbox;
  /** The number of further looks at the pool before the block is mined; null if the node is not late. */
  let looks: number | null = null;

  /** A node that mines late and says that it mines at once, as Anvil does for a moment. */
  function lateNode({ client, request: forward }: ChainNode): EIP1193RequestFn {
    const request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
      if (looks !== null && call.method === "anvil_getAutomine") return true;
      if (looks !== null && call.method === "txpool_status") {
        looks -= 1;
        if (looks === 0) await client.mine({ blocks: 1 });
      }
      return await Reflect.apply(forward, undefined, [call]);
    };
    // The type of a request function promises an answer for each method, which a node that is late is not bound by.
    return request as EIP1193RequestFn;
  }

  beforeAll(async () => {
    late = await createSandbox({
      seed: "late",
      adaptChain: async (chain) => {
        const client = Object.create(chain.client);
        client.request = lateNode(chain);
        return {
          ...chain,
          client,
          request: client.request,
          clock: await createClock(client, "deterministic"),
        };
      },
    });
  });

  afterAll(async () => await late.close());

  async function ofLate(method: string, params: unknown[]): Promise<void> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "Content-Type": "application/json" };
    const { text } = await ask(late.description.urls.rpc, { method: "POST", headers, body });
    expect(JSON.parse(text)).toHaveProperty("result");
  }

  const steps: [string, () => Promise<unknown>, blocks: bigint, seconds: bigint][] = [
    ["time travels from that block", async () => await late.clock.travel(60), 2n, 61n],
    ["blocks that are asked for come after it", async () => await ofLate("anvil_mine", ["0x2"]), 3n, 3n],
    [
      "blocks that are shown come after it",
      async () => await ofLate("evm_mine_detailed", [{ blocks: 2 }]),
      3n,
      3n,
    ],
  ];

  test.each(steps)("%s", async (_, step, blocks, seconds) => {
    const { client } = late.chain;
    const before = await client.getBlock();
    await client.setAutomine(false);
    const hash = await late.wallets.buyer.submit({ to: late.wallets.buyer.address, data: "0x" });
    looks = 3;
    await step();
    looks = null;
    await client.setAutomine(true);
    const { blockNumber } = await late.wallets.buyer.receipt(hash);
    expect(blockNumber).toBe(before.number + 1n);
    const mined = await client.getBlock({ blockNumber });
    expect(mined.timestamp).toBe(before.timestamp + 1n);
    expect(await client.getBlock()).toMatchObject({
      number: before.number + blocks,
      timestamp: before.timestamp + seconds,
    });
  });
});

test("as many blocks are mined as were asked for, also more than the node is asked for at once", async () => {
  for (const blocks of [1, 100, 101, 201]) {
    const { number } = await chainNow();
    await control("POST", "/blocks", { blocks });
    expect(await chainNow()).toMatchObject({ number: (number ?? 0n) + BigInt(blocks) });
  }
});
