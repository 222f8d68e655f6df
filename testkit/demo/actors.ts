import { hexToBytes } from "@noble/hashes/utils.js";
import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { type Ed25519Key, ed25519Key } from "../../protocol/ed25519.ts";
import { type ChainClient, createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { TestWallet } from "../../sandbox/service/wallets/test-wallet.ts";
import type { SandboxDescription } from "../../sandbox/state/description.ts";
import { RoutingClient } from "./routing-client.ts";

/** The accounts and wallets of the demo; everything comes from what the sandbox publishes. */
export interface Actors {
  api: RoutingClient;
  chain: ChainClient;
  program: string;
  accountKey: string;
  merchant: TestWallet;
  buyer: TestWallet;
  beneficiary: TestWallet;
  stranger: TestWallet;
  reviewer: Ed25519Key;
  contracts: SandboxDescription["contracts"];
}

/** Takes the parts of the first program's actors from a sandbox's description. */
export async function castActors(description: SandboxDescription): Promise<Actors> {
  const chain = createChainClient(description.urls.rpc);
  const [account] = description.accounts;
  if (account === undefined) throw new Error("A sandbox has at least one account.");
  const wallet = (name: string) => {
    const keys = description.wallets[name];
    if (keys === undefined) throw new Error(`The sandbox has no wallet ${name}.`);
    return new TestWallet(privateKeyToAccount(keys.private_key), chain, description.contracts);
  };
  return {
    api: new RoutingClient(description.urls.api),
    chain,
    program: account.program,
    accountKey: account.key,
    merchant: wallet("merchant"),
    buyer: wallet("buyer"),
    beneficiary: wallet("beneficiary"),
    stranger: wallet("stranger"),
    reviewer: await ed25519Key(hexToBytes(description.reviewer.private_key)),
    contracts: description.contracts,
  };
}

/** The token balance of a wallet, in base units. */
export async function balanceOf({ chain, contracts }: Actors, wallet: Address): Promise<bigint> {
  const { token: address } = contracts;
  return await chain.readContract({ address, abi: testUsdcAbi, functionName: "balanceOf", args: [wallet] });
}
