/**
 * A process to be weighed, which prints what it and its Anvil take: `node --expose-gc memory-host.ts` with
 * - `bare`: a bare Express and a bare Anvil;
 * - `stored <number>`: a sandbox with so many purchases in its store;
 * - `chain <number> <folder>`: a sandbox with so many purchases that are paid on chain, which it leaves in the folder;
 * - `again <states> <folder>`: a bare Anvil that has mined the blocks of that folder again, and keeps so many states.
 */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import express from "express";
import { maxUint256 } from "viem";
import { toNode } from "../../relayer/node/node.ts";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { nodeSocket } from "../../sandbox/chain/client/node-socket.ts";
import { chainId, genesisTimestamp, walletNames } from "../../sandbox/chain/genesis/roles.ts";
import { replay } from "../../sandbox/chain/journal/replay.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { readDirectory } from "../../server/store/directory/directory-store.ts";
import { copiesOf, originalPurchase } from "./purchase-copies.ts";
import { residentMemory } from "./resident-memory.ts";

const [what, number = "0", folder = ""] = process.argv.slice(2);

/** The time after which V8 has given pages that it no longer needs back to the operating system, in milliseconds. */
const idle = 12_000;

async function weigh(anvil: number): Promise<void> {
  globalThis.gc?.();
  globalThis.gc?.();
  await setTimeout(idle);
  console.log(
    JSON.stringify({ node: await residentMemory(process.pid), anvil: await residentMemory(anvil) }),
  );
}

/** Puts so many purchases into the store. */
async function fill(sandbox: Sandbox, count: number): Promise<void> {
  const copyOf = copiesOf(await originalPurchase(sandbox));
  for (let number = 1; number < count; number += 1) {
    const [purchase, event, answer] = copyOf(number);
    await sandbox.store.commit([], () => [
      { kind: "put", collection: "purchases", key: purchase.key, value: purchase.value },
      { kind: "put", collection: "events", key: event.key, value: event.value },
      { kind: "put", collection: "idempotency", key: answer.key, value: answer.value },
    ]);
  }
}

async function weighBare(): Promise<void> {
  const anvil = await startAnvil();
  const server = express().listen(0, "127.0.0.1");
  await weigh(anvil.pid);
  server.close();
  await anvil.stop();
}

async function weighStored(count: number): Promise<void> {
  const sandbox = await createSandbox({ seed: "bench" });
  if (count > 0) await fill(sandbox, count);
  await weigh(sandbox.chain.anvil.pid);
  await sandbox.close();
}

async function weighChain(purchases: number, dataDirectory: string): Promise<void> {
  const sandbox = await createSandbox({ seed: "bench", dataDirectory, gasBudgetWei: maxUint256 });
  for (let made = 0; made < purchases; made += 1) await sandbox.given.purchase({ state: "paid" });
  await weigh(sandbox.chain.anvil.pid);
  await sandbox.close();
}

async function weighAgain(keptStates: number, dataDirectory: string): Promise<void> {
  const store = join(dataDirectory, "store");
  const { chain = [] } = await readDirectory(store);
  const initialState = join(store, "chain.json");
  const unlocked = walletNames.length;
  await using anvil = await startAnvil({ chainId, genesisTimestamp, initialState, unlocked, keptStates });
  const socket = nodeSocket(anvil.url);
  const { request } = createChainClient(anvil.url, socket.transport);
  await replay(toNode(request), chain, 0, () => {});
  await weigh(anvil.pid);
  socket.close();
}

if (what === "bare") await weighBare();
else if (what === "stored") await weighStored(Number(number));
else if (what === "chain") await weighChain(Number(number), folder);
else if (what === "again") await weighAgain(Number(number), folder);
else throw new Error(`There is nothing to weigh as ${what}.`);
