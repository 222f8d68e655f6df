import type { Chain } from "viem";
import type { KnownNetwork } from "../../../server/http/services.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { chainId as ownChainId } from "../genesis/roles.ts";

/** The chain ids that most development nodes have. */
const developmentIds: readonly number[] = [ownChainId, 1_337];
/** The URL of a node of this machine: a network that has no other is a development node, as Moonbeam's. */
const ownMachine = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::|\/|$)/;

/** Returns what viem knows of a network, and whether its nodes are development nodes; those are of no network. */
async function recognize(id: number): Promise<{ isDevelopment: boolean; network?: Chain | undefined }> {
  // Hundreds of networks: nothing of them is loaded for these.
  if (developmentIds.includes(id)) return { isDevelopment: true };
  const known = Object.values<Chain>(await import("viem/chains")).filter((network) => network.id === id);
  const networks = known.filter(({ rpcUrls }) => !rpcUrls.default.http.every((url) => ownMachine.test(url)));
  return {
    isDevelopment: known.length > 0 && networks.length === 0,
    // A test network and a production network may share an id: then the money may be real.
    network: networks.find(({ testnet }) => testnet !== true) ?? networks[0],
  };
}

/** Returns what viem knows of a network; undefined for one that it does not know, and for development nodes. */
export async function findNetwork(id: number): Promise<Chain | undefined> {
  return (await recognize(id)).network;
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
  const { isDevelopment, network } = await recognize(id);
  if (isDevelopment || network?.testnet === true) return;
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
