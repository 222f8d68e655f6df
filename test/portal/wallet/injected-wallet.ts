import type { Page } from "playwright-core";
import type { Hex } from "viem";
import { z } from "zod";
import type { Wallet } from "../../../sandbox/wallets/wallet.ts";

/** A wallet's refusal with a code of EIP-1193. */
class ProviderError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const address = z.templateLiteral(["0x", z.string()]);
const transactions = z.tuple([
  z.object({ from: address, to: address, data: address, value: z.literal("0x0") }),
]);
const message = z.tuple([address, address]);
const typedData = z.tuple([address, z.string()]);
const fields = z.array(z.object({ name: z.string(), type: z.string() }));
const typedDataBody = z.object({
  domain: z.object({ name: z.string(), version: z.string(), chainId: z.int(), verifyingContract: address }),
  types: z.object({ EIP712Domain: fields }).catchall(fields),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
const chain = z.tuple([z.object({ chainId: address })]);

const signing = ["personal_sign", "eth_signTypedData_v4", "eth_sendTransaction"];

/**
 * A browser wallet as its extension would be: it announces itself (EIP-6963), answers EIP-1193, holds a key and signs with it. The test
 * takes the steps of its owner.
 */
export class InjectedWallet {
  /** The page's requests, by method. */
  readonly asked: string[] = [];
  /** The accounts that it shows, the selected one first. */
  wallets: Wallet[];
  chainId: Hex = "0x7a69";
  /** The chains that it knows, by id. */
  readonly chains = new Map<Hex, string>();
  /** The chains that pages asked it to add, as they described them. */
  readonly added: unknown[] = [];
  /** Methods that its owner declines, once each. */
  readonly declines = new Set<string>();
  /** The replacements that it sends instead of the requested values. */
  substitute: { data?: Hex } = {};
  /** Runs once its owner has agreed to send, before it sends. */
  onSending: () => Promise<void> = async () => {};
  /** Runs between the sending and the answer; the page may be closed meanwhile. */
  onSent: (hash: Hex) => Promise<void> = async () => {};
  /** Runs between a signature and the answer. */
  onSigned: () => Promise<void> = async () => {};
  #page: Page | null = null;

  constructor(rpcUrl: string, ...wallets: Wallet[]) {
    this.wallets = wallets;
    this.chains.set("0x7a69", rpcUrl);
  }

  /** The methods that it was asked to sign or to send by, in order. */
  get signed(): string[] {
    return this.asked.filter((method) => signing.includes(method));
  }

  /** Is there on this page, before the page's own scripts run. */
  async install(page: Page): Promise<void> {
    this.#page = page;
    await page.exposeFunction("askWallet", async (method: string, params: unknown[]) => {
      this.asked.push(method);
      try {
        return { result: await this.#answer(method, params) };
      } catch (error) {
        return { code: error instanceof ProviderError ? error.code : -32_603, message: String(error) };
      }
    });
    await page.addInitScript(announce);
  }

  /** Its owner selects other accounts. */
  async select(...wallets: Wallet[]): Promise<void> {
    this.wallets = wallets;
    await this.#page?.evaluate(() => dispatchEvent(new Event("test:accountsChanged")));
  }

  async #answer(method: string, params: unknown[]): Promise<unknown> {
    if (this.declines.delete(method)) throw new ProviderError(4001, "User rejected the request.");
    switch (method) {
      case "eth_requestAccounts":
      case "eth_accounts":
        return this.wallets.map((wallet) => wallet.address);
      case "eth_chainId":
        return this.chainId;
      case "wallet_switchEthereumChain": {
        const [{ chainId }] = chain.parse(params);
        if (!this.chains.has(chainId)) throw new ProviderError(4902, "Unrecognized chain ID.");
        this.chainId = chainId;
        return null;
      }
      case "wallet_addEthereumChain": {
        const [{ chainId, rpcUrls }] = z
          .tuple([z.object({ chainId: address, rpcUrls: z.tuple([z.string()]) })])
          .parse(params);
        this.chains.set(chainId, rpcUrls[0]);
        this.added.push(params[0]);
        return null;
      }
      case "eth_sendTransaction": {
        const [{ from, to, data }] = transactions.parse(params);
        const wallet = this.#walletOf(from);
        await this.onSending();
        // Asked about a hash before its block is made, the service answers 409, which the browser logs as an error.
        const { transaction_hash: hash } = await wallet.send({ to, data, ...this.substitute });
        await this.onSent(hash);
        return hash;
      }
      case "personal_sign": {
        const [text, from] = message.parse(params);
        return await this.#walletOf(from).signMessage(Buffer.from(text.slice(2), "hex").toString());
      }
      case "eth_signTypedData_v4": {
        const [from, text] = typedData.parse(params);
        const signature = await this.#walletOf(from).signTypedData(typedDataBody.parse(JSON.parse(text)));
        await this.onSigned();
        return signature;
      }
      default:
        return await this.#askChain(method, params);
    }
  }

  #walletOf(from: string): Wallet {
    const found = this.wallets.find((wallet) => wallet.address.toLowerCase() === from.toLowerCase());
    if (found === undefined) throw new ProviderError(4100, `${from} is not authorized.`);
    return found;
  }

  async #askChain(method: string, params: unknown[]): Promise<unknown> {
    const url = this.chains.get(this.chainId);
    if (url === undefined) return null;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    const { result } = z.object({ result: z.unknown() }).parse(await response.json());
    return result;
  }
}

declare global {
  interface Window {
    askWallet(
      method: string,
      params: readonly unknown[],
    ): Promise<{ result?: unknown; code?: number; message?: string }>;
  }
}

/** Runs in the page. */
function announce(): void {
  const provider = {
    async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
      const { result, code, message } = await window.askWallet(method, params);
      if (code !== undefined) throw Object.assign(new Error(message), { code });
      return result;
    },
    on(event: string, listener: () => void) {
      addEventListener(`test:${event}`, listener);
    },
  };
  const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#c50"/></svg>')}`;
  const info = {
    uuid: "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
    name: "Amber Wallet",
    icon,
    rdns: "example.amber",
  };
  const tell = () =>
    dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  addEventListener("eip6963:requestProvider", tell);
  tell();
}
