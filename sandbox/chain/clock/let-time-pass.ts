import { AbortSignal } from "../../../protocol/globals.ts";
import { ChainUnavailableError } from "../../../server/chain/chain-reader.ts";
import type { Services } from "../../../server/services.ts";
import { wait } from "../../lib/time/wait.ts";
import type { SandboxClock } from "./clock.ts";
import { ClockError } from "./clock-error.ts";

/**
 * Lets sandbox time pass. With a live clock, it waits, without delaying snapshots. A deterministic clock is moved by whole seconds, with
 * the chain and without waiting.
 *
 * @param signal - ends a wait early.
 * @example const pause = letTimePass(chain.clock, signal); await pause(500, releaseGate)
 */
export function letTimePass(
  clock: Pick<SandboxClock, "mode" | "travel">,
  signal: AbortSignal,
): Services["pause"] {
  return async (milliseconds, releaseGate) => {
    if (clock.mode === "live")
      await releaseGate(async (undone) => await wait(milliseconds, AbortSignal.any([signal, undone])));
    else if (milliseconds > 0)
      await clock.travel(Math.ceil(milliseconds / 1_000)).catch((cause: unknown) => {
        if (cause instanceof ClockError) throw cause;
        throw new ChainUnavailableError(
          "The chain does not respond, so its time cannot pass. Send the identical request again.",
          { cause },
        );
      });
  };
}
