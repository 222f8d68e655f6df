import { createPublicClient, http, type PublicRpcSchema, rpcSchema, testActions } from "viem";
import { foundry } from "viem/chains";

/** Anvil's method that viem has no action for: sets the clock to a Unix time in seconds, from where it runs on. */
type SetTime = { Method: "evm_setTime"; Parameters: [timestamp: number]; ReturnType: number };

/**
 * Reads from and steers an Anvil: viem's public and test actions on one client, without caches that would outlive a revert and
 * without retries that would hide a fault.
 *
 * @example
 * const client = createChainClient(anvil.url);
 * await client.mine({ blocks: 1 });
 */
export function createChainClient(url: string) {
  return createPublicClient({
    chain: foundry,
    transport: http(url, { retryCount: 0 }),
    rpcSchema: rpcSchema<[...PublicRpcSchema, SetTime]>(),
    cacheTime: 0,
    pollingInterval: 10,
  }).extend(testActions({ mode: "anvil" }));
}

/** What {@link createChainClient} returns. */
export type ChainClient = ReturnType<typeof createChainClient>;
