import { z } from "zod";
import { messageOf } from "../../protocol/coded-error.ts";
import { fetchDirect } from "../../sandbox/lib/http/direct/fetch-direct.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { broken, type Finding, healthy } from "./finding.ts";

/** Longer than each part of a sandbox has for its answer, in milliseconds. */
const longestMs = 5_000;

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

/** Checks that the database that a start would use responds. @param url - of the option store. */
export async function examineDatabase(url: string): Promise<Finding> {
  const check = "database";
  const { Database } = await import("../../server/store/postgres/database.ts");
  try {
    const database = new Database(url);
    await (await database.connect()).end();
    return healthy(check, `${database.name} responds.`);
  } catch (error) {
    return broken(check, messageOf(error), "Follow the message.");
  }
}

/** Checks that the node that a start would use serves a network for tests and is ready. */
export async function examineChainNode(urls: readonly string[], allowed?: number): Promise<Finding> {
  const check = "chain node";
  const { reachNode, requireUsableNode } = await import("../../sandbox/chain/connection/connect-chain.ts");
  try {
    const node = reachNode(urls, 0);
    try {
      const chainId = await requireUsableNode(node, allowed);
      return healthy(check, `The node serves chain ${chainId}.`);
    } finally {
      await node.connection.close();
    }
  } catch (error) {
    return broken(check, messageOf(error), "Follow the message.");
  }
}
