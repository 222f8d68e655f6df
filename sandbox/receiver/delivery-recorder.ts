import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Fault } from "../faults/fault.ts";
import { collectBody } from "../lib/http/read-bytes.ts";
import { pause } from "../lib/time/timers.ts";
import type { Waits } from "../lib/time/waits.ts";
import { type Arrival, headersOf } from "./arrival.ts";

/** A fault of a receiver: it answers a status, waits, or drops the connection (`reset`). */
export type ReceiverFault = Pick<Fault, "action" | "status" | "headers" | "body" | "delay_ms">;

/** Intercepts the requests to a receiver, records each delivery byte for byte, and makes deliveries fail on demand. */
export class DeliveryRecorder {
  readonly #path: string | null;
  readonly #takeFault: () => ReceiverFault | null;
  readonly #waits: Waits;
  readonly #arrived: (arrival: Omit<Arrival, "verified">, body: Buffer) => Promise<void>;
  /** The number of deliveries that have arrived; part of a snapshot. */
  count = 0;

  constructor(recorder: {
    /** The receiver's path; null if every POST is a delivery. */
    path: string | null;
    /** Returns the fault of the next delivery, if it has one. */
    takeFault: () => ReceiverFault | null;
    waits: Waits;
    /** Called with each delivery once it is answered or its connection is closed. Must not reject: nothing awaits it. */
    arrived: (arrival: Omit<Arrival, "verified">, body: Buffer) => Promise<void>;
  }) {
    this.#path = recorder.path;
    this.#takeFault = recorder.takeFault;
    this.#waits = recorder.waits;
    this.#arrived = recorder.arrived;
  }

  /** Wraps the API. Requests that are not deliveries pass unchanged. */
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
      void this.#arrived({ number, headers: headersOf(request), body: bytes.toString(), status }, bytes);
    });
    const fault = this.#takeFault();
    if (fault === null) handler(request, response);
    else this.#act(fault, request, response, () => handler(request, response));
  }

  #act(fault: ReceiverFault, request: IncomingMessage, response: ServerResponse, handOn: () => void): void {
    const { action, delay_ms, status = 500, headers, body } = fault;
    if (delay_ms !== undefined) {
      const handOnOpen = () => {
        if (!response.destroyed) handOn();
      };
      // Without a claim on the process: a sandbox that closes does not wait for it.
      pause(delay_ms, undefined, { ref: false, signal: this.#waits.end }).then(handOnOpen, handOnOpen);
      return;
    }
    // A date in a Retry-After of this answer is one of sandbox time, with which that of the machine must not be compared.
    response.sendDate = false;
    // The whole body is taken first, so that it is seen as it was sent.
    request.once("end", () => {
      if (action === "reset") response.destroy();
      else response.writeHead(status, headers).end(body);
    });
    request.resume();
  }
}
