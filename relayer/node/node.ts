import {
  type Address,
  type EIP1193RequestFn,
  type Hex,
  hexToBigInt,
  hexToNumber,
  isHex,
  numberToHex,
} from "viem";
import { z } from "zod";
import { RpcRefusedError, RpcUnavailableError } from "../errors.ts";
import { hexSchema, nodeAddressSchema } from "./node-schemas.ts";

/**
 * Answers JSON-RPC requests.
 *
 * Throws RpcRefusedError when the node answers with an error and RpcUnavailableError when it does not answer.
 */
export type Node = (method: string, params: unknown) => Promise<unknown>;

const quantity = hexSchema.transform((value) => hexToNumber(value));

const logSchema = z.object({
  address: nodeAddressSchema,
  topics: z.array(hexSchema),
  data: hexSchema,
  logIndex: quantity,
  blockNumber: hexSchema.transform((value) => hexToBigInt(value)),
  blockHash: hexSchema,
  transactionHash: hexSchema,
  removed: z.boolean(),
});

const transactionReceiptSchema = z.object({
  transactionHash: hexSchema,
  status: z.enum(["0x0", "0x1"]),
  blockNumber: quantity,
  blockHash: hexSchema,
  gasUsed: hexSchema.transform((value) => hexToBigInt(value)),
  effectiveGasPrice: hexSchema.transform((value) => hexToBigInt(value)),
  logs: z.array(logSchema),
  /** Unix seconds; Anvil says it here and spares a question. */
  blockTimestamp: z.union([z.int(), quantity]).optional(),
});

/** The fields of a transaction receipt that the relayer needs. */
export type TransactionReceipt = z.infer<typeof transactionReceiptSchema>;

const blockSchema = z.object({ hash: hexSchema, timestamp: quantity });
const headSchema = z.object({ number: quantity, hash: hexSchema, parentHash: hexSchema });

const poolSchema = z.object({ pending: quantity });

/** The newest block of the chain. */
export type Head = z.infer<typeof headSchema>;
const minedCallSchema = z.object({
  from: hexSchema,
  to: hexSchema.nullable(),
  input: hexSchema,
  gas: hexSchema,
  blockNumber: hexSchema,
});
const traceSchema = z.object({ output: hexSchema.optional(), error: z.string().optional() });

/**
 * Returns the number of nonces of a wallet that the chain has used up to a block, by default the newest: its next
 * nonce.
 */
export function readNonce(node: Node, signer: Address, block?: number): Promise<number> {
  const point = block === undefined ? "latest" : numberToHex(block);
  return askNode(node, "eth_getTransactionCount", [signer, point], quantity);
}

/** Returns the wei of an account at the newest block. */
export function readBalance(node: Node, account: Address): Promise<bigint> {
  return askNode(
    node,
    "eth_getBalance",
    [account, "latest"],
    hexSchema.transform((value) => hexToBigInt(value)),
  );
}

/** Returns the timestamp that the next block would have, in Unix seconds. */
export async function readNextBlockTime(node: Node): Promise<number> {
  const pending = blockSchema.pick({ timestamp: true });
  return (await askNode(node, "eth_getBlockByNumber", ["pending", false], pending)).timestamp;
}

/**
 * Runs a call on the newest block without sending it.
 *
 * @param time - the block time that it sees, in Unix seconds.
 * @throws RpcRefusedError with the revert data.
 */
export async function simulateCall(
  node: Node,
  call: { from: Address; to: Address; data: Hex; gas: bigint },
  time: number,
): Promise<void> {
  const transaction = { ...call, gas: numberToHex(call.gas) };
  await askNode(node, "eth_call", [transaction, "latest", {}, { time: numberToHex(time) }], hexSchema);
}

/** Hands signed bytes to the node. */
export function sendRaw(node: Node, raw: Hex): Promise<Hex> {
  return askNode(node, "eth_sendRawTransaction", [raw], hexSchema);
}

/** The transaction receipt of a mined transaction that is on the chain now. */
export function readTransactionReceipt(node: Node, hash: Hex): Promise<TransactionReceipt | null> {
  return askNode(node, "eth_getTransactionReceipt", [hash], transactionReceiptSchema.nullable());
}

