import { awaitAutomine } from "../../relayer/node/automine.ts";
import { toNode } from "../../relayer/node/node.ts";
import type { Relayer } from "../../relayer/relayer.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";

/**
 * Has the relayer look at the chain until a look makes no further block. One look is not enough: it may send a transaction again, and
 * Anvil answers the sender before it mines.
 */
export async function catchUp(relayer: Pick<Relayer, "follow">, client: ChainClient): Promise<void> {
  const readHash = async () => (await client.getBlock({ blockTag: "latest" })).hash;
  let seen: string;
  do {
    seen = await readHash();
    await relayer.follow();
    await awaitAutomine(toNode(client.request));
  } while ((await readHash()) !== seen);
}
