import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import type { RefusalForm } from "../../server/http/answers/refusal-form.ts";
import type { Log } from "../../server/http/services.ts";

/** The headers of W3C Trace Context that are passed on. */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string;
}

/** A request while it is handled, and what it has started. */
interface TracedRequest {
  trace: TraceHeaders | null;
  /** Undefined until the API has named the request. */
  id: () => unknown;
}

/** A `traceparent` of W3C Trace Context; later versions than 00 may have more fields. */
const traceparent =
  /^(?:00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}|(?!00|ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?)$/;

/** A member of a `tracestate` (W3C Trace Context), such as `vendor=value`. */
const stateMember =
  /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The most characters of a `tracestate` that are passed on, and its most members. */
const mostOfState = { characters: 512, members: 32 };

/** The number of events whose trace is remembered. */
const keptEvents = 10_000;

/**
 * Knows which request, and which trace of the client (W3C Trace Context), the running code belongs to: log lines name both, and the delivery of
 * an event has the trace of the request that caused the event. Traces are kept in memory only, so that equal runs stay equal.
 */
export class RequestTracing {
  readonly #current = new AsyncLocalStorage<TracedRequest>();
  readonly #events = new Map<string, TraceHeaders>();

  /** Wraps the API: reads the trace of each request. */
  guard(handler: RequestListener): RequestListener {
    return (request, response) => {
      const id = () => Reflect.get(Object(Reflect.get(response, "locals")), "requestId");
      this.#current.run({ trace: readTrace(request.headers), id }, handler, request, response);
    };
  }

  /** Wraps the refusals of requests that do not reach the API: reads the trace of each. */
  refusals(form: RefusalForm): RefusalForm {
    return (problem, asked) =>
      this.#current.run({ trace: readTrace(asked.headers), id: () => undefined }, form, problem, asked);
  }

  /** Returns a log whose lines name the request that they belong to. */
  log(log: Log): Log {
    return {
      info: (fields, message) => log.info({ ...this.#fields(), ...fields }, message),
      error: (fields, message) => log.error({ ...this.#fields(), ...fields }, message),
    };
  }

  /** Notes that the current request has caused an event. */
  caused(eventId: string): void {
    const trace = this.#current.getStore()?.trace ?? null;
    // After a restore, the same event may be caused again.
    this.#events.delete(eventId);
    if (trace !== null) this.#events.set(eventId, trace);
    const [oldest] = this.#events.keys();
    if (this.#events.size > keptEvents && oldest !== undefined) this.#events.delete(oldest);
  }

  /** Returns the headers for the delivery of an event: the trace of the request that caused it or, without one, of the current request. */
  headersOf(eventId: string | undefined): { [name: string]: string } {
    return { ...(this.#events.get(eventId ?? "") ?? this.#current.getStore()?.trace) };
  }

  #fields(): { request_id?: unknown; traceparent?: string } {
    const current = this.#current.getStore();
    const id = current?.id();
    const trace = current?.trace ?? null;
    return {
      ...(id !== undefined && { request_id: id }),
      ...(trace !== null && { traceparent: trace.traceparent }),
    };
  }
}

/** Reads the trace of a request; null without a valid one, as W3C Trace Context requires. */
function readTrace({ traceparent: parent, tracestate: state }: IncomingHttpHeaders): TraceHeaders | null {
  if (typeof parent !== "string" || !traceparent.test(parent)) return null;
  return { traceparent: parent, ...(isState(state) && { tracestate: state }) };
}

/** Returns whether a value is a `tracestate` with members: each key is in it once, and a member may be empty. */
function isState(value: unknown): value is string {
  if (typeof value !== "string" || value.length > mostOfState.characters) return false;
  const members = value
    .split(",")
    .map((member) => member.trim())
    .filter(Boolean);
  const keys = new Set(members.map((member) => member.split("=")[0]));
  const isWhole = members.length <= mostOfState.members && keys.size === members.length;
  return isWhole && members.length > 0 && members.every((member) => stateMember.test(member));
}
