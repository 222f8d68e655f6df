import { type Address, getAddress, type Hex, numberToHex } from "viem";
import { z } from "zod";
import { decodeCall } from "../../../protocol/call.ts";
import { nodeAddressSchema } from "../../../relayer/node/node-schemas.ts";
import type { BlockPoint } from "../../../server/chain/chain-reader.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import type { ChainClient } from "../../chain/client/chain-client.ts";
import { describeRevert } from "../../chain/describe-revert.ts";
import { shortenArgument } from "../../lib/errors/show-value.ts";
import { contractAt, labelOf } from "../address-book.ts";
import type { Frame } from "../explanation.ts";

const bytes = z.custom<Hex>((value) => typeof value === "string" && value.startsWith("0x"));

/** One call as the tracer tells it. */
export interface TracedCall {
  type: string;
  from: Address;
  to?: Address | undefined;
  input: Hex;
  output?: Hex | undefined;
  error?: string | undefined;
  gasUsed?: Hex | undefined;
  /** The inner calls; undefined where there are none, or where they were not asked for. */
  calls?: TracedCall[] | undefined;
}

/** The answer of the tracer `callTracer`. */
const tracedCall: z.ZodType<TracedCall> = z.lazy(() =>
  z.object({
    type: z.string(),
    from: nodeAddressSchema,
    to: nodeAddressSchema.optional(),
    input: bytes,
    output: bytes.optional(),
    error: z.string().optional(),
    gasUsed: bytes.optional(),
    calls: z.array(tracedCall).optional(),
  }),
);

/** A call to trace that was not sent. */
interface TraceableCall {
  from: Address;
  to: Address;
  data: Hex;
  value: bigint;
}

/** The effects of a transaction or a call, as the node traces them. */
export interface Traces {
  /** The tree of calls; null where the node does not trace. */
  trace: TracedCall | null;
  /** Whether the inner calls were not asked for, because there may be too many. */
  isCut: boolean;
  /** The balances and slots that have changed, as the tracer `prestateTracer` returns them; null where the node does not trace. */
  diff: unknown;
}

/** Traces a mined transaction. */
export async function traceTransaction(hash: Hex, client: ChainClient): Promise<Traces> {
  return await traceBoth(client, "debug_traceTransaction", (tracer) => [hash, tracer]);
}

/**
 * Traces a call on the state of a block, without a fee.
 *
 * @param time - the time of the block that the call is in.
 */
export async function traceCall(
  { from, to, data, value }: TraceableCall,
  { at, time }: { at: BlockPoint; time: number },
  client: ChainClient,
): Promise<Traces> {
  const blockOverrides = { time: numberToHex(time) };
  return await traceBoth(client, "debug_traceCall", (tracer) => [
    { from, to, data, value: numberToHex(value) },
    numberToHex(at.number),
    { ...tracer, blockOverrides },
  ]);
}

async function traceBoth(
  client: ChainClient,
  method: string,
  paramsOf: (tracer: object) => unknown[],
): Promise<Traces> {
  const ask = async (tracer: object) =>
    await client
      .request<{ Method: string; Parameters: unknown[]; ReturnType: unknown }>({
        method,
        params: paramsOf(tracer),
      })
      .catch(() => null);
  const [top, diff] = await Promise.all([
    ask({ tracer: "callTracer", tracerConfig: { onlyTopCall: true } }),
    ask({ tracer: "prestateTracer", tracerConfig: { diffMode: true } }),
  ]);
  const outer = tracedCall.safeParse(top).data ?? null;
  if (BigInt(outer?.gasUsed ?? 0) > mostTreeGas) return { trace: outer, isCut: true, diff };
  const tree = await ask({ tracer: "callTracer" });
  return { trace: tracedCall.safeParse(tree).data ?? null, isCut: false, diff };
}

/**
 * The most gas of a transaction whose inner calls are read: Anvil takes a time for them that grows with the square of their number, and answers nothing
 * else meanwhile: about 4 seconds for as many as this pays for, and minutes for those of a full block.
 */
const mostTreeGas = 4_000_000n;

/** Every call of a trace, the outer ones first. */
export function allCalls(call: TracedCall): TracedCall[] {
  return [call, ...(call.calls ?? []).flatMap(allCalls)];
}

/** A trace with every call in words. */
export function viewTrace(call: TracedCall, deployment: Deployment): Frame {
  const to = call.to === undefined ? null : getAddress(call.to);
  const contract = contractAt(deployment, to);
  const decoded = contract === null ? null : decodeCall(contract.abi, call.input);
  const selector = call.input === "0x" ? "no data" : call.input.slice(0, 10);
  return {
    type: call.type,
    from: getAddress(call.from),
    to,
    contract: labelOf(deployment, to),
    call:
      decoded === null
        ? call.type.startsWith("CREATE")
          ? "constructor"
          : selector
        : `${decoded.function}(${Object.values(decoded.args).map(shortenArgument).join(", ")})`,
    failure: call.error === undefined ? null : (describeRevert(call.output) ?? call.error),
    calls: (call.calls ?? []).map((inner) => viewTrace(inner, deployment)),
  };
}
