import { type Address, type Hex, keccak256 } from "viem";
import { z } from "zod";
import type { RelayerContext } from "../context.ts";
import { FaultInvalidError, RpcRefusedError, RpcUnavailableError, SignerUnknownError } from "../errors.ts";
import type { RelayOperationRecord } from "../journal/relay-operation.ts";
import { isAutomining } from "../node/automine.ts";
import { askNode, type Node, readNonce, readTransactionReceipt, sendRaw } from "../node/node.ts";
import { hexSchema } from "../node/node-schemas.ts";
import type { FaultPoint, FaultSubject } from "./fault.ts";

/** The largest number of checks, a millisecond of `wait` apart. */
const looks = 1_000;

/**
 * Looks until it is so.
 *
 * @returns false when it was not, however often this looked.
 */
export async function lookUntil(
  isSo: () => Promise<boolean>,
  { wait }: Pick<RelayerContext, "wait">,
): Promise<boolean> {
  for (let look = 0; look < looks; look += 1) {
    if (await isSo()) return true;
    await wait(1);
  }
  return false;
}

/**
 * A fault holds the operation here; it stays as the journal has it.
 *
 * Not a CodedError: the relayer catches it.
 */
export class HeldError extends Error {}

/** Lets the faults act that are set at a point of the path, the points of a request included. */
export async function reach(
  context: RelayerContext,
  point: FaultPoint,
  subject: FaultSubject,
): Promise<void> {
  const { faults } = context;
  if (faults.take(point, "pause_mining", subject)) await faults.pauseMining();
  const reorg = faults.take(point, "reorg", subject);
  if (reorg) await faults.reorganize(reorg.depth ?? 1);
  if (faults.take(point, "crash", subject)) {
    if (!context.crash) throw new FaultInvalidError("This relayer was not given a way to crash.");
    await context.crash(point);
  }
  if (faults.take(point, "hold", subject))
    throw new HeldError(`${subject.operation_id} is held at ${point}.`);
}

const pointOfMethod: { [method: string]: FaultPoint } = {
  eth_call: "simulate",
  eth_getTransactionCount: "nonce",
  eth_sendRawTransaction: "broadcast",
  eth_getTransactionReceipt: "receipt",
};

/** Returns the node as one operation meets it: the real one, with the faults that are set at the points of its requests. */
export function nodeOf(context: RelayerContext, operation: RelayOperationRecord): Node {
  const { faults, node } = context;
  return async (method, params) => {
    const point = pointOfMethod[method];
    if (point === undefined) return node(method, params);
    await reach(context, point, operation);
    if (faults.take(point, "foreign_nonce", operation)) await useForeignNonce(context, operation.from);
    if (faults.take(point, "rpc_error", operation)) throw refused(method, -32603, "Internal error");
    if (faults.take(point, "insufficient_funds", operation))
      throw refused(method, -32003, "Insufficient funds for gas * price + value");
    if (faults.take(point, "drop", operation)) return keccak256(rawOf(params));
    if (faults.take(point, "duplicate", operation)) {
      const answer = await node(method, params);
      await node(method, params).catch(() => undefined);
      return answer;
    }
    if (faults.take(point, "lose_response", operation)) {
      await node(method, params);
      throw new RpcUnavailableError(method, new Error("the response was lost (fault)"));
    }
    return node(method, params);
  };
}

function refused(method: string, code: number, message: string): RpcRefusedError {
  return new RpcRefusedError(method, code, `${message} (fault)`, null, null);
}

const rawParams = z.tuple([hexSchema]);

function rawOf(params: unknown): Hex {
  return rawParams.parse(params)[0];
}

/** Other software with the signer's key sends a transaction of its own, and it is mined. */
async function useForeignNonce(context: RelayerContext, signer: Address): Promise<void> {
  const { node } = context;
  const account = context.accounts.get(signer);
  if (!account) throw new SignerUnknownError(signer);
  const { chainId } = await context.chain.identity();
  const nonce = await readNonce(node, signer);
  const { maxFeePerGas, maxPriorityFeePerGas } = await context.fees();
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId,
    nonce,
    to: signer,
    value: 0n,
    gas: 21_000n,
    maxFeePerGas: maxFeePerGas * 2n,
    maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
  });
  const hash = await sendRaw(node, raw);
  // Foreign use counts once it is mined, and exactly one block may be made for it.
  if (!(await isAutomining(node))) await askNode(node, "evm_mine", [], z.unknown());
  const isMined = await lookUntil(async () => (await readTransactionReceipt(node, hash)) !== null, context);
  if (!isMined) throw new RpcUnavailableError("The foreign transaction", new Error("it was not mined"));
}
