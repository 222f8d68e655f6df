import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { ChainClient } from "./chain-client.ts";

/**
 * Returns a chain's state, as Anvil loads it: JSON, which is never parsed here, as its numbers may be larger than JavaScript's.
 *
 * @param history - whether the states of the latest blocks are in it.
 */
export async function dumpChain(client: ChainClient, history: boolean): Promise<Buffer<ArrayBuffer>> {
  const dump = await client.request({ method: "anvil_dumpState", params: [history] });
  return await promisify(gunzip)(Buffer.from(dump.slice(2), "hex"));
}
