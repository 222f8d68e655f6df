/**
 * A process to be weighed, which prints what it and its Anvil take: `node --expose-gc memory-host.ts` with
 * - `bare`: a bare Express and a bare Anvil;
 * - `stored <number>`: a sandbox with so many purchases in its store;
 * - `chain <number> <folder>`: a sandbox with so many purchases that are paid on chain, which it leaves in the folder;
 * - `again <states> <folder>`: a bare Anvil that has mined the blocks of that folder again, and keeps so many states.
 */
import { join } from "node:path";
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
import { residentMemory } from "./resident-memory.ts";

const [what, number = "0", folder = ""] = process.argv.slice(2);

async function weigh(anvil: number): Promise<void> {
  globalThis.gc?.();
  globalThis.gc?.();
  console.log(
    JSON.stringify({ node: await residentMemory(process.pid), anvil: await residentMemory(anvil) }),
  );
}

/** Puts copies of a real purchase, of its event and of its stored answer into the store, each with an id of its own. */
async function fill({ store, given }: Sandbox, count: number): Promise<void> {
  const { id, event_id } = (await given.purchase({ state: "created" })).purchase;
  const purchase = await store.get("purchases", id);
  const event = await store.get("events", event_id);
  const answers = await store.list("idempotency", {});
  const answer = answers.find(({ value }) => value.response?.body.includes(event_id));
  if (purchase === undefined || event === undefined || answer === undefined)
    throw new Error("A created purchase has a record, an event and a stored answer.");
  const renamed = <T>(value: T, number: number): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(id, `pur_${String(number).padStart(20, "0")}`)
        .replaceAll(event_id, `evt_${String(number).padStart(20, "0")}`),
    );
  for (let number = 1; number < count; number += 1)
    await store.commit([], () => {
      return [
        {
          kind: "put",
          collection: "purchases",
          key: renamed(purchase.key, number),
          value: renamed(purchase.value, number),
        },
        {
          kind: "put",
          collection: "events",
          key: renamed(event.key, number),
          value: renamed(event.value, number),
        },
        {
          kind: "put",
          collection: "idempotency",
          key: `${answer.key}-${number}`,
          value: renamed(answer.value, number),
        },
      ];
    });
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
