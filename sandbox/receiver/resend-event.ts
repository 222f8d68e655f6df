import type { KeyRing } from "../../server/keys/key-ring.ts";
import { signEvent } from "../../server/notifications/outbox/deliver-event.ts";
import type { Store } from "../../server/store/store.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { deliverTo } from "../lib/http/deliver.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import type { Waits } from "../lib/time/waits.ts";
import type { ReceiverPin } from "./receiver-pin.ts";

/** The answer of a receiver to a duplicate; the status is null without an answer. */
export interface ResendAnswer {
  status: number | null;
  body: string;
}

/**
 * Returns a function that sends an event to the pinned receiver again, with its id and body, signed now. It does not count as an attempt,
 * and records nothing.
 *
 * @throws SandboxError argument_invalid for an event that was never sent.
 */
export function openResend(sources: {
  pin: ReceiverPin;
  keyRing: KeyRing;
  store: Store;
  gate: RequestGate;
  clock: { now: () => Promise<number> };
  timeoutMs: number;
  waits: Waits;
  signal: AbortSignal;
}): (id: string) => Promise<ResendAnswer> {
  const { pin, keyRing, store, gate, clock, timeoutMs, waits, signal } = sources;
  return async (id) => {
    const { headers, body } = await gate.runShared("a delivery", async () => {
      const event = (await store.get("events", id))?.value;
      const wasSent = (await store.get("notifications", id)) !== undefined;
      if (event === undefined || !wasSent)
        throw new SandboxError(
          "argument_invalid",
          event === undefined
            ? `There is no event ${showValue(id)}. Pass the id of an event of the outbox.`
            : `The event ${id} was never sent. Deliver it first, as deliverAll() does.`,
        );
      return { headers: await signEvent(event, await clock.now(), { keyRing }), body: event.body };
    });
    const send = deliverTo(pin.receiver, { timeoutMs, stopwatch: () => 0 });
    const { status_code, response_body } = await send(headers, body, waits.until(signal));
    return { status: status_code, body: response_body ?? "" };
  };
}
