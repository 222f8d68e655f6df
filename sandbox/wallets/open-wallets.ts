import type { LocalAccount } from "viem";
import { meantName, orList } from "../../server/lib/wording.ts";
import { nameWallets } from "../chain/genesis/named-wallets.ts";
import { type WalletName, walletNames } from "../chain/genesis/roles.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { signingAccount } from "./signing-account.ts";
import type { TestWallet } from "./test-wallet.ts";

/** The wallets of a sandbox, by name. */
export type TestWallets = { [W in WalletName]: TestWallet };

/** Opens a wallet for each named test account. */
export function openWallets(
  { accounts }: ChainNode,
  walletOf: (account: LocalAccount, name: WalletName) => TestWallet,
): TestWallets {
  const opened = walletNames
    .filter((name) => Object.hasOwn(accounts.wallets, name))
    .map((name) => [name, walletOf(signingAccount(accounts.wallets[name]), name)]);
  const wallets: TestWallets = nameWallets<TestWallet>(Object.fromEntries(opened));
  return new Proxy(wallets, { get: (target, name) => Reflect.get(target, name) ?? refuseUnknown(name) });
}

/** Tells a test without types which wallets there are. Other readers, such as those that print an object, ask for many names. */
function refuseUnknown(name: string | symbol): undefined {
  if (typeof name === "symbol") return undefined;
  const meant = meantName(name, walletNames);
  if (meant === undefined && (!/^[a-z]+(_[a-z]+)*$/.test(name) || asked.has(name))) return undefined;
  throw new SandboxError(
    "argument_invalid",
    `There is no wallet ${name}. ${meant === undefined ? `Use ${orList(walletNames)}.` : `Did you mean ${meant}?`}`,
  );
}

/** Names that await, and functions that print or compare, ask any object for. */
const asked: ReadonlySet<string> = new Set(["then", "inspect", "length", "size", "constructor"]);
