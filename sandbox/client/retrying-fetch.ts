import { CodedError } from "../../protocol/coded-error.ts";
import { AbortSignal, URL } from "../../protocol/globals.ts";
import { readRetryAfter } from "../../protocol/values/retry-after.ts";
import type { ErrorCode } from "../../server/errors/catalogue.ts";
import { isNetworkError } from "../lib/errors/is-lost-connection.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { cloneRequest } from "../lib/http/direct/clone-request.ts";
import { clearTimeout, machineClock, setTimeout } from "../lib/time/timers.ts";

/** The reason why a request waits before it is repeated. */
export interface Wait {
  /** The seconds of the answer's Retry-After, which is a number or a date. */
  seconds: number | undefined;
  /** Whether the request was too early; otherwise an answer was lost, the service failed, or the request is still in progress. */
  isEarly: boolean;
  /** The number of requests that were sent so far. */
  sent: number;
  /** Aborts when the request must not be repeated anymore: by its own signal, or by the client's. */
  signal: AbortSignal;
}

/**
 * The policy for repeating a request.
 *
 * @example const policy: RetryPolicy = { mostRequests: 5, wait: async ({ seconds = 1 }) => await setTimeout(seconds * 1000) }
 */
export interface RetryPolicy {
  /** The largest number of identical requests, from 1. */
  mostRequests: number;
  /** Resolves when the request may be repeated. */
  wait: (wait: Wait) => Promise<void>;
  /**
   * When it aborts, requests are no longer repeated: a request in progress gets its answer, then throws the signal's reason unless its
   * outcome is known.
   */
  signal?: AbortSignal;
}

/** The default of the largest number of identical requests. */
export const mostRequests = 20;

/** The longest pause that a response can ask for, in seconds. */
export const longestPauseSeconds = 60;

/** The codes of problems whose details say what to do. */
const withRemedy: readonly (string | undefined)[] = [
  "outcome_unknown",
  "storage_unavailable",
] satisfies ErrorCode[];

/** Thrown when the outcome of a request is still unknown after the last allowed repetition; `cause` is the error of a lost connection. */
export class RetryLimitError extends CodedError<"retry_limit"> {
  override readonly name = "RetryLimitError";

  /** The code of the last answer, such as `rpc_unavailable`; undefined when there was none. */
  readonly lastCode: string | undefined;

  /** The body of the last answer, such as a problem; undefined when there was none. */
  readonly lastBody: unknown;

  constructor(
    { method, url }: Request,
    sent: number,
    last: string,
    { lastBody, ...options }: ErrorOptions & { lastBody?: unknown },
  ) {
    const lastCode = textAt(lastBody, "code");
    const advice = withRemedy.includes(lastCode)
      ? ""
      : " Clear the faults that hold it, or wait for the chain and send it again; read the object to see what took effect.";
    super(
      "retry_limit",
      `The outcome of ${method} ${new URL(url).pathname} is unknown after ${sent} identical requests; the last one ${last}.${advice}`,
      options,
    );
    this.lastCode = lastCode;
    this.lastBody = lastBody;
  }
}

/**
 * Waits in real time: as long as the answer says, or increasingly long, up to a quarter of a second.
 *
 * @throws the signal's reason when it aborts.
 */
export async function waitInRealTime({ seconds, sent, signal }: Omit<Wait, "isEarly">): Promise<void> {
  const milliseconds =
    seconds === undefined
      ? Math.min(250, 10 * 2 ** (sent - 1))
      : Math.min(seconds, longestPauseSeconds) * 1_000;
  await new Promise<void>((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", settle);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(settle, milliseconds);
    signal.addEventListener("abort", settle);
    if (signal.aborted) settle();
  });
}

/**
 * Returns a fetch that sends the identical request again until its outcome is known: after a lost connection, a 5xx, a 202, and any other
 * answer with Retry-After. A write without an Idempotency-Key is sent once.
 *
 * @throws SandboxError argument_invalid for a number of requests that is not whole or below 1. The returned function throws RetryLimitError when
 * the outcome is still unknown after the most requests, and the reason of a signal that aborts before that.
 *
 * @param isFinal - returns whether a response is not repeated; by default one that tells the outcome.
 */
