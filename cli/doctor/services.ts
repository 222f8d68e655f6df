import { once } from "node:events";
import { resolve } from "node:path";
import { WebSocket } from "ws";
import { z } from "zod";
import { messageOf } from "../../protocol/coded-error.ts";
import { readBeginning } from "../../sandbox/data-directory/beginning.ts";
import { fetchDirect } from "../../sandbox/lib/http/direct/fetch-direct.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { type NetworkFlags, networkOf } from "../network-options.ts";
import { broken, type Finding, healthy } from "./finding.ts";

/** Longer than each part of a sandbox has for its answer, in milliseconds. */
const longestMs = 5_000;

/** The longest time that a node may take for its answer, in milliseconds. */
const nodeMs = 10_000;

const problem = z.object({ detail: z.string() });

/** Checks that every part of the running sandbox responds, as `GET /health` says. */
export async function examineParts({ urls, pid }: SandboxDescription): Promise<Finding> {
  const check = "parts";
  try {
    const response = await fetchDirect(`${urls.control}/health`, { signal: AbortSignal.timeout(longestMs) });
    if (response.ok) return healthy(check, "Every part of the running sandbox responds.");
    const { detail } = problem.parse(await response.json());
    return broken(check, detail, "Follow the message. Nothing that was stored is lost.");
  } catch (error) {
    return broken(check, messageOf(error), `If it does not respond later either, end it: kill ${pid}`);
  }
}

/**
 * Checks that the database that a start would use responds, can have its tables, and belongs to the chain of the data directory.
 *
 * @param url - of the option store.
 */
export async function examineDatabase(url: string, dataDirectory: string, onNode: boolean): Promise<Finding> {
  const check = "database";
  const [{ Database }, { tryTables }, { isOfAnother }] = await Promise.all([
    import("../../server/store/postgres/database.ts"),
    import("../../server/store/postgres/postgres-store.ts"),
    import("../../sandbox/cluster/shared-store.ts"),
  ]);
  try {
    const database = new Database(url);
    const kept = await tryTables(database).finally(async () => await database.close());
    // A damaged data directory is a finding of its own.
    const begun = await readBeginning(resolve(dataDirectory)).catch(() => undefined);
    const own = begun?.settings.epoch ?? begun?.chain?.deployment.epoch ?? null;
    // A node's chain is there without a data directory, too.
    if (begun !== undefined && own !== kept && (own !== null || !onNode)) throw isOfAnother(database, kept);
    return healthy(check, `${database.name} responds.`);
  } catch (error) {
    return broken(check, messageOf(error), "Follow the message.");
  }
}

/** Checks that the first node that a start would use responds, and serves a network for tests. */
export async function examineChainNode(flags: NetworkFlags): Promise<Finding[]> {
  const check = "chain node";
  const [{ requireTestNetwork }, { requireUrls }] = await Promise.all([
    import("../../sandbox/chain/connection/networks.ts"),
    import("../../sandbox/chain/connection/network.ts"),
  ]);
  try {
    const option = networkOf(flags);
    if (option === undefined) return [];
    const { rpcUrls, publicRpcUrl, allowChainId } = option;
    requireUrls("network.rpcUrls", rpcUrls);
    if (publicRpcUrl !== undefined) requireUrls("network.publicRpcUrl", [publicRpcUrl]);
    const [url = ""] = rpcUrls;
    const chainId = await askChainId(url).catch(() => null);
    if (chainId === null)
      return [broken(check, "The node gives no answer to eth_chainId.", "Check its URL and that it runs.")];
    await requireTestNetwork(chainId, allowChainId);
    return [healthy(check, `The node serves chain ${chainId}.`)];
  } catch (error) {
    return [broken(check, messageOf(error), "Follow the message.")];
  }
}

const chainIdAnswer = z.object({ result: z.string().regex(/^0x[0-9a-f]{1,13}$/) });

/** Asks a node once: viem's transports ask again and again, and hold the process for as long. */
async function askChainId(url: string): Promise<number> {
  const signal = AbortSignal.timeout(nodeMs);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
  const { result } = chainIdAnswer.parse(JSON.parse(await ask(url, body, signal)));
  return Number(result);
}

async function ask(url: string, body: string, signal: AbortSignal): Promise<string> {
  if (url.startsWith("http")) {
    const { username, password } = new URL(url);
    const user = username === "" ? {} : { Authorization: `Basic ${btoa(`${username}:${password}`)}` };
    const headers = { "Content-Type": "application/json", ...user };
    const target = Object.assign(new URL(url), { username: "", password: "" });
    return await (await fetch(target, { method: "POST", headers, body, signal })).text();
  }
  const socket = new WebSocket(url, { handshakeTimeout: nodeMs });
  // Its end before it is open is one.
  socket.on("error", () => {});
  try {
    await once(socket, "open", { signal });
    socket.send(body);
    const [message] = await once(socket, "message", { signal });
    return String(message);
  } finally {
    socket.terminate();
  }
}
