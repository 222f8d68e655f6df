import { type EIP1193RequestFn, isHex, keccak256 } from "viem";
import { z } from "zod";
import type { RelayerContext } from "./context.ts";
import type { FaultPoint } from "./fault.ts";
import { reach, useForeignNonce } from "./fault-point.ts";
import type { OperationRecord } from "./operation.ts";

const pointOfMethod: { [method: string]: FaultPoint } = {
  eth_call: "simulate",
  eth_getTransactionCount: "nonce",
  eth_sendRawTransaction: "broadcast",
  eth_getTransactionReceipt: "receipt",
};

/** The node as one operation meets it: the real one, with the faults that are set for this operation. */
export function nodeOf(context: RelayerContext, operation: OperationRecord): EIP1193RequestFn {
  const { faults, request } = context;
  const faulty = async (args: { method: string; params?: unknown }): Promise<unknown> => {
    const point = pointOfMethod[args.method];
    if (point === undefined) return request(args);
    await reach(context, point, operation);
    if (faults.take(point, "foreign_nonce", operation)) await useForeignNonce(context, operation.from);
    if (faults.take(point, "rpc_error", operation)) throw new FaultyAnswer(-32603, "Internal error (fault)");
    if (faults.take(point, "insufficient_funds", operation))
      throw new FaultyAnswer(-32003, "Insufficient funds for gas * price + value (fault)");
    if (faults.take(point, "drop", operation)) return keccak256(rawOf(args.params));
    if (faults.take(point, "duplicate", operation)) {
      const answer = await request(args);
      await request(args).catch(() => undefined);
      return answer;
    }
    if (faults.take(point, "lose_response", operation)) {
      await request(args);
      throw new Error(`The answer to ${args.method} was lost (fault).`);
    }
    return request(args);
  };
  // The port's type says per method what comes back; here every answer passes through as it came.
  return faulty as EIP1193RequestFn;
}

/** An error as the node words it: with a JSON-RPC code. */
class FaultyAnswer extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const rawParams = z.tuple([z.custom<`0x${string}`>((value) => isHex(value))]);

function rawOf(params: unknown): `0x${string}` {
  return rawParams.parse(params)[0];
}
