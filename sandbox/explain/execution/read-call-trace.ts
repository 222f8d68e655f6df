import { type Address, getAddress, type Hex } from "viem";
import { z } from "zod";
import { decodeCall } from "../../../protocol/call.ts";
import { nodeAddressSchema } from "../../../relayer/node/node-schemas.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
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
  calls?: TracedCall[] | undefined;
}

/** The answer of the tracer {@link callTree}. */
const tracedCall: z.ZodType<TracedCall> = z.lazy(() =>
  z.object({
    type: z.string(),
    from: nodeAddressSchema,
    to: nodeAddressSchema.optional(),
    input: bytes,
    output: bytes.optional(),
    error: z.string().optional(),
    calls: z.array(tracedCall).optional(),
  }),
);

/** Reads the answer of the tracer {@link callTree}; null where the node does not trace. */
export function readTrace(answer: unknown): TracedCall | null {
  return tracedCall.safeParse(answer).data ?? null;
}

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
