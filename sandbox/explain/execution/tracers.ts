import { type Address, type Hex, numberToHex } from "viem";
import type { BlockPoint } from "../../../server/chain/chain-reader.ts";
import type { ChainClient } from "../../chain/client/chain-client.ts";

/** A tracer of the node, with its settings. */
interface Tracer {
  tracer: string;
  tracerConfig?: object;
}

/** The tracer that returns the tree of calls. */
export const callTree: Tracer = { tracer: "callTracer" };

/** The tracer that returns the balances and slots that have changed. */
export const stateDiff: Tracer = { tracer: "prestateTracer", tracerConfig: { diffMode: true } };

/** A call to trace that was not sent. */
interface TraceableCall {
  from: Address;
  to: Address;
  data: Hex;
  value: bigint;
}

/** Traces a mined transaction; null when the node does not trace. */
export async function traceTransaction(hash: Hex, tracer: Tracer, client: ChainClient): Promise<unknown> {
  return await client
    .request<{ Method: "debug_traceTransaction"; Parameters: [Hex, object]; ReturnType: unknown }>({
      method: "debug_traceTransaction",
      params: [hash, tracer],
    })
    .catch(() => null);
}

/**
 * Traces a call on the state of a block, without a fee; null when the node does not trace.
 *
 * @param time - the time of the block that the call is in.
 */
export async function traceCall(
  { from, to, data, value }: TraceableCall,
  { at, time }: { at: BlockPoint; time: number },
  tracer: Tracer,
  client: ChainClient,
): Promise<unknown> {
  return await client
    .request<{ Method: "debug_traceCall"; Parameters: [object, Hex, object]; ReturnType: unknown }>({
      method: "debug_traceCall",
      params: [
        { from, to, data, value: numberToHex(value) },
        numberToHex(at.number),
        { ...tracer, blockOverrides: { time: numberToHex(time) } },
      ],
    })
    .catch(() => null);
}
