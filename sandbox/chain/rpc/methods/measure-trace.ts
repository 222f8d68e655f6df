import { z } from "zod";
import { rpcErrorCodes } from "../error-codes.ts";
import type { RpcError } from "../read-request.ts";

/**
 * The largest input of the inner calls of a traced call together, in bytes: the trace and its answer take many times as
 * much.
 */
export const mostTracedBytes = 4 * 1024 * 1024;

/**
 * A tracer in JavaScript that sums up the length of the input of each CALL, CALLCODE, DELEGATECALL and STATICCALL from the stack. It copies
 * nothing, where Anvil's own tracers keep every input: memory costs gas once and can be passed on by every call.
 */
const tracer = `{
  bytes: 0,
  step(log) {
    const op = log.op.toNumber();
    if (op === 0xf1 || op === 0xf2) this.bytes += Number(log.stack.peek(4).toString());
    if (op === 0xf4 || op === 0xfa) this.bytes += Number(log.stack.peek(3).toString());
  },
  fault() {},
  result() { return this.bytes; },
}`;

const measured = z.object({ result: z.number() });

/** The params of a trace that measures instead. */
export function measuringParams([call, block, options]: readonly unknown[]): readonly unknown[] {
  const others = typeof options === "object" ? options : {};
  return [call, block, { ...others, tracer, tracerConfig: undefined }];
}

/**
 * Judges a measurement: null when the trace may run, the error when it would take too much memory.
 *
 * @returns undefined when the answer is not a measurement but an error of the call.
 */
export function judgeMeasurement(answer: Buffer): RpcError | null | undefined {
  const { data } = measured.safeParse(JSON.parse(answer.toString()));
  if (data === undefined) return undefined;
  if (data.result <= mostTracedBytes) return null;
  return {
    code: rpcErrorCodes.invalidParams,
    message: `The inner calls of a trace may have ${mostTracedBytes} bytes of input together, not ${data.result}. Trace a call that passes less on.`,
  };
}
