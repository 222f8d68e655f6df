import type { EIP1193RequestFn } from "viem";
import { AnvilSilentError } from "../chain/client/anvil-silent-error.ts";
import type { Waits } from "../lib/time/waits.ts";
import type { Fault } from "./fault.ts";
import type { LayerAction, LayerPoint, RpcCaller } from "./fault-matrix.ts";
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

/** Does what a fault does to a call. */
type Effect = (fault: Fault, node: FaultyNode) => Promise<void>;

/** The effect of each action of the layer `rpc`. */
const effects: { readonly [A in LayerAction<"rpc">]: Effect } = {
  async refuse() {
    throw new AnvilSilentError("The node accepts no connection (fault).");
  },
  async rpc_error() {
    throw new NodeRefusal("Internal error (fault)");
  },
  async delay({ delay_ms = 0 }, { waits, closing }) {
    await waits.wait(delay_ms, closing);
  },
  async lose_response() {
    throw new AnvilSilentError("The node's response was lost (fault).");
  },
};
const effectOf = new Map<string, Effect>(Object.entries(effects));

/**
 * Does something that calls the node, with the faults that are set for the call.
 *
 * @throws AnvilSilentError when the node accepts no connection or its answer is lost.
 */
export async function callNode<T>(method: string, call: () => Promise<T>, node: FaultyNode): Promise<T> {
  const act = async (point: LayerPoint<"rpc">) => {
    const fault = node.faults.take("rpc", point, { caller: node.caller, method });
    if (fault !== null) await effectOf.get(fault.action)?.(fault, node);
  };
  await act("before_call");
  const answer = await call();
  await act("after_call");
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
