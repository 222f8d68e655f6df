import {
  createClient,
  type EIP1193RequestFn,
  fallback,
  HttpRequestError,
  http,
  isHex,
  RpcRequestError,
  TimeoutError,
} from "viem";
import { z } from "zod";
import { causesOf } from "../../../protocol/coded-error.ts";
import { fetch } from "../../../protocol/globals.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import { NodeSilentError } from "../client/anvil-silent-error.ts";
import { type AnnouncedHead, announcedHead } from "../client/watch-heads.ts";
import { isRefusal, ReopenedSocket } from "./reopened-socket.ts";

/** The longest time for a response, in milliseconds. */
const timeoutMs = 10_000;
/** How often a request is repeated that the node did not answer, or refused for now; a `Retry-After` of the response is respected. */
const retryCount = 4;

/** The methods of development nodes, which no other node has; and the whole pool, which is large elsewhere. */
const developmentMethods = /^(?:anvil|evm|hardhat)_|^txpool_content$/;
/** The methods that a node may lack. */
const optionalMethods = /^(?:debug|trace|txpool)_|^eth_(?:simulateV1|getBlockReceipts)$/;

const nestedData = z.object({ data: hexSchema });

/** The JSON-RPC error code of a call that reverted. */
export const executionReverted = 3;

/** Sends requests to a node, or to the next one that is named when it does not answer. */
export class NodeConnection {
  /** The number of requests by method: providers bill them. */
  readonly sent = new Map<string, number>();
  readonly #lacking = new Set<string>();
  readonly #request: EIP1193RequestFn;
  /** The texts of the URLs that may be a key, longer ones first, in either case. */
  readonly #secrets: RegExp;
  readonly #sockets: readonly ReopenedSocket[];

  /** @param urls - of JSON-RPC over HTTP or WebSocket; the later ones are asked when the earlier ones do not answer. */
  constructor(urls: readonly string[]) {
    const nodes = urls.map((url) =>
      isSocket(url)
        ? new ReopenedSocket(url, timeoutMs)
        : { transport: http(url, { timeout: timeoutMs, fetchFn: fetch }) },
    );
    this.#sockets = nodes.filter((node) => node instanceof ReopenedSocket);
    const transports = nodes.map(({ transport }) => transport);
    const { request } = createClient({ transport: fallback(transports, { retryCount }) });
    this.#request = request;
    const secrets = urls.flatMap(secretsOf).toSorted((a, b) => b.length - a.length);
    // Without one, it matches nothing.
    this.#secrets = new RegExp(secrets.map(literally).join("|") || "(?!)", "gi");
  }

