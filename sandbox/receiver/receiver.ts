import type { RequestListener } from "node:http";
import { URL } from "../../protocol/globals.ts";
import { verifyWebhook } from "../../protocol/signatures/webhook.ts";
import type { KeyRing } from "../../server/keys/key-ring.ts";
import { requireArgument, requireMilliseconds, wrongArgument } from "../client/require-argument.ts";
import type { SandboxFaults } from "../faults/faults.ts";
import { closedError } from "../lib/errors/closed-error.ts";
import { isLostConnection } from "../lib/errors/is-lost-connection.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { fetchDirect } from "../lib/http/direct/fetch-direct.ts";
import { ownState, type Part } from "../lib/part.ts";
import { endsWithin } from "../lib/time/timers.ts";
import type { Waits } from "../lib/time/waits.ts";
import { type Arrival, webhookHeadersOf } from "./arrival.ts";
import { DeliveryRecorder } from "./delivery-recorder.ts";
import type { ReceiverPin } from "./receiver-pin.ts";
import type { ResendAnswer } from "./resend-event.ts";

/** The default time that {@link SandboxReceiver.next} waits, in milliseconds. */
export const nextTimeoutMs = 5_000;

/** The number of deliveries that are kept. */
export const keptArrivals = 1_000;

/** The state of the receiver in a snapshot. */
export interface ReceiverState {
  count: number;
  arrivals: readonly Arrival[];
  /** The numbers of the deliveries that {@link SandboxReceiver.next} has returned. */
  taken: readonly number[];
}

interface Waiter {
  matches: (arrival: Arrival) => boolean;
  resolve: (arrival: Arrival) => void;
  reject: (reason: unknown) => void;
}

/**
 * The test receiver: lists and awaits its deliveries, sends duplicates, and pins another receiver.
 *
 * @example
 * const { body, headers } = await sandbox.receiver.next();
 */
export class SandboxReceiver implements Part<ReceiverState> {
  readonly name = "receiver";
  readonly schema = ownState<ReceiverState>();
  readonly #pin: ReceiverPin;
  readonly #pinned: (url: string) => Promise<void>;
  readonly #keys: KeyRing;
  readonly #resendEvent: (id: string) => Promise<ResendAnswer>;
  readonly #recorder: DeliveryRecorder;
  #arrivals: readonly Arrival[] = [];
  #taken = new Set<Arrival>();
  #isClosed = false;
  #waiters: readonly Waiter[] = [];

