import type { Hex } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Json } from "../../protocol/values/json.ts";
import { initialBalances } from "../../sandbox/chain/genesis/roles.ts";
import { isClaimed, type ModelPurchase, paidOf } from "./model.ts";
import { nameOfPurchase } from "./moves/purchases.ts";
import { outboxAnswer, readAnswer, successAnswer } from "./rules.ts";
import { accountOf, type Walk, WalkDifference, walkWallets } from "./walk.ts";

/** The number of events that a page of the outbox has. */
const eventsOfPage = 50;

/** The reservation of a collection that is held, in wei: 400,000 gas at the highest fee, 2 gwei. */
const heldWei = 800_000_000_000_000n;

/**
 * Compares a purchase with the model: as the API shows it, and as the contract has it.
 *
 * @throws WalkDifference
 */
export async function verifyPurchase(walk: Walk, purchase: ModelPurchase): Promise<void> {
  const { sandbox, model, credentials, program } = walk;
  const title = `Read ${nameOfPurchase(walk, purchase)}`;
  await walk.read(
    { title, api: `GET ${program}/purchases/${purchase.id}`, as: credentials.own },
    "purchase",
    readAnswer(model, purchase),
  );
  const { client } = sandbox.chain;
  const address = sandbox.description.contracts.registrar;
  const figures = await client.readContract({
    address,
    abi: purchaseRegistrarAbi,
    functionName: "figures",
    args: [purchase.view.commitment.hash],
  });
  const paid = paidOf(purchase);
  const isOnChain = purchase.onChain !== null;
  const has = (hash: string) => BigInt(hash) !== 0n;
  compare(`The contract's figures of ${nameOfPurchase(walk, purchase)}`, {
    amount: [isOnChain ? purchase.amount : 0n, figures.amount],
    paid: [paid, figures.paid],
    outstanding: [isOnChain ? purchase.amount - paid : 0n, figures.outstanding],
    refunded: [purchase.refunded, figures.refunded],
    claimed: [isClaimed(purchase) && purchase.refunded === 0n, has(figures.claimHash)],
    decided: [purchase.refunded > 0n, has(figures.decisionHash)],
  });
}

/**
 * Compares everything with the model: all purchases, the fundings and the balances on the chain, the outbox and the relay operations.
 *
 * @throws WalkDifference
 */
export async function verifyAll(walk: Walk): Promise<void> {
  for (const purchase of walk.model.purchases) await verifyPurchase(walk, purchase);
  await verifyFundings(walk);
  await verifyBalances(walk);
  const { model, programId, credentials, program } = walk;
  await walk.read(
    { title: "Read the outbox", control: `GET /explorer/events?program=${programId}` },
    "outbox",
    outboxAnswer(model, eventsOfPage),
  );
  const operations = model.relayed.map(({ kind, status }) => ({ kind, status }));
  const held = model.relayed.filter(({ status }) => status === "accepted").length;
  const list = {
    title: "List the relay operations",
    api: `GET ${program}/transactions`,
    as: credentials.own,
  };
  const expected = successAnswer(200, {
    data: operations,
    gas_budget: { reserved_wei: (BigInt(held) * heldWei).toString() },
  });
  const costs = await costsOf(walk, await walk.read(list, "operations", expected));
  await walk.read(list, "operations", successAnswer(200, { data: costs }));
}

/** Returns the cost of each relay operation by its transaction receipt; each has one attempt, and one that is held has no transaction. */
async function costsOf({ sandbox }: Walk, answer: unknown): Promise<Json[]> {
  const { data }: { data: { hash: Hex | null }[] } = JSON.parse(JSON.stringify(answer));
  return await Promise.all(
    data.map(async ({ hash }) => {
      if (hash === null) return { hash, cost_wei: null };
      const { gasUsed, effectiveGasPrice } = await sandbox.chain.client.getTransactionReceipt({ hash });
      return { hash, cost_wei: (gasUsed * effectiveGasPrice).toString() };
    }),
  );
}

async function verifyFundings(walk: Walk): Promise<void> {
  const { sandbox, model, programId } = walk;
  const address = sandbox.description.contracts.registrar;
  for (const [index, merchant] of model.merchants.entries()) {
    const state = await sandbox.chain.client.readContract({
      address,
      abi: purchaseRegistrarAbi,
      functionName: "funding",
      args: [hashId(programId), hashId(merchant.id)],
    });
    const { onChain, cap, collected, wallet } = merchant;
    compare(`The contract's funding of merchant ${index + 1}`, {
      cap: [onChain ? cap : 0n, state.cap],
      collected: [collected, state.collected],
      allowance: [onChain ? (model.funded[wallet] ?? 0n) : 0n, state.allowance],
    });
  }
}

async function verifyBalances(walk: Walk): Promise<void> {
  const { sandbox, model } = walk;
  const { token, registrar, funding_source } = sandbox.description.contracts;
  const balanceOf = async (owner: `0x${string}`) =>
    await sandbox.chain.client.readContract({
      address: token,
      abi: testUsdcAbi,
      functionName: "balanceOf",
      args: [owner],
    });
  const held = await Promise.all(
    walkWallets.map(async (wallet) => await balanceOf(accountOf(sandbox, wallet).address)),
  );
  for (const [index, wallet] of walkWallets.entries()) {
    const expected = initialBalances.walletUsdc + (model.received[wallet] ?? 0n);
    compare(`The balance of the wallet ${wallet}`, { balance: [expected, held[index] ?? 0n] });
  }
  for (const contract of [registrar, funding_source])
    compare(`The balance of the contract ${contract}`, { balance: [0n, await balanceOf(contract)] });
}

/** Compares what was read from the contracts. @throws WalkDifference */
function compare(
  title: string,
  fields: { readonly [field: string]: readonly [expected: bigint | boolean, actual: bigint | boolean] },
): void {
  for (const [field, [expected, actual]] of Object.entries(fields))
    if (expected !== actual)
      throw new WalkDifference(title, `chain ${field}`, `${field} ${expected}`, `${actual}`);
}
