import { type Hex, keccak256 } from "viem";
import { z } from "zod";
import type { RelayerContext } from "../context.ts";
import { RpcRefusedError, RpcUnavailableError } from "../errors.ts";
import type { RelayOperationRecord } from "../journal/relay-operation.ts";
import type { Node } from "../node/node.ts";
import { hexSchema } from "../node/node-schemas.ts";
import type { FaultPoint } from "./fault.ts";
import { reach, useForeignNonce } from "./fault-point.ts";

const pointOfMethod: { [method: string]: FaultPoint } = {
  eth_call: "simulate",
  eth_getTransactionCount: "nonce",
  eth_sendRawTransaction: "broadcast",
  eth_getTransactionReceipt: "receipt",
};

/** The node as one operation meets it: the real one, with the faults that are set for this operation. */
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
      throw new RpcUnavailableError(method, new Error("the answer was lost (fault)"));
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
