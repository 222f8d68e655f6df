import { type Hex, toHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { BlockView, SearchResult } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { rpcOf } from "../../end-to-end/rpc.ts";
import { controlSandbox } from "../../kit/control.ts";

const logger = "0x00000000000000000000000000000000000010f6";
/** JUMPDEST, LOG0 of one byte, and again while over 8,192 gas are left. */
const loggingCode = "0x5b60015fa06120005a115f57";
const blockGas = 60_000_000;
/** Anvil executes each transaction again for its explanation, and all before it in its block. */
const timeout = 300_000;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "large-blocks" });
  await rpc("evm_setBlockGasLimit", toHex(blockGas));
  await rpc("anvil_setCode", logger, loggingCode);
  await controlSandbox(sandbox.description, "POST", "/mining", { every: "never" });
});

afterAll(async () => await sandbox.close());

async function rpc(method: string, ...params: readonly unknown[]): Promise<unknown> {
  return await rpcOf(sandbox.description)(method, ...params);
}

async function send(transaction: { to?: Hex; data?: Hex; gas: number }): Promise<string> {
  const from = sandbox.description.wallets["stranger"]?.address;
  return String(
    await rpc("eth_sendTransaction", { from, to: from, ...transaction, gas: toHex(transaction.gas) }),
  );
}

async function mine(blocks = 1): Promise<void> {
  await controlSandbox(sandbox.description, "POST", "/blocks", { blocks });
}

/** Zeros, of which each costs 10 gas (EIP-7623). */
const calldata = (bytes: number) => ({ data: `0x${"00".repeat(bytes)}` as const, gas: 21_000 + 10 * bytes });

async function read<T>(path: string): Promise<T> {
  const answer = await fetch(`${sandbox.description.urls.control}${path}`);
  const text = await answer.text();
  expect(answer.status, text.slice(0, 500)).toBe(200);
  return JSON.parse(text);
}

async function expectTrace(): Promise<void> {
  const answer = await fetch(`${sandbox.description.urls.control}/trace`);
  const text = await answer.text();
  expect(answer.status, text.slice(0, 500)).toBe(200);
  expect(text.length).toBeLessThan(40_000_000);
}

async function readPage(query = ""): Promise<ViewPage<BlockView>> {
  return await read(`/explorer/blocks${query}`);
}

test("a block with 44 transactions of 126 KB is shown, found and traced", { timeout }, async () => {
  const hashes: string[] = [];
  for (let count = 0; count < 44; count += 1) hashes.push(await send(calldata(126_000)));
  await mine();
  const [block] = (await readPage()).data;
  expect(block?.transactions.map(({ hash }) => hash)).toEqual(hashes);
  expect(block?.transactions.every(({ succeeded }) => succeeded)).toBe(true);
  expect(await read<ViewPage<SearchResult>>(`/explorer/search?q=${hashes[43]}`)).toMatchObject({
    data: [{ type: "transaction" }],
  });
  expect(await read(`/explain/${hashes[0]}`)).toMatchObject({ transaction: { status: "success" } });
  await expectTrace();
});

test("a transaction with over 38,000 logs is shown, found, explained and traced", { timeout }, async () => {
  const hash = await send({ to: logger, gas: 20_000_000 });
  await mine();
  expect((await readPage()).data[0]?.transactions).toMatchObject([{ hash, succeeded: true }]);
  expect((await read<{ logs: unknown[] }>(`/explain/${hash}`)).logs.length).toBeGreaterThan(38_000);
  expect(await read<ViewPage<SearchResult>>(`/explorer/search?q=${hash}`)).toMatchObject({
    data: [{ type: "transaction" }],
  });
  await expectTrace();
});

test("50 large blocks are one page, and are traced", { timeout }, async () => {
  for (let count = 0; count < 50; count += 1) {
    await send(calldata(300_000));
    await mine();
  }
  const { data } = await readPage();
  expect(data.map(({ transactions }) => transactions.length)).toEqual(Array.from({ length: 50 }, () => 1));
  await expectTrace();
});

test("a page ends after a block with which it has 1,000 transactions, and the next page follows it", {
  timeout,
}, async () => {
  for (const transfers of [1, 1_000, 1]) {
    for (let count = 0; count < transfers; count += 1) await send({ gas: 21_000 });
    await mine();
  }
  const first = await readPage();
  expect(first.data.map(({ transactions }) => transactions.length)).toEqual([1, 1_000]);
  const second = await readPage(`?cursor=${first.next_cursor}`);
  expect(second.data[0]?.transactions).toHaveLength(1);
  expect(second.data[0]?.number).toBe((first.data[1]?.number ?? 0) - 1);
  await expectTrace();
});
