import {
  fromRlp,
  type Hex,
  isHex,
  keccak256,
  recoverTransactionAddress,
  type TransactionSerialized,
  toHex,
  toRlp,
} from "viem";
import { z } from "zod";
import { askNode, type Node } from "../../../relayer/node/node.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import type { BlockChange } from "../../../server/store/chain-changes.ts";

const number = hexSchema.transform(Number);
const signedSchema = z.custom<TransactionSerialized>((value) => isHex(value));

const unsignedSchema = z.object({ from: hexSchema });

const transactionSchema = z.looseObject({ hash: hexSchema, r: hexSchema, s: hexSchema });

const blockSchema = z.object({
  number,
  hash: hexSchema,
  parentHash: hexSchema,
  timestamp: number,
  baseFeePerGas: hexSchema,
  gasLimit: hexSchema,
  miner: hexSchema,
  transactions: z.array(transactionSchema),
});

const proofSchema = z.object({ accountProof: z.array(hexSchema) });

/** The RLP of an account with nonce 0, balance 0, no storage and no code, as in the trie of a state. */
const emptyAccount = toRlp([
  "0x",
  "0x",
  "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
  "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
]);

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
  return await askNode(node, "eth_getBlockByNumber", [which, true], blockSchema.nullable());
}

/** Returns who sends a transaction that a node was asked to put into a block: signed bytes, or what an account sends that it impersonates. */
export async function senderOf(transaction: unknown): Promise<Hex | null> {
  const { data: signed } = signedSchema.safeParse(transaction);
  if (signed === undefined) return unsignedSchema.safeParse(transaction).data?.from ?? null;
  return await recoverTransactionAddress({ serializedTransaction: signed });
}

/**
 * Finds out whether an account is in the state of a block although it holds nothing. A node leaves a transaction out of a block that cannot be
 * paid for, and has an empty account for its sender from then on, which changes the root of the state.
 */
export async function isTouched(node: Node, address: Hex, block: number): Promise<boolean> {
  const { accountProof } = await askNode(node, "eth_getProof", [address, [], toHex(block)], proofSchema);
  const leaf = fromRlp(accountProof.at(-1) ?? "0x80", "hex");
  const [path, value] = Array.isArray(leaf) && leaf.length === 2 ? leaf : [];
  if (typeof path !== "string" || value !== emptyAccount) return false;
  // A leaf's path begins with 2 if it has an even number of digits, with 3 if it has an odd one.
  const rest = path[2] === "3" ? path.slice(3) : path.slice(4);
  return /^0x[23]/.test(path) && keccak256(address).endsWith(rest);
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
          ? await askNode(node, "eth_getRawTransactionByHash", [transaction.hash], hexSchema)
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
