/** A node that serves a chain which is not the sandbox's own. */
export interface NetworkOption {
  /** The URLs of its JSON-RPC (`https:` or `wss:`); the later ones are asked when the earlier ones do not answer. */
  rpcUrls: readonly string[];
  /** The file with the keys, which `routing-sandbox deploy` has written. */
  keys: string;
  /** The file with the deployment, which `routing-sandbox deploy` has written. */
  deployment: string;
  /** The URL of its JSON-RPC that wallets and pages get; by default that of the network as viem knows it. */
  publicRpcUrl?: string | undefined;
  /** The chain id of a test network that viem does not know. */
  allowChainId?: number | undefined;
}
