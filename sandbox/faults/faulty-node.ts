import type { EIP1193RequestFn } from "viem";
import { AnvilSilentError } from "../chain/client/anvil-silent-error.ts";
import type { Waits } from "../lib/time/waits.ts";
import type { RpcCaller } from "./fault-matrix.ts";
import type { SandboxFaults } from "./faults.ts";

/** The code of an internal error of JSON-RPC. */
const internalError = -32_603;

/**
 * A refusal by the node.
 *
 * Not a CodedError: viem looks for the number of a JSON-RPC error.
 */
class NodeRefusal extends Error {
  readonly code = internalError;
}

/** The parts that the faults of the layer `rpc` need. */
interface FaultyNode {
  caller: RpcCaller;
  faults: SandboxFaults;
  waits: Waits;
  /** Ends delays early: aborted when the process closes. */
  closing: AbortSignal;
}

/**
 * Does something that calls the node, with the faults that are set for the call.
 *
 * @throws AnvilSilentError when the node accepts no connection or its answer is lost.
 */
export async function callNode<T>(
  method: string,
  call: () => Promise<T>,
  { caller, faults, waits, closing }: FaultyNode,
): Promise<T> {
  const before = faults.take("rpc", "before_call", { caller, method });
  if (before?.action === "refuse") throw new AnvilSilentError("The node accepts no connection (fault).");
  if (before?.action === "rpc_error") throw new NodeRefusal("Internal error (fault)");
  if (before?.delay_ms !== undefined) await waits.wait(before.delay_ms, closing);
  const answer = await call();
  if (faults.take("rpc", "after_call", { caller, method }) !== null)
    throw new AnvilSilentError("The node's response was lost (fault).");
  return answer;
}

/** The node as one caller meets it: the real one, with the faults of the layer `rpc`. */
export function faultyNode(request: EIP1193RequestFn, node: FaultyNode): EIP1193RequestFn {
  const faulty: EIP1193RequestFn = async (question, options) => {
    const { method }: { method: string } = question;
    return await callNode(method, async () => await request(question, options), node);
  };
  return faulty;
}
