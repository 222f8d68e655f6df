import type { Chain } from "viem";
import type { KnownNetwork } from "../../../server/services.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { chainId as ownChainId } from "../genesis/roles.ts";

/** The chain ids of development nodes. */
const developmentIds: readonly number[] = [ownChainId, 1_337];

/** Returns what viem knows of a network; undefined for one that it does not know, and for development nodes. */
export async function findNetwork(id: number): Promise<Chain | undefined> {
  if (developmentIds.includes(id)) return undefined;
  // Hundreds of networks: nothing of them is loaded for the sandbox's own chain.
  const networks = Object.values<Chain>(await import("viem/chains")).filter((network) => network.id === id);
  // A test network and a production network may share an id: then the money may be real.
  return networks.find(({ testnet }) => testnet !== true) ?? networks[0];
}

/** Describes a network as wallets show it; null for one that viem does not know, and for development nodes. */
export async function describeNetwork(id: number): Promise<KnownNetwork | null> {
  const network = await findNetwork(id);
  if (network === undefined) return null;
  const { name, blockExplorers, nativeCurrency } = network;
  const { name: currency, symbol, decimals } = nativeCurrency;
  return {
    name,
    blockExplorerUrl: blockExplorers?.default.url ?? null,
    currency: { name: currency, symbol, decimals },
  };
}

/**
 * Refuses a network whose money is real: allowed are development nodes and the test networks that viem knows.
 *
 * @param allowed - the id of another network that the user has named as one for tests.
 * @throws SandboxError node_unusable
 */
export async function requireTestNetwork(id: number, allowed: number | undefined): Promise<void> {
  const network = await findNetwork(id);
  if (developmentIds.includes(id) || network?.testnet === true) return;
  if (network !== undefined)
    throw new SandboxError(
      "node_unusable",
      `The node serves ${network.name} (chain id ${id}), a production network. Use a test network.`,
    );
  if (id === allowed) return;
  throw new SandboxError(
    "node_unusable",
    `The node serves chain id ${id}, which is no known test network. If its money is worthless, allow it with the option network.allowChainId.`,
  );
}
