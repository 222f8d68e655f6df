import { Agent, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";

/** Its own agents: Node's may send what is for this machine to a proxy (NODE_USE_ENV_PROXY, --use-env-proxy). */
const agents = { "http:": new Agent({ keepAlive: true }), "https:": new SecureAgent({ keepAlive: true }) };

/**
 * Sends a request as `fetch` does, but never through a proxy, and without following redirects.
 *
 * @throws TypeError when the connection cannot be made or is lost, with its error as the cause; the signal's reason when that aborts.
 * @example await sendDirectly("http://127.0.0.1:4022/status")
 */
export async function sendDirectly(
  target: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const request = new Request(target, init);
  const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
  const answer = await exchange(request, body);
  const { statusCode: status = 0, statusMessage: statusText = "" } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct))
    for (const value of values) headers.append(name, value);
  if ([204, 205, 304].includes(status)) {
    answer.resume();
    return new Response(null, { status, statusText, headers });
  }
  return new Response(ReadableStream.from(chunksOf(answer, request.signal)), { status, statusText, headers });
}

async function exchange(request: Request, body: Buffer | null): Promise<IncomingMessage> {
  const { method, url, signal } = request;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isSecure = url.startsWith("https:");
  const headers = Object.fromEntries(request.headers);
  const sent = (isSecure ? requestHttps : requestHttp)(url, {
    method,
    headers: body === null ? headers : { ...headers, "content-length": body.length },
    agent: agents[isSecure ? "https:" : "http:"],
    signal,
  });
  sent.once("response", resolve);
  sent.once("error", (cause) => {
    reject(signal.aborted ? signal.reason : new TypeError("fetch failed", { cause }));
  });
  sent.end(body);
  return await promise;
}

async function* chunksOf(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* answer;
  } catch (cause) {
    throw signal.aborted ? signal.reason : new TypeError("terminated", { cause });
  }
}