export function retryingFetch(policy: RetryPolicy, send: Send, isFinal = isKnown): Send {
  requireWhole(policy.mostRequests);
  return async (request) => {
    if (!isRepeatable(request)) return await send(request);
    const signal = AbortSignal.any([request.signal, ...(policy.signal === undefined ? [] : [policy.signal])]);
    for (let sent = 1; ; sent += 1) {
      signal.throwIfAborted();
      const attempt = await attemptOnce(request, send);
      if ("answer" in attempt && isFinal(attempt.answer)) return attempt.answer;
      if (sent >= policy.mostRequests)
        throw "answer" in attempt
          ? new RetryLimitError(request, sent, `got ${await describe(attempt.answer)}`, {
              lastBody: await bodyOf(attempt.answer),
            })
          : new RetryLimitError(request, sent, "lost its connection", { cause: attempt.lost });
      signal.throwIfAborted();
      await policy.wait({ ...(await reasonOf(attempt)), sent, signal });
    }
  };
}

type Send = (request: Request) => Promise<Response>;

type SendResult = { answer: Response } | { lost: Error };

function isRepeatable({ method, headers }: Request): boolean {
  return method === "GET" || method === "HEAD" || headers.has("Idempotency-Key");
}

/** Sends a copy of a request and reads the whole answer, which a lost connection can truncate. */
async function attemptOnce(request: Request, send: Send): Promise<SendResult> {
  try {
    const answer = await send(cloneRequest(request));
    await answer.clone().arrayBuffer();
    return { answer };
  } catch (error) {
    // A request that the caller aborted is not sent again.
    if (request.signal.aborted || !isNetworkError(error)) throw error;
    return { lost: error };
  }
}

function isKnown({ status, headers }: Pick<Response, "status" | "headers">): boolean {
  return status < 500 && status !== 202 && !headers.has("Retry-After");
}

async function reasonOf(attempt: SendResult): Promise<Pick<Wait, "seconds" | "isEarly">> {
  if (!("answer" in attempt)) return { seconds: undefined, isEarly: false };
  const { answer } = attempt;
  const asked = answer.headers.get("Retry-After") ?? "";
  const answered = Date.parse(answer.headers.get("Date") ?? "");
  const now = (Number.isNaN(answered) ? machineClock.now() : answered) / 1_000;
  const code = answer.status === 409 ? await codeOf(answer) : undefined;
  return {
    seconds: readRetryAfter(asked, now) ?? undefined,
    isEarly: answer.status < 500 && code !== "idempotency_in_flight",
  };
}

function requireWhole(mostRequests: unknown): void {
  if (Number.isInteger(mostRequests) && Number(mostRequests) >= 1) return;
  throw new SandboxError(
    "argument_invalid",
    `mostRequests must be a whole number from 1, not ${showValue(mostRequests)}. Pass one such as 5.`,
  );
}

/** Describes an answer by its status, its code, and the first sentence of its problem (all of it, if that is what to do), or the error of the relay operation. */
async function describe(answer: Response): Promise<string> {
  const body = await bodyOf(answer);
  const code = textAt(body, "code");
  const detail = textAt(body, "detail");
  const error = withRemedy.includes(code)
    ? detail
    : (textAt(body, "operation", "error", "message") ?? detail?.split(/(?<=\.)\s/)[0]);
  const known = code === undefined ? `${answer.status}` : `${answer.status} ${code}`;
  return error === undefined ? known : `${known}: ${error.replace(/\.$/, "")}`;
}

async function codeOf(answer: Response): Promise<string | undefined> {
  return textAt(await bodyOf(answer), "code");
}

async function bodyOf(answer: Response): Promise<unknown> {
  return await answer
    .clone()
    .json()
    .catch(() => undefined);
}

/** Returns the text at a path of names in a parsed body. */
function textAt(body: unknown, ...path: string[]): string | undefined {
  let value = body;
  for (const name of path)
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return typeof value === "string" ? value : undefined;
}