/** Returns whether the node has a transaction, waiting or mined. */
export async function knowsTransaction(node: Node, hash: Hex): Promise<boolean> {
  return (await askNode(node, "eth_getTransactionByHash", [hash], z.unknown())) !== null;
}

/** Returns the number of transactions in the node's pool that could be mined now. */
export async function countMinable(node: Node): Promise<number> {
  return (await askNode(node, "txpool_status", [], poolSchema)).pending;
}

/** The number of the newest block. */
export function readHead(node: Node): Promise<number> {
  return askNode(node, "eth_blockNumber", [], quantity);
}

/** The newest block. */
export function readHeadBlock(node: Node): Promise<Head> {
  return askNode(node, "eth_getBlockByNumber", ["latest", false], headSchema);
}

/** The hash of the block that the chain has at a height now, or null when it is not that high. */
export async function readBlockHash(node: Node, number: number): Promise<Hex | null> {
  const block = await askNode(
    node,
    "eth_getBlockByNumber",
    [numberToHex(number), false],
    blockSchema.pick({ hash: true }).nullable(),
  );
  return block?.hash ?? null;
}

/** Returns a block's timestamp, in Unix seconds. */
export async function readBlockTime(node: Node, block: Hex | number): Promise<number> {
  const { timestamp } =
    typeof block === "number"
      ? await askNode(node, "eth_getBlockByNumber", [numberToHex(block), false], blockSchema)
      : await askNode(node, "eth_getBlockByHash", [block, false], blockSchema);
  return timestamp;
}

/**
 * Returns the revert data of a mined transaction, found by running it again where it was mined. On a node that does not trace, its call is run
 * again at the end of its block, where it may revert for another reason or not at all: then there is no data.
 */
export async function traceRevert(node: Node, hash: Hex): Promise<{ data: Hex; message: string }> {
  try {
    const tracer = { tracer: "callTracer" };
    const trace = await askNode(node, "debug_traceTransaction", [hash, tracer], traceSchema);
    return { data: trace.output ?? "0x", message: trace.error ?? "execution reverted" };
  } catch (error) {
    if (!(error instanceof RpcRefusedError)) throw error;
  }
  const { from, to, input, gas, blockNumber } = await askNode(
    node,
    "eth_getTransactionByHash",
    [hash],
    minedCallSchema,
  );
  try {
    await askNode(node, "eth_call", [{ from, to, data: input, gas }, blockNumber], hexSchema);
    return { data: "0x", message: "execution reverted" };
  } catch (error) {
    if (!(error instanceof RpcRefusedError)) throw error;
    return { data: error.data ?? "0x", message: "execution reverted" };
  }
}

/**
 * Asks the node and checks the form of its answer.
 *
 * @throws what the node throws, and RpcUnavailableError when its answer has another form.
 */
export async function askNode<Answer extends z.ZodType>(
  node: Node,
  method: string,
  params: unknown,
  answer: Answer,
): Promise<z.infer<Answer>> {
  const parsed = answer.safeParse(await node(method, params));
  if (!parsed.success) throw new RpcUnavailableError(method, parsed.error);
  return parsed.data;
}

/** Returns the node behind an EIP-1193 request function. */
export function toNode(request: EIP1193RequestFn): Node {
  return async (method, params) => {
    try {
      return await request({ method, params });
    } catch (error) {
      throw refusal(method, error) ?? new RpcUnavailableError(method, error);
    }
  };
}

// viem wraps the node's error object in errors of its own and marks those without an answer with code -1.
const refusalSchema = z.object({ code: z.number().int(), message: z.string(), data: z.unknown().optional() });

function refusal(method: string, error: unknown): RpcRefusedError | null {
  let innermost: { code: number; message: string } | null = null;
  let data: Hex | null = null;
  for (let cause = error; cause !== null && typeof cause === "object"; cause = causeOf(cause)) {
    const parsed = refusalSchema.safeParse(cause);
    if (!parsed.success || parsed.data.code === -1) continue;
    innermost = parsed.data;
    if (isHex(parsed.data.data)) data = parsed.data.data;
  }
  return innermost && new RpcRefusedError(method, innermost.code, innermost.message, data, error);
}

function causeOf(error: object): unknown {
  return "cause" in error ? error.cause : null;
}
