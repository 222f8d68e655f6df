import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { Wallet } from "ethers";
import { getAddress, parseEther } from "viem";
import { expect, onTestFinished } from "vitest";
import { faucetCall } from "../../../../protocol/call.ts";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { readDirectory } from "../../../../server/store/directory/directory-store.ts";
import type { StoreImage } from "../../../../server/store/store.ts";
import { randomNumbers } from "../../../crash/random-numbers.ts";
import { startSandbox } from "../../../end-to-end/started-sandbox.ts";
import { deployOn, reorganize, type StartedNode, startSlowAnvil } from "../../../kit/connected.ts";
import {
  type EndedPurchase,
  EthersClient,
  type PublishedService,
  type Route,
} from "../../../kit/ethers-client.ts";
import { openHostileProxy } from "../../../kit/hostile-proxy.ts";
import { expectEachEffectOnce } from "./chain-oracle.ts";

/** The required confirmations: no reorg of the walk is as deep. */
const confirmations = 3;

/** A walk of several merchants at once. */
export interface Walk {
  lifecycles: number;
  merchants: number;
  /** Makes the moments; what a machine has done by then differs anyway. */
  seed: number;
}

/**
 * Takes purchases by both routes to their refunds, on a chain with a block each second and through a hostile provider, while the service is
 * killed and the node's newest blocks are replaced, and expects each effect once, on the chain and in the records.
 */
export async function walkOnNode({ lifecycles, merchants, seed }: Walk): Promise<void> {
  const node = await startSlowAnvil();
  onTestFinished(node.stop);
  const { folder, rpcUrls: _, ...files } = await deployOn(node.url);
  await using proxy = await openHostileProxy(node.url, { oneOf: 29, behind: 2, logBlocks: 500 });
  const data = join(folder, "data");
  const options = ["--rpc-url", proxy.url, "--keys", files.keys, "--deployment", files.deployment];
  const start = async (...more: string[]) =>
    await startSandbox(data, ...options, "--confirmations", String(confirmations), ...more);
  let service = await start();
  const { port } = new URL(service.description.urls.api);
  onTestFinished(async () => void (await service.end("SIGKILL")));

  const shops = await openShops(node, () => service.description, merchants);
  const ended: EndedPurchase[] = [];
  let begun = 0;
  const trade = async (client: EthersClient) => {
    while (begun < lifecycles) {
      begun += 1;
      const route: Route = begun % 2 === 0 ? "registrar_offer" : "merchant_direct";
      ended.push(await client.refundOne(route, BigInt(1_000_000 + begun), BigInt(500_000 + begun)));
    }
  };
  let isOver = false;
  const trading = Promise.all(shops.map(trade)).finally(() => {
    isOver = true;
  });
  trading.catch(() => undefined);
  const random = randomNumbers(seed);
  const happened = { kills: 0, reorgs: 0 };
  const writes = () => shops.reduce((sum, client) => sum + client.writes, 0);
  while (!isOver) {
    // Counted in writes, so that the purchases continue on a busy machine, too.
    const next = writes() + 1 + Math.floor(random() * 2 * merchants);
    while (!isOver && writes() < next) await after(50);
    await after(random() * 1_000);
    if (random() < 0.6) {
      await reorganize(node, 1 + Math.floor(random() * (confirmations - 1)));
      happened.reorgs += 1;
    } else {
      await service.end("SIGKILL");
      service = await start("--api-port", port);
      happened.kills += 1;
    }
  }
  await trading;
  const requests = [...proxy.counts.values()].reduce((total, count) => total + count, 0);
  process.stdout.write(
    `${lifecycles} lifecycles: ${JSON.stringify(happened)}, ${requests} requests to the node\n`,
  );
  expect(happened.kills * happened.reorgs).toBeGreaterThan(0);
  await expectFiguresOf(shops, ended);
  await service.end("SIGTERM");
  expect(await expectEachEffectOnce(node.url, service.description.contracts, ended)).toBe(0);
  expectEachRecordOnce(await readDirectory(join(data, "store")), ended);
}

/** Opens clients, each with wallets of its own that have money, and an enrolled merchant. */
async function openShops(
  node: StartedNode,
  service: () => PublishedService,
  count: number,
): Promise<EthersClient[]> {
  const chain = createChainClient(node.url);
  let credential: string | undefined;
  const shops: EthersClient[] = [];
  for (let shop = 0; shop < count; shop += 1) {
    const [merchant = "", buyer = "", beneficiary = ""] = Array.from(
      { length: 3 },
      () => Wallet.createRandom().privateKey,
    );
    const client = new EthersClient(service, { merchant, buyer, beneficiary });
    onTestFinished(() => client.close());
    for (const wallet of [client.merchant, client.buyer, client.beneficiary])
      await chain.setBalance({ address: getAddress(wallet.address), value: parseEther("10") });
    credential ??= await client.requestAccess();
    client.use(credential);
    shops.push(client);
  }
  const { token } = service().contracts;
  await Promise.all(
    shops.map(async (client) => {
      await client.buyer.send(faucetCall(getAddress(token), getAddress(client.buyer.address), 10n ** 9n));
      await client.enroll(10n ** 9n);
    }),
  );
  return shops;
}

/** Expects the figures of the API to be those that the clients know; each client reads some, because the provider takes seconds. */
async function expectFiguresOf(
  shops: readonly EthersClient[],
  ended: readonly EndedPurchase[],
): Promise<void> {
  const left = ended.values();
  await Promise.all(
    shops.map(async (client) => {
      for (const { id, amount, award } of left)
        expect(await client.read(`/purchases/${id}`)).toMatchObject({
          status: "refunded",
          figures: {
            paid: String(amount),
            reconciled: String(amount),
            refunded: String(award),
            outstanding: "0",
          },
        });
    }),
  );
}

/** Expects one event of each step and one refund of each purchase, and one relay operation of each effect of the operator. */
function expectEachRecordOnce({ collections }: StoreImage, ended: readonly EndedPurchase[]): void {
  const values = <T>(records: { [key: string]: { value: T } } = {}) =>
    Object.values(records).map(({ value }) => value);
  const events = Map.groupBy(values(collections.events), ({ subject }) => subject);
  const typesOf = (subject: string) => (events.get(subject) ?? []).map(({ type }) => type).toSorted();
  const refunds = values(collections.refunds);
  for (const { id, route } of ended) {
    const active = route === "registrar_offer" ? "purchase.activated" : "purchase.registered";
    const steps = ["created", "claimed", "decided", "reconciled"].map((step) => `purchase.${step}`);
    expect(typesOf(id)).toEqual([active, ...steps, "refund.collected", "refund.due"].toSorted());
    const own = refunds.filter(({ purchase_id }) => purchase_id === id);
    expect(own.map(({ status }) => status)).toEqual(["collected"]);
  }
  const offers = ended.filter(({ route }) => route === "registrar_offer").length;
  const kinds = values(collections.operations).map(({ kind, status }) => `${kind} ${status}`);
  expect(kinds.toSorted()).toEqual([
    ...Array(ended.length).fill("collect_refund confirmed"),
    ...Array(offers).fill("offer confirmed"),
  ]);
}
