import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, RequestListener } from "node:http";
import { performance } from "node:perf_hooks";
import type { EIP1193RequestFn } from "viem";
import type { Gate } from "../../server/http/gate.ts";
import type { AnsweredRequest } from "../../server/http/services.ts";
import type { Part } from "../lib/part.ts";
import type { ChangeFeed } from "./change-feed.ts";

/** The User-Agent of requests that a test causes by a function of the sandbox, and not by a given state. */
export const directUserAgent = "routing-sandbox";

/** The largest number of requests that are kept, and of the bytes of their bodies, answers and calls; older ones are forgotten. */
export const requestLogLimits = { requests: 1_000, bytes: 8 * 1024 * 1024, callsOfRequest: 50 } as const;

/** The bytes of a request's fields besides its body, answer and calls, and those of a call besides its data. */
const overheadBytes = { request: 500, call: 200 } as const;

/** A JSON-RPC call to the node. */
export interface KeptCall {
  method: string;
  params: unknown;
  /** Null while it is in progress. */
  durationMs: number | null;
  failed: boolean;
}

/** A request that is in progress. */
export interface OpenRequest {
  method: string;
  path: string;
  /** Whether a page of the API's own host sent it, by the browser's word. */
  isOfPage: boolean;
  /** Whether a function of the sandbox sent it that uses the account of given states, but is none of them. */
  isDirect: boolean;
  /** In milliseconds since the start of the process. */
  startedAt: number;
  calls: KeptCall[];
  /** The number of calls that are not kept. */
  moreCalls: number;
  /** When the client closed the connection before the response began, as `startedAt`; null if it did not. */
  givenUpAt: number | null;
  /** Aborts when the sandbox is reset for another test, lease or run, which must not find the request. */
  ended: AbortSignal | null;
}

/** A request with its answer. */
export interface KeptRequest extends Omit<AnsweredRequest, "body" | "answer">, Omit<OpenRequest, "ended"> {
  /** Counts answers from 1. */
  number: number;
  durationMs: number;
  body: string | null;
  answer: string | null;
  bytes: number;
}

/**
 * Keeps the newest requests of the API with their answers and the calls to the node that they needed, in memory. They are not state of the
 * service, so a restore clears the log. It keeps texts as they are, and reads them only when it is asked for them.
 */
export class RequestLog implements Part<null> {
  readonly name = "request_log";
  readonly schema = null;
  /** The number of the block that the last restore went back to, after which everything in the log happened. */
  restoredTo: number | null = null;
  readonly #feed: ChangeFeed;
  readonly #current = new AsyncLocalStorage<OpenRequest>();
  readonly #open = new Set<OpenRequest>();
  #kept: KeptRequest[] = [];
  /** The index of the oldest request in `#kept`: removing the first item of a long array each time would take long. */
  #first = 0;
  #bytes = 0;
  #count = 0;

  constructor(feed: ChangeFeed) {
    this.#feed = feed;
  }

  /** The number that the next request gets. */
  get nextNumber(): number {
    return this.#count + 1;
  }

  /** Wraps the API: knows which requests are in progress, and what they do. */
  guard(handler: RequestListener, gate: Pick<Gate, "ended">): RequestListener {
    return (request, response) => {
      const open = openRequest(request, gate.ended);
      this.#open.add(open);
      response.once("close", () => {
        if (!response.headersSent) open.givenUpAt = performance.now();
        // The service continues a write that the client has given up.
        if (response.headersSent || request.method !== "POST") this.#open.delete(open);
      });
      this.#current.run(open, handler, request, response);
    };
  }

  /** Returns a node whose calls are noted at the request that needs them. */
  noteCalls(request: EIP1193RequestFn): EIP1193RequestFn {
    const noting: EIP1193RequestFn = (question, options) => {
      const open = this.#current.getStore();
      return open === undefined
        ? request(question, options)
        : noteCall(open, question, async () => await request(question, options));
    };
    return noting;
  }

  /** Keeps a request that was answered, and returns its duration in milliseconds. */
  answered({ body: bytes, answer: sent, ...request }: AnsweredRequest): number {
    const now = performance.now();
    const open = this.#current.getStore() ?? {
      ...request,
      isOfPage: false,
      isDirect: false,
      startedAt: now,
      calls: [],
      moreCalls: 0,
      givenUpAt: null,
      ended: null,
    };
    this.#open.delete(open);
    if (open.ended?.aborted) return now - open.startedAt;
    const body = bytes?.toString() ?? null;
    const answer = sent?.toString() ?? null;
    this.#count += 1;
    const { isOfPage, isDirect, startedAt, calls, moreCalls, givenUpAt } = open;
    const size = sizeOf(body, answer, calls);
    const durationMs = now - startedAt;
    this.#kept.push({
      ...request,
      isOfPage,
      isDirect,
      startedAt,
      calls,
      moreCalls,
      givenUpAt,
      number: this.#count,
      durationMs,
      body,
      answer,
      bytes: size,
    });
    this.#bytes += size;
    this.#forget();
    this.#feed.note("requests");
    return durationMs;
  }

  /** Returns the kept requests, the newest answer first. */
  newest(): readonly KeptRequest[] {
    return this.#kept.slice(this.#first).reverse();
  }

  /** Returns the requests that have no answer yet, the oldest first. */
  inProgress(): readonly OpenRequest[] {
    return [...this.#open].filter(({ ended }) => ended?.aborted !== true);
  }

  capture(): null {
    return null;
  }

  restore(): void {
    this.#kept = [];
    this.#first = 0;
    this.#bytes = 0;
    this.#feed.note("requests");
  }

  #forget(): void {
    const { requests, bytes } = requestLogLimits;
    while (this.#kept.length - this.#first > requests || this.#bytes > bytes) {
      this.#bytes -= this.#kept[this.#first]?.bytes ?? 0;
      this.#first += 1;
    }
    if (this.#first < requests) return;
    this.#kept = this.#kept.slice(this.#first);
    this.#first = 0;
  }
}

function openRequest({ method = "", url = "", headers }: IncomingMessage, ended: AbortSignal): OpenRequest {
  const isOfPage = headers["sec-fetch-site"] === "same-origin";
  const isDirect = headers["user-agent"] === directUserAgent;
  return {
    method,
    path: url,
    isOfPage,
    isDirect,
    startedAt: performance.now(),
    calls: [],
    moreCalls: 0,
    givenUpAt: null,
    ended,
  };
}

async function noteCall<T>(
  open: OpenRequest,
  { method, params }: { method: string; params?: unknown },
  ask: () => Promise<T>,
): Promise<T> {
  if (open.calls.length === requestLogLimits.callsOfRequest) {
    open.moreCalls += 1;
    return await ask();
  }
  const started = performance.now();
  const call: KeptCall = { method, params, durationMs: null, failed: false };
  open.calls.push(call);
  try {
    return await ask();
  } catch (error) {
    call.failed = true;
    throw error;
  } finally {
    call.durationMs = performance.now() - started;
  }
}

function sizeOf(body: string | null, answer: string | null, calls: readonly KeptCall[]): number {
  const texts = (body?.length ?? 0) + (answer?.length ?? 0);
  return calls.reduce(
    (sum, call) => sum + overheadBytes.call + dataLength(call),
    texts + overheadBytes.request,
  );
}

/** The length of the calldata or the signed transaction of a call. */
function dataLength({ params }: KeptCall): number {
  const [first] = Array.isArray(params) ? params : [];
  if (typeof first === "string") return first.length;
  const data: unknown = first?.data;
  return typeof data === "string" ? data.length : 0;
}
