import { type Hex, toHex } from "viem";
import { z } from "zod";
import type { SandboxDescription } from "../../sandbox/options/description.ts";

/** Asks the chain RPC of a sandbox; throws what is no success. */
export function rpcOf({ urls }: SandboxDescription) {
  const answer = z.object({ result: z.unknown() });
  return async (method: string, ...params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "Content-Type": "application/json" };
    const text = await (await fetch(urls.rpc, { method: "POST", headers, body })).text();
    if (text.includes('"error"')) throw new Error(text);
    return answer.parse(JSON.parse(text)).result;
  };
}

/** The hashes of all blocks. */
export async function readBlocks(description: SandboxDescription): Promise<Hex[]> {
  const rpc = rpcOf(description);
  const head = Number(await rpc("eth_blockNumber"));
  const blocks = Array.from({ length: head + 1 }, async (_, number) => {
    const block = z.object({ hash: z.string() });
    return block.parse(await rpc("eth_getBlockByNumber", toHex(number), false)).hash as Hex;
  });
  return await Promise.all(blocks);
}