  /**
   * Asks the node. Neither a refusal, whose text is the node's, nor a silence names its URL, which may contain a key.
   *
   * @throws RpcRequestError when it refuses; NodeSilentError when it does not answer, or refuses every request for now.
   */
  async ask(method: string, params: unknown): Promise<unknown> {
    // No request: most nodes have neither, and what they change is not ours.
    if (developmentMethods.test(method))
      throw refusal(method, -32_601, "Only the sandbox's own chain has this method.");
    if (this.#lacking.has(method)) throw refusal(method, -32_601, "The node does not have this method.");
    this.sent.set(method, (this.sent.get(method) ?? 0) + 1);
    try {
      return await this.#request({ method, params });
    } catch (error) {
      const failure = this.#withoutUrl(method, error);
      if (optionalMethods.test(method) && isLacking(failure)) this.#lacking.add(method);
      throw failure;
    }
  }

  #withoutUrl(method: string, error: unknown): RpcRequestError | NodeSilentError {
    const causes = causesOf(error);
    const refused = causes.find((cause) => cause instanceof RpcRequestError);
    if (refused !== undefined) {
      const { code } = refused;
      const details = this.#hide(refused.details);
      const data: unknown = refused.data && JSON.parse(this.#hide(JSON.stringify(refused.data)));
      if (code === 429 || /rate.?limit|too many requests|exceeded.*(?:capacity|compute|quota)/i.test(details))
        return new NodeSilentError("The node refuses further requests for now.");
      // Nodes have several codes for a call that reverts, and Hardhat 2 has the bytes within an object.
      const bytes = isHex(data) ? data : nestedData.safeParse(data).data?.data;
      return bytes !== undefined && /revert/i.test(details)
        ? refusal(method, executionReverted, details, bytes)
        : refusal(method, code, details, data);
    }
    const failed = causes.find((cause) => cause instanceof HttpRequestError);
    const { status } = failed ?? {};
    // A request that it does not take at all; the others may be answered when they are sent again.
    if (status !== undefined && [400, 404, 405, 413, 422].includes(status))
      return refusal(method, -32_600, `The node responded with HTTP ${status}.`);
    if (status !== undefined) return new NodeSilentError(`The node responded with HTTP ${status}.`);
    if (causes.some((cause) => cause instanceof TimeoutError))
      return new NodeSilentError(`The node gave no response within ${timeoutMs / 1_000} s.`);
    if (causes.some(({ name }) => name === "SyntaxError"))
      return new NodeSilentError("The response is not JSON. The URL must be one of a node's JSON-RPC.");
    // Node's WebSocket does not say why it was refused.
    const orRefuses = this.#sockets.length === 0 ? "" : ", refuses the WebSocket (check the key in its URL)";
    return new NodeSilentError(`The node accepts no connection${orRefuses}, or has closed it.`);
  }

  /** Replaces what may be a key: providers quote it in their refusals. */
  #hide(text: string): string {
    return text.replaceAll(this.#secrets, "[hidden]");
  }

  /**
   * Has the node announce its heads over the first WebSocket.
   *
   * @param lost - called when the connection is lost, or cannot be opened.
   * @returns a function that ends that; null when no URL is one, or the node announces nothing.
   */
  async subscribe(announce: (head: AnnouncedHead) => void, lost: () => void): Promise<(() => void) | null> {
    const [socket] = this.#sockets;
    if (socket === undefined) return null;
    try {
      const { unsubscribe } = await socket.subscribe({
        params: ["newHeads"],
        onData: ({ result }) => {
          const { data } = announcedHead.safeParse(result);
          if (data !== undefined) announce(data);
        },
        onError: (error: unknown) => {
          if (!isRefusal(error)) lost();
        },
      });
      return () => void unsubscribe().catch(() => undefined);
    } catch (error) {
      if (!isRefusal(error)) lost();
      return null;
    }
  }

  /** Closes the WebSockets. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) await socket.close();
  }
}

/** The parts of a URL, and it whole, that may be or have a key, as a node may write them: encoded, decoded, or as the header that they are sent in. */
function secretsOf(url: string): string[] {
  const { href, origin, pathname, search, searchParams, username, password } = new URL(url);
  const asked = `${pathname}${search}`;
  const user = decode(`${username}:${password}`);
  const segments = pathname.split("/").filter((segment) => segment.length >= leastSegment);
  const words = search.slice(1).split(/[&=]/);
  const parts = [...segments, search.slice(1), ...words, ...searchParams.values(), username, password];
  const header = username === "" ? [] : [Buffer.from(user).toString("base64"), user];
  const encoded = [url, href, `${origin}${asked}`, asked, ...parts].flatMap((text) => [
    text,
    decode(text),
    encodeURIComponent(text),
  ]);
  return [...encoded, ...header].filter((text) => text.length >= leastSecret);
}

/** The fewest characters of a key. */
const leastSecret = 4;
/** The fewest characters of a part of a path that is hidden: a shorter one, as in `/v2`, is no key. */
const leastSegment = 8;

/** Returns a pattern that matches a text. */
function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns whether a URL is one of a WebSocket. */
function isSocket(url: string): boolean {
  return /^wss?:/i.test(url);
}

/** Returns a refusal by the node. */
export function refusal(method: string, code: number, message: string, data?: unknown): RpcRequestError {
  return new RpcRequestError({ body: { method }, error: { code, message, data }, url: "the node" });
}

function isLacking(failure: RpcRequestError | NodeSilentError): boolean {
  if (!(failure instanceof RpcRequestError)) return false;
  const { code, details } = failure;
  return (
    code === -32_601 ||
    code === -32_004 ||
    /unsupported|not (?:supported|available|enabled|allowed)/i.test(details)
  );
}
