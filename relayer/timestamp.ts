import { toTimestamp } from "../protocol/time.ts";
import type { RelayerContext } from "./context.ts";
import { RpcUnavailableError } from "./errors.ts";

/** Chain time now, as the journal writes it. */
export async function timestamp(context: RelayerContext): Promise<string> {
  try {
    return toTimestamp(await context.clock.now());
  } catch (error) {
    throw new RpcUnavailableError("The clock of the chain", error);
  }
}
