import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { z } from "zod";
import { codeOf, isError } from "../../../protocol/coded-error.ts";
import { AbortSignal, TextDecoder } from "../../../protocol/globals.ts";
import { readRetryAfter } from "../../../protocol/values/retry-after.ts";
import type { DeliveryOutcome } from "../../../server/http/services.ts";
import { abortAfter, unlessAborted } from "../time/timers.ts";
import { DirectAgent } from "./direct/connect-direct.ts";
import { bareHost, type PinnedReceiver } from "./pin-receiver.ts";

/** The number of bytes of an answer that are read and kept; more than a delivery receipt has. */
export const answerBytes = 2_048;

/** The options of deliveries. */
export interface DeliveryOptions {
  /** The longest time from connection to the end of the answer, in milliseconds. */
  timeoutMs: number;
  /** Tells how much time passed between two calls, in milliseconds. */
  stopwatch: () => number;
}

/** Makes one delivery, which a signal ends early. */
export type SendDelivery = (
  headers: { [name: string]: string },
  body: string,
  signal: AbortSignal,
) => Promise<DeliveryOutcome>;

/**
 * Makes deliveries to one pinned receiver over HTTP: to the first of its addresses that takes the connection, and never to another one,
 * whatever DNS, redirects or requests say.
 */
export function deliverTo(receiver: PinnedReceiver, { timeoutMs, stopwatch }: DeliveryOptions): SendDelivery {
  return async (headers, body, signal) => {
    const began = stopwatch();
    const answer = await exchange(receiver, headers, Buffer.from(body), { timeoutMs, signal });
    return { ...answer, duration_ms: Math.round(stopwatch() - began) };
  };
}

type ReceiverAnswer = Omit<DeliveryOutcome, "duration_ms">;

async function exchange(
  receiver: PinnedReceiver,
  headers: { [name: string]: string },
  body: Buffer,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<ReceiverAnswer> {
  const timeout = abortAfter(timeoutMs);
  const end = AbortSignal.any([timeout, signal]);
  try {
    // The time is up also when the other side brings Node to forget about a request that is aborted.
    return await unlessAborted(end, post(receiver, headers, body, { timeoutMs, signal: end }));
  } catch (error) {
    const reason = timeout.aborted
      ? `no complete response within ${timeoutMs} ms`
      : signal.aborted
        ? "the sandbox was closed before the receiver responded"
        : reasonOf(error);
    return { status_code: null, error: reason, response_body: null, retry_after: null };
  }
}

async function post(
  { url, addresses }: PinnedReceiver,
  headers: { [name: string]: string },
  body: Buffer,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<ReceiverAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage | null>();
  const host = bareHost(url);
  const lookup: LookupFunction = (_hostname, _options, answer) => answer(null, [...addresses]);
  // Node connects to one address after the other, until one takes the connection.
  const connecting = {
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.floor(timeoutMs / addresses.length)),
  };
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const request = send({
    method: "POST",
    protocol: url.protocol,
    hostname: host,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, "content-length": body.length, "user-agent": "routing-sandbox" },
    // A connection of its own each time: none is kept, and no proxy of the environment takes it elsewhere.
    agent: url.protocol === "https:" ? false : new DirectAgent(),
    lookup,
    ...connecting,
    signal,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  request.once("response", resolve).once("error", reject);
  request.once("upgrade", (_answer, socket) => {
    socket.destroy();
    resolve(null);
  });
  request.end(body);
  const response = await promise;
  if (response === null || response.statusCode === switched.status_code) {
    request.destroy();
    return switched;
  }
  const text = await readStart(response);
  return {
    status_code: response.statusCode ?? null,
    error: null,
    response_body: text,
    retry_after: askedPause(response),
  };
}

/**
 * Returns the header Retry-After; of a date after that of the response the seconds between them, because the receiver's clock need not be the
 * sandbox's. An earlier date is one of a receiver that reads the sandbox's clock.
 */
function askedPause({ headers }: IncomingMessage): string | null {
  const { "retry-after": asked = null, date = "" } = headers;
  const answered = Date.parse(date) / 1_000;
  if (asked === null || /^\d/.test(asked) || Number.isNaN(answered)) return asked;
  return (readRetryAfter(asked, answered) || asked).toString();
}

const switched: ReceiverAnswer = {
  status_code: 101,
  error: "the response switches protocols, which a delivery does not",
  response_body: null,
  retry_after: null,
};

/** The beginning of an answer as text; what comes after it is not read. */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    length += bytes.length;
    if (length >= answerBytes) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, answerBytes));
}

/** The errors of a connection to one address, or to each address of a name. */
const connectionErrors = z.array(z.object({ code: z.string(), address: z.string() })).min(1);

/** A sentence without the port, which is another one in each run. */
function reasonOf(error: unknown): string {
  const failed = connectionErrors.safeParse(isError(error) && "errors" in error ? error.errors : [error]);
  if (failed.success) return failed.data.map(reasonOfAddress).join(", ");
  const code = codeOf(error) ?? "";
  if (code === "ECONNRESET" || code === "EPIPE") return "connection dropped";
  if (code.startsWith("HPE_INVALID_"))
    return "the response is not HTTP; the URL of a receiver that speaks TLS begins with https://";
  if (code === "EPROTO" || code.startsWith("ERR_SSL_"))
    return "the receiver does not speak TLS; the URL of one that speaks HTTP begins with http://";
  return code === "" ? "the delivery failed" : `the delivery failed (${code})`;
}

function reasonOfAddress({ code, address }: { code: string; address: string }): string {
  return code === "ECONNREFUSED"
    ? `connection refused by ${address}`
    : `no connection to ${address} (${code})`;
}
