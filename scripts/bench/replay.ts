/** The blocks of a journal, made again and verified, compared with the same transactions sent to a bare Anvil. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Node, toNode } from "../../relayer/node/node.ts";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { nodeSocket } from "../../sandbox/chain/client/node-socket.ts";
import { chainId, genesisTimestamp, walletNames } from "../../sandbox/chain/genesis/roles.ts";
import { replay } from "../../sandbox/chain/journal/replay.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { readDirectory } from "../../server/store/directory/directory-store.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

const purchases = 40;

const dataDirectory = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
const sandbox = await createSandbox({ dataDirectory });
for (let made = 0; made < purchases; made += 1)
  await sandbox.given.purchase({ state: "refunded", claimed: "1" });
await sandbox.close();
const { chain: changes = [] } = await readDirectory(join(dataDirectory, "store"));
const blocks = changes.filter((change) => change.kind === "block");
const initialState = join(dataDirectory, "store", "chain.json");

/** Blocks per second of what makes all of them in a fresh Anvil. */
async function rate(make: (node: Node) => Promise<void>): Promise<number> {
  await using anvil = await startAnvil({
    chainId,
    genesisTimestamp,
    initialState,
    unlocked: walletNames.length,
  });
  const socket = nodeSocket(anvil.url);
  const { request } = createChainClient(anvil.url, socket.transport);
  const took = await elapsed(async () => await make(toNode(request)));
  socket.close();
  return blocks.length / (took / 1_000);
}

/** The benchmark `replay`. */
export const benchmark: Benchmark = {
  title: `Blocks per second of a journal of ${blocks.length} blocks, one transaction each`,
  baseline: "eth_sendRawTransaction and evm_mine alone",
  unit: "per second",
  rounds: 7,
  subjects: {
    "eth_sendRawTransaction and evm_mine alone": async () =>
      await rate(async (node) => {
        await node("evm_setAutomine", [false]);
        for (const { transactions } of blocks) {
          for (const raw of transactions) await node("eth_sendRawTransaction", [raw]);
          await node("evm_mine", []);
        }
      }),
    replay: async () =>
      await rate(
        async (node) =>
          await replay(node, changes, { position: 0, made() {}, searches: true, folder: dataDirectory }),
      ),
  },
  bars: { replay: { noLessThan: 500 } },
  close: async () => await rm(dataDirectory, { recursive: true, force: true }),
};
