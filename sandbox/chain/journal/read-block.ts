import {
  type Hex,
  isHex,
  keccak256,
  recoverTransactionAddress,
  type TransactionSerialized,
  toHex,
} from "viem";
import { z } from "zod";
import { ask, type Node } from "../../../relayer/node/node.ts";
import type { BlockChange } from "../../../server/store/chain-log.ts";

const hex = z.custom<Hex>((value) => isHex(value));
const number = hex.transform(Number);
const signedSchema = z.custom<TransactionSerialized>((value) => isHex(value));

const unsignedSchema = z.object({ from: hex });

const transactionSchema = z.looseObject({ hash: hex, r: hex, s: hex });

const blockSchema = z.object({
  number,
  hash: hex,
  parentHash: hex,
  timestamp: number,
  baseFeePerGas: hex,
  gasLimit: hex,
  miner: hex,
  transactions: z.array(transactionSchema),
});

/** A block as the node answers it. */
export type ReadBlock = z.infer<typeof blockSchema>;

/** Of an unsigned transaction, what the node needs to send it again. */
const sentFields = [
  "type",
  "from",
  "to",
  "nonce",
  "gas",
  "value",
  "input",
  "accessList",
  "authorizationList",
] as const;

/** Reads a block with its transactions, or null when the chain is not that high. */
export async function readBlock(node: Node, block: number | "latest"): Promise<ReadBlock | null> {
  const which = block === "latest" ? block : toHex(block);
  return await ask(node, "eth_getBlockByNumber", [which, true], blockSchema.nullable());
}

/** Finds the empty accounts that a block has come to have because a transaction of theirs was left out of it. */
export async function findTouched(
  node: Node,
  { number, transactions }: ReadBlock,
  asked: readonly unknown[],
): Promise<Hex[]> {
  const hashes = new Set(transactions.map(({ hash }) => hash));
  const touched: Hex[] = [];
  for (const transaction of asked) {
    const sender = await senderLeftOut(transaction, hashes);
    if (sender === null) continue;
    const at = [sender, toHex(number)];
    const [balance, nonce, code] = await Promise.all([
      ask(node, "eth_getBalance", at, hex),
      ask(node, "eth_getTransactionCount", at, hex),
      ask(node, "eth_getCode", at, hex),
    ]);
    if (BigInt(balance) === 0n && BigInt(nonce) === 0n && code === "0x") touched.push(sender);
  }
  return touched;
}

/** Reads who sends a transaction that may have been left out of a block: signed bytes, or what an account sends that the node impersonates. */
async function senderLeftOut(transaction: unknown, hashes: ReadonlySet<Hex>): Promise<Hex | null> {
  const { data: signed } = signedSchema.safeParse(transaction);
  if (signed === undefined) return unsignedSchema.safeParse(transaction).data?.from ?? null;
  if (hashes.has(keccak256(signed))) return null;
  return await recoverTransactionAddress({ serializedTransaction: signed });
}

/** Returns everything that is needed to make a block again. */
export async function describeBlock(node: Node, block: ReadBlock): Promise<BlockChange> {
  const { number, hash, timestamp, baseFeePerGas, gasLimit, miner, transactions } = block;
  return {
    kind: "block",
    number,
    hash,
    timestamp,
    base_fee: baseFeePerGas,
    gas_limit: gasLimit,
    coinbase: miner,
    transactions: await Promise.all(
      transactions.map(async (transaction) =>
        isSigned(transaction)
          ? await ask(node, "eth_getRawTransactionByHash", [transaction.hash], hex)
          : describeUnsigned(transaction),
      ),
    ),
  };
}

/** The node gives what it sends for an impersonated account an empty signature. */
function isSigned({ r, s }: z.infer<typeof transactionSchema>): boolean {
  return Number(r) !== 0 || Number(s) !== 0;
}

function describeUnsigned(transaction: z.infer<typeof transactionSchema>): { [field: string]: unknown } {
  // Of a mined transaction with a dynamic fee, gasPrice is what it paid.
  const fees =
    transaction["maxFeePerGas"] === undefined ? ["gasPrice"] : ["maxFeePerGas", "maxPriorityFeePerGas"];
  const sent = [...sentFields, ...fees].map((field) => [field, transaction[field]] as const);
  return Object.fromEntries(sent.filter(([, value]) => value !== undefined && value !== null));
}
