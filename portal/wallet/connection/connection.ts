import { type Action, type Capabilities, ownerOf } from "../wallet-api.ts";
import type { OfferedWallet, Provider } from "./injected-wallets.ts";

/** A wallet that has let this page see its accounts. */
export interface WalletConnection {
  wallet: OfferedWallet;
  /** The selected one first, in lower case. */
  accounts: string[];
  chainId: number;
  /** Whether its chain has the same first block as the sandbox's: an equal id alone says little. */
  sameChain: boolean;
}

/** The reason why a wallet cannot do an action, in plain words. */
export interface Obstacle {
  text: string;
  /** The remedy that the page offers. */
  remedy: "switch_chain" | null;
}

/** Asks a wallet for its accounts, which it may ask its owner about. */
export async function connect(wallet: OfferedWallet, sandbox: Provider): Promise<WalletConnection> {
  await wallet.provider.request({ method: "eth_requestAccounts" });
  return await readConnection(wallet, sandbox);
}

/** Looks which accounts and which chain a wallet has selected now. */
export async function readConnection(wallet: OfferedWallet, sandbox: Provider): Promise<WalletConnection> {
  const { provider } = wallet;
  const accounts = await provider.request({ method: "eth_accounts" });
  const chainId = Number(await provider.request({ method: "eth_chainId" }));
  return {
    wallet,
    accounts: Array.isArray(accounts) ? accounts.map((account) => String(account).toLowerCase()) : [],
    chainId,
    sameChain: wallet.test || (await firstBlock(provider)) === (await firstBlock(sandbox)),
  };
}

async function firstBlock(provider: Provider): Promise<unknown> {
  try {
    const block = await provider.request({ method: "eth_getBlockByNumber", params: ["0x1", false] });
    return typeof block === "object" && block !== null && "hash" in block ? block.hash : null;
  } catch {
    return null;
  }
}

/** Says why this wallet must not do this action now, or null when nothing is in the way. */
export function obstacleTo(
  action: Action,
  connection: WalletConnection,
  chain: Capabilities["chain"],
): Obstacle | null {
  const { wallet, accounts, chainId, sameChain } = connection;
  const needed = ownerOf(action);
  if (needed === undefined) return null;
  if (chainId !== chain.chain_id)
    return {
      text: `${wallet.name} is on chain ${chainId}, and this sandbox is chain ${chain.chain_id}. Nothing was signed.`,
      remedy: "switch_chain",
    };
  if (!sameChain)
    return {
      text: `${wallet.name} is on another chain with the id ${chainId}: its first block is not this sandbox's. Point its network at ${chain.rpc_url}. Nothing was signed.`,
      remedy: null,
    };
  if (accounts.includes(needed.toLowerCase())) return null;
  const selected = accounts[0];
  return {
    text:
      selected === undefined
        ? `${wallet.name} shows this page no account. Unlock it, and select ${needed} in it.`
        : `This action requires the account ${needed}, but ${wallet.name} has selected ${selected}. Select the required account in the wallet. Nothing was signed.`,
    remedy: null,
  };
}

/** Asks the wallet to use the sandbox's chain, and to add it first where it does not know it (EIP-3326, EIP-3085). */
export async function switchChain({ provider }: OfferedWallet, chain: Capabilities["chain"]): Promise<void> {
  const chainId = `0x${chain.chain_id.toString(16)}`;
  try {
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  } catch (error) {
    if (codeOf(error) !== unknownChain) throw error;
    await provider.request({ method: "wallet_addEthereumChain", params: [{ chainId, ...describe(chain) }] });
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  }
}

/** Describes the chain for a wallet that does not know it. */
function describe({ chain_id, rpc_url, network }: Capabilities["chain"]) {
  const unknown = chain_id === sandboxChain ? "Routing sandbox" : `Test network ${chain_id}`;
  const explorer = network?.block_explorer_url ?? null;
  return {
    chainName: network?.name ?? unknown,
    rpcUrls: [rpc_url],
    nativeCurrency: network?.native_currency ?? { name: "Test ether", symbol: "ETH", decimals: 18 },
    ...(explorer !== null && { blockExplorerUrls: [explorer] }),
  };
}

/** The chain id of development nodes, which is that of the sandbox's own chain. */
const sandboxChain = 31_337;

const unknownChain = 4902;

/** The code of a wallet's error (EIP-1193), where it has one; 4001 is a person's refusal. */
export function codeOf(error: unknown): number | null {
  return typeof error === "object" && error !== null && "code" in error ? Number(error.code) : null;
}
