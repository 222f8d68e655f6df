import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { Wallet } from "../../sandbox/wallets/wallet.ts";

/** A wallet of a sandbox that runs in another process: a key of its `sandbox.json`, and the URL of its chain RPC. */
export interface WalletKey {
  private_key: Hex;
  rpc_url: string;
}

/**
 * Returns a wallet of the sandbox, or opens the one of a key.
 *
 * @param caller - the function that was given it, for the message.
 * @throws SandboxError argument_invalid when it is neither.
 */
export function toWallet(caller: string, given: Wallet | WalletKey): Wallet {
  if ("signTypedData" in Object(given)) return given as Wallet;
  const key = given as Partial<WalletKey> | undefined;
  if (typeof key?.private_key !== "string" || typeof key.rpc_url !== "string")
    throw new SandboxError(
      "argument_invalid",
      `${caller} takes a wallet of the sandbox, not ${showValue(given)}. Pass sandbox.wallets.buyer, or { private_key, rpc_url }.`,
    );
  return new Wallet(privateKeyToAccount(key.private_key), createChainClient(key.rpc_url));
}
