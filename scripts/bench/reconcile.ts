/** Reconciling 1, 10 and 50 transactions, per transaction, compared with the chain reads that it cannot do without. */
import { createPublicClient, getAbiItem, type Hex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { nodeSocket } from "../../sandbox/chain/client/node-socket.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { unwrap } from "../../sandbox/service/client/problem-error.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

const counts = [1, 10, 50] as const;
const price = 50_000_000n;
const sandbox = await createSandbox({ seed: "bench" });
const { client: api, wallets } = sandbox;
const { purchase } = await sandbox.given.purchase({ state: "active", amount: price.toString() });
const { program, id } = purchase;
await wallets.buyer.approve(purchase);
const hashes: Hex[] = [];
while (hashes.length < 50) hashes.push((await wallets.buyer.pay(purchase, price / 50n)).transaction_hash);
const paid = await sandbox.snapshot();
const socket = nodeSocket(sandbox.description.urls.rpc);
const client = createPublicClient({ transport: socket.transport, cacheTime: 0 });

/** Transaction, receipt, block, the contract's code and the block's logs of each, and the purchase's own payments. */
async function readBare(count: number): Promise<void> {
  const { registrar } = sandbox.description.contracts;
  const event = getAbiItem({ abi: purchaseRegistrarAbi, name: "PurchasePaid" });
  const { number: toBlock } = await client.getBlock();
  const args = { id: purchase.commitment.hash };
  await client.getLogs({ address: registrar, event, args, fromBlock: 0n, toBlock });
  await Promise.all(
    hashes.slice(0, count).map(async (hash) => {
      const [, { blockHash }] = await Promise.all([
        client.getTransaction({ hash }),
        client.getTransactionReceipt({ hash }),
      ]);
      await Promise.all([
        client.getBlock({ blockHash }),
        client.getCode({ address: registrar, blockHash }),
        client.getLogs({ blockHash }),
      ]);
    }),
  );
}

async function reconcile(count: number): Promise<number> {
  await paid.restore();
  // After a restore, the client requests access again before its next request.
  unwrap(await api.GET("/v1/routing/capabilities"));
  const took = await elapsed(async () =>
    unwrap(
      await api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
        params: { path: { program, id }, header: { "Idempotency-Key": "reconcile" } },
        body: { transaction_hashes: hashes.slice(0, count) },
      }),
    ),
  );
  return took / count;
}

const bare = (count: number) => `bare reads of ${count}`;
const ours = (count: number) => `reconcile of ${count}`;

/** The benchmark `reconcile`. */
export const benchmark: Benchmark = {
  title: "Milliseconds per transaction to reconcile 1, 10 and 50 of them",
  baseline: bare(1),
  rounds: 15,
  subjects: Object.fromEntries(
    counts.flatMap((count) => [
      [bare(count), async () => (await elapsed(async () => await readBare(count))) / count],
      [ours(count), async () => await reconcile(count)],
    ]),
  ),
  comparedTo: Object.fromEntries(
    counts.flatMap((count) => [
      [bare(count), bare(count)],
      [ours(count), bare(count)],
    ]),
  ),
  bars: { [ours(1)]: { atMost: 2 } },
  close: async () => {
    socket.close();
    await sandbox.close();
  },
};
