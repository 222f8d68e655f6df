import {
  type Hex,
  keccak256,
  type Log,
  type PublicClient,
  type Transaction,
  type TransactionReceipt,
} from "viem";
import type {
  ObservedBlock,
  ObservedLog,
  ObservedReceipt,
  ObservedTransaction,
} from "../../protocol/binding/observed-transaction.ts";
import { recomputeEnvelope } from "../../protocol/binding/recompute-envelope.ts";
import { Recent } from "../../protocol/recent.ts";
import { awaitAutomine } from "../../relayer/node/automine.ts";
import { type Node, readHeadBlock, toNode } from "../../relayer/node/node.ts";
import { prefetch } from "../../relayer/prefetch.ts";
import type { BlockPoint, ExpectedParts } from "./chain-reader.ts";
import { type DeployedNode, readDeployedIdentity } from "./deployed-node.ts";
import { absent } from "./head-reader.ts";
import { codeAt } from "./wallet-code.ts";

/** Observes a transaction; one that the node is about to mine is waited for, and one that it has mined meanwhile is observed at a newer block. */
export function transactionObserver(
  node: DeployedNode,
): (hash: Hex, expected?: ExpectedParts) => Promise<ObservedTransaction> {
  return async (hash, expected) => {
    const observe = async () => await observeAtOneHead(hash, node, expected);
    const seen = await observe();
    return (await isMinedMeanwhile(seen, toNode(node.request))) ? await node.reader.later(observe) : seen;
  };
}

/** Returns whether the node had no receipt of a transaction, or an older newest block, and has both now. A node that lags behind stays so. */
async function isMinedMeanwhile(
  { envelope, receipt, block, head }: ObservedTransaction,
  node: Node,
): Promise<boolean> {
  if (receipt === null) return envelope !== null && (await awaitAutomine(node));
  return block !== null && block.number > head.number && (await readHeadBlock(node)).number >= block.number;
}

async function observeAtOneHead(
  hash: Hex,
  node: DeployedNode,
  expected: ExpectedParts | undefined,
): Promise<ObservedTransaction> {
  const { client, reader } = node;
  return await reader.atOneHead(async (head) => {
    if (expected !== undefined) prefetchBlock(expected, head, client);
    const [identity, found, receipt] = await Promise.all([
      readDeployedIdentity(node),
      client.getTransaction({ hash }).catch(absent),
      client.getTransactionReceipt({ hash }).catch(absent),
    ]);
    const transaction = await readMined(client, found, receipt);
    const envelope = transaction === undefined ? null : await recomputeEnvelope(transaction);
    const mined = receipt && (await readBlock(hash, receipt, envelope?.to ?? null, client));
    return {
      hash,
      chain: identity,
      head: { number: BigInt(head.number), hash: head.hash },
      envelope,
      receipt: receipt === undefined ? null : toReceipt(receipt),
      block: mined?.block ?? null,
      codeHash: mined?.code === undefined ? null : hashCode(mined.code),
    };
  });
}

/**
 * Asks what the block of a transaction has, in the message that asks for the transaction: for a reader that asks each question once, and
 * finds these answers when it knows the block. If it is another block, nothing uses them.
 */
function prefetchBlock({ to, wallet, block }: ExpectedParts, head: BlockPoint, client: PublicClient): void {
  const { number, hash: blockHash } = block ?? head;
  prefetch(
    client.getBlock({ blockNumber: BigInt(number) }),
    client.getLogs({ blockHash }),
    client.getCode({ address: to, blockHash }),
    client.getCode({ address: wallet, blockHash }),
  );
}

/**
 * Reads the block that the chain has at the number of a receipt, with the recipient's code in it.
 *
 * @returns undefined when the chain has no block there; no code when the recipient has none or it is not known.
 */
async function readBlock(
  hash: Hex,
  receipt: TransactionReceipt,
  to: Hex | null,
  client: PublicClient,
): Promise<{ block: ObservedBlock; code: Hex | undefined } | undefined> {
  const readIn = async (blockHash: Hex) =>
    await Promise.all([
      to === null ? undefined : codeAt(client, to, blockHash),
      client.getLogs({ blockHash }),
    ]);
  // Asked with the block: it is the receipt's, unless the chain reorganized or the node lies.
  const early = readIn(receipt.blockHash);
  prefetch(early);
  const found = await client.getBlock({ blockNumber: receipt.blockNumber }).catch(absent);
  if (found?.hash === undefined || found.hash === null) return undefined;
  const { number, hash: blockHash, timestamp, transactions } = found;
  const [code, logs] = await (blockHash === receipt.blockHash ? early : readIn(blockHash));
  const block = {
    number,
    hash: blockHash,
    timestamp: Number(timestamp),
    includes: transactions.includes(hash),
    logs: logs.filter((log) => log.transactionHash === hash).map(toObservedLog),
  };
  return { block, code };
}

/**
 * A transaction as its block has it: for a moment after a block is made, Anvil still answers from its pool, as if the transaction
 * were pending, or knows it in neither place. Its hash is recomputed from what is answered, no matter which node answers.
 */
async function readMined(
  client: PublicClient,
  found: Transaction | undefined,
  receipt: TransactionReceipt | undefined,
): Promise<Transaction | undefined> {
  if (receipt === undefined || (found !== undefined && found.blockHash !== null)) return found;
  const { blockHash, transactionIndex: index } = receipt;
  return (await client.getTransaction({ blockHash, index }).catch(absent)) ?? found;
}

/** By code: contracts have kilobytes of it, and nearly every transaction has the same recipients. */
const codeHashes = new Recent<Hex>(8);

function hashCode(code: Hex): Hex {
  return codeHashes.get(code, () => keccak256(code));
}

function toReceipt(receipt: TransactionReceipt): ObservedReceipt {
  const { status, transactionHash, from, to, blockNumber, blockHash } = receipt;
  return { status, transactionHash, from, to, blockNumber, blockHash, logs: receipt.logs.map(toObservedLog) };
}

/** A log in the form that a binding compares. */
export function toObservedLog(log: Log<bigint, number, false>): ObservedLog {
  const { address, topics, data, logIndex, blockNumber, blockHash, transactionHash, removed } = log;
  return { address, topics, data, logIndex, blockNumber, blockHash, transactionHash, removed };
}
