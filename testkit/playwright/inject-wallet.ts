import type { Wallet } from "../../sandbox/wallets/wallet.ts";
import { InjectedWallet, type InjectedWalletOptions } from "./injected-wallet.ts";
import type { WalletPage } from "./page-provider.ts";
import { toWallet, type WalletKey } from "./wallet-request.ts";

export {
  type Approve,
  InjectedWallet,
  type InjectedWalletOptions,
  type WalletAnswers,
} from "./injected-wallet.ts";
export type { WalletPage } from "./page-provider.ts";
export type { DecodedRequest, RequestOutcome, WalletKey, WalletRequest } from "./wallet-request.ts";
export { ProviderError } from "./wallet-request.ts";

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
  const injected = new InjectedWallet(
    [wallet].flat().map((given) => toWallet("injectWallet", given)),
    options,
  );
  await injected.install(page);
  return injected;
}