  constructor(receiver: {
    /** The pinned receiver of notifications. */
    pin: ReceiverPin;
    /** Pins another receiver, and publishes it. */
    pinned: (url: string) => Promise<void>;
    keys: KeyRing;
    /** Sends an event to the pinned receiver once more. */
    resendEvent: (id: string) => Promise<ResendAnswer>;
    faults: Pick<SandboxFaults, "take">;
    waits: Waits;
  }) {
    this.#pin = receiver.pin;
    this.#pinned = receiver.pinned;
    this.#keys = receiver.keys;
    this.#resendEvent = receiver.resendEvent;
    this.#recorder = new DeliveryRecorder({
      path: new URL(receiver.pin.own).pathname,
      takeFault: () => receiver.faults.take("delivery", "at_receiver"),
      waits: receiver.waits,
      arrived: async (arrival, bytes) => await this.#note(arrival, bytes),
    });
  }

  /** The URL that notifications go to. */
  get url(): string {
    return this.#pin.url;
  }

  /**
   * Pins the URL of your own receiver, for a test that starts its server after the sandbox. You can call it once, before the first
   * delivery, if the start names no receiver. A restore to an earlier snapshot undoes the pin.
   *
   * @throws SandboxError receiver_invalid, receiver_unresolved; receiver_pinned when a receiver was named or a delivery was made before;
   * sandbox_shared while other processes have joined.
   * @example await sandbox.receiver.pin(`http://127.0.0.1:${server.address().port}/webhooks`)
   */
  async pin(url: string | URL): Promise<void> {
    if (typeof url !== "string" && Object.prototype.toString.call(url) !== "[object URL]")
      throw wrongArgument(
        "receiver.pin takes a URL",
        url,
        showValue(url),
        'Pass one such as "http://127.0.0.1:3000/webhooks".',
      );
    await this.#pinned(String(url));
  }

  /** Wraps the API so that its deliveries are recorded. */
  guard(handler: RequestListener): RequestListener {
    return this.#recorder.guard(handler);
  }

  /** Returns the last deliveries that arrived, at most {@link keptArrivals}, the oldest first. */
  deliveries(): readonly Arrival[] {
    return this.#arrivals;
  }

  /**
   * Returns the next delivery that no earlier call has returned, and waits until there is one.
   *
   * @param matches - returns whether a delivery is the wanted one.
   * @throws SandboxError no_delivery when none arrives in time; argument_invalid.
   * @example await sandbox.receiver.next(({ status }) => status === 200)
   */
  async next(matches: Waiter["matches"] = () => true, timeoutMs = nextTimeoutMs): Promise<Arrival> {
    if (typeof matches !== "function")
      throw wrongArgument(
        "receiver.next takes a function and a time in milliseconds",
        matches,
        showValue(matches),
        "Pass them as in next(({ status }) => status === 200, 1_000).",
      );
    requireMilliseconds("receiver.next", timeoutMs);
    const there = this.#arrivals.find((one) => !this.#taken.has(one) && matches(one));
    if (there !== undefined) {
      this.#taken.add(there);
      return there;
    }
    if (this.#isClosed) throw closedError();
    const { promise, resolve, reject } = Promise.withResolvers<Arrival>();
    const waiter = { matches, resolve, reject };
    this.#waiters = [...this.#waiters, waiter];
    try {
      if (!(await endsWithin(promise, timeoutMs))) throw this.#nothingCame(timeoutMs);
      return await promise;
    } finally {
      this.#waiters = this.#waiters.filter((one) => one !== waiter);
    }
  }

  /** Ends all waiting: no more events arrive. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiters) reject(closedError());
  }

  /**
   * Sends a duplicate, which does not count as an attempt. For the id of an event, or an object with an `event_id` such as a notification,
   * the event is sent to the pinned receiver, signed now. A delivery that arrived at the test receiver is sent there again, with
   * the same headers and bytes.
   *
   * @returns the answer of the receiver; `status` is null without an answer.
   * @throws SandboxError argument_invalid, also for an event that was never sent.
   * @example
   * const [notification] = await sandbox.deliverAll();
   * await sandbox.receiver.resend(notification);
   */
  async resend(delivery: Arrival | string | { event_id: string }): Promise<ResendAnswer> {
    if (typeof delivery === "string") return await this.#resendEvent(delivery);
    if (isOfEvent(delivery)) return await this.#resendEvent(delivery.event_id);
    requireArgument("resend", "delivery", delivery);
    const { headers, body } = delivery;
    const { "content-type": type = "application/json" } = headers;
    try {
      const response = await fetchDirect(this.#pin.own, {
        method: "POST",
        headers: { "content-type": type, ...webhookHeadersOf(headers) },
        body,
      });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      // fetchDirect throws a TypeError for every lost connection.
      if (isLostConnection(error)) return { status: null, body: "" };
      throw error;
    }
  }

  /** Returns the state for a snapshot. */
  capture(): ReceiverState {
    return {
      count: this.#recorder.count,
      arrivals: this.#arrivals,
      taken: [...this.#taken].map(({ number }) => number),
    };
  }

  /** Restores the state of a snapshot. */
  restore({ count, arrivals, taken }: ReceiverState): void {
    this.#recorder.count = count;
    this.#arrivals = arrivals;
    this.#taken = new Set(arrivals.filter(({ number }) => taken.includes(number)));
  }

  async #note(seen: Omit<Arrival, "verified">, bytes: Buffer): Promise<void> {
    // A store that does not respond has no keys, and the delivery got 503.
    const keys = await this.#keys.notifications().catch(() => null);
    const verified =
      keys !== null && verifyWebhook(webhookHeadersOf(seen.headers), bytes, keys.current.key.publicKey);
    const arrival: Arrival = { ...seen, verified };
    this.#arrivals = [...this.#arrivals, arrival].slice(-keptArrivals);
    const waiter = this.#waiters.find((one) => isWanted(one, arrival));
    if (waiter === undefined) return;
    this.#taken.add(arrival);
    this.#waiters = this.#waiters.filter((one) => one !== waiter);
    waiter.resolve(arrival);
  }

  #nothingCame(milliseconds: number): SandboxError {
    const remedy = this.#pin.isOwn
      ? "Deliver events with deliverAll(), or wait longer with the second argument of next()."
      : `Notifications go to ${this.url}, not to the test receiver.`;
    return new SandboxError("no_delivery", `No such delivery arrived within ${milliseconds} ms. ${remedy}`);
  }
}

function isOfEvent(value: Arrival | { event_id: string }): value is { event_id: string } {
  return typeof value === "object" && value !== null && "event_id" in value;
}

/** Returns whether a delivery matches the function of a waiting caller. An error of that function is thrown to that caller. */
function isWanted({ matches, reject }: Waiter, arrival: Arrival): boolean {
  try {
    return matches(arrival);
  } catch (error) {
    reject(error);
    return false;
  }
}
