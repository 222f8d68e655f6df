import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import type { WalletName } from "./roles.ts";

/**
 * Returns an object that has what is known of some wallets, and refuses another one when it is asked for: a sandbox on its own chain has all of
 * them, one that is connected to a node those of its file of keys.
 *
 * @example nameWallets({ buyer }).merchant // throws wallet_unfunded
 */
export function nameWallets<T>(named: { readonly [W in WalletName]?: T | undefined }): Record<WalletName, T> {
  const all = new MissingWallets<T>();
  for (const [name, value] of Object.entries(named))
    Object.defineProperty(all, name, { value, enumerable: true, writable: true, configurable: true });
  return all;
}

class MissingWallets<T> implements Record<WalletName, T> {
  get deployer(): T {
    return missing("deployer");
  }

  get merchant(): T {
    return missing("merchant");
  }

  get buyer(): T {
    return missing("buyer");
  }

  get beneficiary(): T {
    return missing("beneficiary");
  }

  get stranger(): T {
    return missing("stranger");
  }

  get other_merchant(): T {
    return missing("other_merchant");
  }

  get other_buyer(): T {
    return missing("other_buyer");
  }
}

function missing(name: WalletName): never {
  throw new SandboxError(
    "wallet_unfunded",
    `The file of keys has no wallet ${name}. Add it under wallets, and send it test ether and test tokens.`,
  );
}
