import { toTimestamp } from "../../protocol/values/time.ts";
import type { RelayerContext } from "../context.ts";
import { RpcUnavailableError } from "../errors.ts";

/** Chain time now, as the journal writes it. */
export async function timestamp(context: RelayerContext): Promise<string> {
  return toTimestamp(await readTime(context));
}

/** Chain time now, in Unix seconds. */
export async function readTime(context: RelayerContext): Promise<number> {
  try {
    return await context.clock.now();
  } catch (error) {
    throw new RpcUnavailableError("The clock of the chain", error);
  }
}

/** A context whose clock is read once: what is done in one go has one time, whatever is mined meanwhile. */
export function atOneTime(context: RelayerContext): RelayerContext {
  let reading: Promise<number> | undefined;
  const now = () => {
    reading ??= context.clock.now();
    return reading;
  };
  return { ...context, clock: { now } };
}
