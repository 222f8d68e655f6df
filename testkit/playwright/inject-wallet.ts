import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { Wallet } from "../../sandbox/service/wallets/wallet.ts";
import { InjectedWallet, type InjectedWalletOptions } from "./injected-wallet.ts";
import type { WalletPage } from "./page-provider.ts";

export {
  type Approve,
  InjectedWallet,
  type InjectedWalletOptions,
  type WalletAnswers,
} from "./injected-wallet.ts";
export type { WalletPage } from "./page-provider.ts";
export { ProviderError } from "./provider-error.ts";
export type { DecodedRequest, RequestOutcome, WalletRequest } from "./wallet-request.ts";

/** A wallet of a sandbox that runs in another process: a key of its `sandbox.json`, and the URL of its chain RPC. */
export interface WalletKey {
  private_key: Hex;
  rpc_url: string;
}

/**
 * Gives a page a browser wallet without an extension: it announces itself (EIP-6963), answers requests (EIP-1193), signs with keys of a sandbox
 * and sends to its chain. Call this before `page.goto()`.
 *
 * @param page - a page of Playwright, of any version.
 * @param wallet - wallets of the sandbox, the selected one first, or keys of a sandbox in another process.
 * @returns the wallet. Its `requests` list what the page asked for, decoded.
 * @throws SandboxError argument_invalid when `wallet` is neither.
 * @example
 * const wallet = await injectWallet(page, sandbox.wallets.buyer, { answers: "approve" });
 * await page.goto(purchase.wallet_url);
 * // …
 * expect(wallet.requests.at(-1)?.decoded).toMatchObject({ function: "pay", args: { amount: "25000000" } });
 */
export async function injectWallet(
  page: WalletPage,
  wallet: Wallet | WalletKey | readonly (Wallet | WalletKey)[],
  options: InjectedWalletOptions = {},
): Promise<InjectedWallet> {
  const injected = new InjectedWallet([wallet].flat().map(toWallet), options);
  await injected.install(page);
  return injected;
}

function toWallet(given: Wallet | WalletKey): Wallet {
  if ("signTypedData" in Object(given)) return given as Wallet;
  const key = given as Partial<WalletKey> | undefined;
  if (typeof key?.private_key !== "string" || typeof key.rpc_url !== "string")
    throw new SandboxError(
      "argument_invalid",
      `injectWallet takes a wallet of the sandbox, not ${showValue(given)}. Pass sandbox.wallets.buyer, or { private_key, rpc_url }.`,
    );
  return new Wallet(privateKeyToAccount(key.private_key), createChainClient(key.rpc_url));
}
