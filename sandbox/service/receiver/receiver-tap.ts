import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { collectBody } from "../../lib/http/collect-body.ts";
import { type Arrival, headersOf } from "./arrival.ts";
import type { DeliveryFaults, ReceiverFault } from "./delivery-fault.ts";

/**
 * Listens in front of a receiver: sees what arrives there, byte for byte, and makes it fail on demand.
 *
 * @example listener.serve(tap.guard(api))
 */
export class ReceiverTap {
  readonly #path: string | null;
  readonly #faults: DeliveryFaults;
  readonly #arrived: (arrival: Omit<Arrival, "verified">, body: Buffer) => void;
  /** The number of deliveries that have arrived; part of a snapshot. */
  count = 0;

  constructor(tap: {
    /** The receiver's path; null where everything that is posted is a delivery. */
    path: string | null;
    faults: DeliveryFaults;
    /** Called with each delivery once it is answered, or its connection is gone. */
    arrived: (arrival: Omit<Arrival, "verified">, body: Buffer) => void;
  }) {
    this.#path = tap.path;
    this.#faults = tap.faults;
    this.#arrived = tap.arrived;
  }

  /** Wraps the API; everything that is not a delivery goes through untouched. */
  guard(handler: RequestListener): RequestListener {
    return (request, response) => {
      const isDelivery = request.method === "POST" && request.url === (this.#path ?? request.url);
      if (isDelivery) this.#take(request, response, handler);
      else handler(request, response);
    };
  }

  #take(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    this.count += 1;
    const number = this.count;
    const body = collectBody(request);
    response.once("close", () => {
      const bytes = body();
      const status = response.writableFinished ? response.statusCode : null;
      this.#arrived({ number, headers: headersOf(request), body: bytes.toString(), status }, bytes);
    });
    const fault = this.#faults.takeAtReceiver();
    if (fault === null) handler(request, response);
    else act(fault, request, response, () => handler(request, response));
  }
}

function act(
  fault: ReceiverFault,
  request: IncomingMessage,
  response: ServerResponse,
  handOn: () => void,
): void {
  if ("delayMs" in fault) {
    // Without a claim on the process: a sandbox that closes does not wait for it.
    pause(fault.delayMs, undefined, { ref: false }).then(() => {
      if (!response.destroyed) handOn();
    });
    return;
  }
  // The whole body is taken first, so that it is seen as it was sent.
  request.once("end", () => {
    if ("drop" in fault) response.destroy();
    else response.writeHead(fault.status, fault.headers).end(fault.body);
  });
  request.resume();
}
