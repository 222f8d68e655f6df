import { performance } from "node:perf_hooks";
import { AbortSignal } from "../../protocol/globals.ts";
import { ChainUnavailableError } from "../../server/chain/chain-reader.ts";
import type { Deliver, Services } from "../../server/http/services.ts";
import type { SandboxClock } from "../chain/clock/clock.ts";
import { ClockError } from "../chain/clock/duration.ts";
import type { SandboxFaults } from "../faults/faults.ts";
import { deliverTo } from "../lib/http/deliver.ts";
import { crashProcess } from "../lib/processes/processes.ts";
import { wait } from "../lib/time/timers.ts";
import type { Waits } from "../lib/time/waits.ts";
import type { ReceiverPin } from "./receiver-pin.ts";

/**
 * Opens the way of notifications out of the service: deliveries to the pinned receiver, the pauses between them, and the faults
 * that end the process on the way.
 */
export function openWebhookSender(parts: {
  receiver: ReceiverPin;
  timeoutMs: number;
  clock: Pick<SandboxClock, "mode" | "travel">;
  faults: Pick<SandboxFaults, "take">;
  waits: Waits;
  signal: AbortSignal;
}): Pick<Services, "deliver" | "pause"> {
  const { receiver, timeoutMs, clock, faults, waits, signal } = parts;
  // A deterministic clock does not move while a receiver answers.
  const stopwatch = clock.mode === "live" ? () => performance.now() : () => 0;
  const crashAt = async (point: string) => {
    if (faults.take("delivery", point) !== null) await crashProcess();
  };
  const deliver: Deliver = async (headers, body, releaseGate) => {
    receiver.delivers();
    await crashAt("before_delivery");
    const send = receiver.through(deliverTo(receiver.receiver, { timeoutMs, stopwatch }));
    const outcome = await releaseGate(
      async (undone) => await send(headers, body, AbortSignal.any([waits.end, signal, undone])),
    );
    await crashAt("after_delivery");
    return outcome;
  };
  const pause: Services["pause"] = async (milliseconds, releaseGate) => {
    await crashAt("before_pause");
    await letTimePass(clock, waits.until(signal))(milliseconds, releaseGate);
  };
  return { deliver, pause };
}

/**
 * Lets sandbox time pass. With a live clock, it waits, without delaying snapshots. A deterministic clock is moved by whole seconds, with
 * the chain and without waiting.
 *
 * @param signal - ends a wait early.
 */
function letTimePass(clock: Pick<SandboxClock, "mode" | "travel">, signal: AbortSignal): Services["pause"] {
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
