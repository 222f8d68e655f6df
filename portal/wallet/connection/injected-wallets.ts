/** The methods of a wallet by EIP-1193. */
export interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
  on?(event: "accountsChanged" | "chainChanged", listener: () => void): void;
}

/** A wallet that the page can use. */
export interface OfferedWallet {
  /** Unique on this page; a wallet's reverse domain name (EIP-6963) or `test-keys`. */
  id: string;
  name: string;
  /** A data URI, or null. */
  icon: string | null;
  /** Whether it signs with the sandbox's own keys, which are public. */
  test: boolean;
  provider: Provider;
}

/** The announcement of a wallet (EIP-6963). */
interface AnnouncedWallet {
  info: { uuid: string; name: string; icon: string; rdns: string };
  provider: Provider;
}

declare global {
  interface WindowEventMap {
    "eip6963:announceProvider": CustomEvent<AnnouncedWallet>;
  }
}

/**
 * Asks all wallets of this browser to announce themselves (EIP-6963), now and whenever one comes later.
 *
 * @param found - is called with each wallet once.
 */
export function discoverWallets(found: (wallet: OfferedWallet) => void): void {
  const known = new Set<string>();
  addEventListener("eip6963:announceProvider", ({ detail: { info, provider } }) => {
    if (known.has(info.uuid)) return;
    known.add(info.uuid);
    const icon = info.icon.startsWith("data:image/") ? info.icon : null;
    found({ id: info.rdns, name: info.name, icon, test: false, provider });
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
}

/** The sandbox's test keys as a wallet: the chain's own node signs, so that no key is in the page. */
export function testKeys(rpcUrl: string): OfferedWallet {
  const request: Provider["request"] = async ({ method, params = [] }) => {
    const asked = method === "eth_requestAccounts" ? "eth_accounts" : method;
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: asked, params }),
    });
    const { result, error } = await response.json();
    if (error !== undefined) throw new Error(error.message);
    return result;
  };
  return { id: "test-keys", name: "Test keys", icon: null, test: true, provider: { request } };
}
