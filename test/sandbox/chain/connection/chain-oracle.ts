import { Interface, JsonRpcProvider, type Log } from "ethers";
import { expect } from "vitest";
import { purchaseRegistrarAbi } from "../../../../protocol/abi.generated.ts";
import type { EndedPurchase, PublishedService } from "../../../kit/ethers-client.ts";

/** An event of the registrar contract, in the chain's order. */
interface ChainEvent {
  name: string;
  id: string;
  sequence: bigint;
  amount: bigint;
  hash: string;
}

/**
 * Judges purchases by the node's logs and receipts alone: each has been put on the chain, paid, claimed and refunded once, over the amounts that
 * its client knows, and nothing else has happened.
 *
 * @returns the number of transactions of the operator that are none of the effects.
 */
export async function expectEachEffectOnce(
  node: string,
  { registrar, token }: PublishedService["contracts"],
  ended: readonly EndedPurchase[],
): Promise<number> {
  const chain = new JsonRpcProvider(node, undefined, { batchMaxCount: 1 });
  try {
    const logs = await chain.getLogs({ address: registrar, fromBlock: 0 });
    const events = logs.flatMap(readEvent);
    expect(events.map(({ id }) => id).toSorted()).toEqual(
      ended.flatMap(({ commitment }) => Array(4).fill(commitment)).toSorted(),
    );
    const told = Map.groupBy(events, ({ id }) => id);
    for (const { commitment, route, amount, award } of ended)
      expect(told.get(commitment)).toMatchObject([
        { name: route === "registrar_offer" ? "PurchaseOffered" : "PurchaseRegistered", sequence: 1n },
        { name: "PurchasePaid", sequence: 2n, amount },
        { name: "PurchaseClaimed", sequence: 3n },
        { name: "RefundCollected", sequence: 4n, amount: award },
      ]);
    await expectMoved(chain, token, events, ended);
    return await countOtherTransactions(chain, events);
  } finally {
    chain.destroy();
  }
}

const registrarInterface = new Interface(purchaseRegistrarAbi);

/** The event of a log, of those that are about a purchase. */
function readEvent({ topics, data, transactionHash: hash }: Log): ChainEvent[] {
  const event = registrarInterface.parseLog({ topics: [...topics], data });
  if (event === null) throw new Error("The contract has an event that its ABI lacks.");
  const { name, args } = event;
  if (!/^(?:Purchase|Refund|Offer)/.test(name)) return [];
  const amount = name === "PurchasePaid" ? args["amount"] : name === "RefundCollected" ? args["award"] : 0n;
  return [{ name, id: args["id"], sequence: args["sequence"], amount, hash }];
}

/** Expects the token to have moved with each payment and refund, and with nothing else that the registrar contract did. */
async function expectMoved(
  chain: JsonRpcProvider,
  address: string,
  events: readonly ChainEvent[],
  ended: readonly EndedPurchase[],
): Promise<void> {
  const erc20 = new Interface(["event Transfer(address indexed from, address indexed to, uint256 value)"]);
  const { topicHash } = erc20.getEvent("Transfer") ?? { topicHash: "" };
  const moved = events.filter(({ amount }) => amount > 0n).map(({ hash }) => hash);
  expect(new Set(moved).size).toBe(moved.length);
  const transfers = (await chain.getLogs({ address, topics: [topicHash], fromBlock: 0 }))
    .map(({ topics, data, transactionHash }) => ({
      from: BigInt(topics[1] ?? 0),
      value: BigInt(data),
      hash: transactionHash,
    }))
    // The faucet mints.
    .filter(({ from }) => from !== 0n);
  expect(transfers.map(({ hash }) => hash).toSorted()).toEqual(moved.toSorted());
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  expect(sum(transfers.map(({ value }) => value))).toBe(
    sum(ended.flatMap(({ amount, award }) => [amount, award])),
  );
}

/** Counts the transactions of the operator that are none of the effects. */
async function countOtherTransactions(
  chain: JsonRpcProvider,
  events: readonly ChainEvent[],
): Promise<number> {
  const relayed = events.filter(({ name }) => name === "PurchaseOffered" || name === "RefundCollected");
  const receipts = await Promise.all(
    relayed.map(async ({ hash }) => await chain.getTransactionReceipt(hash)),
  );
  const [operator, ...others] = new Set(receipts.map((receipt) => receipt?.from));
  expect(others).toEqual([]);
  return (await chain.getTransactionCount(operator ?? "")) - relayed.length;
}
