import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { type ChainClient, createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { ownTerms, type SendingTerms } from "../../sandbox/chain/sending-terms.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { TestWallet } from "../../sandbox/wallets/test-wallet.ts";

/** The accounts and wallets of the demo; everything comes from what the sandbox publishes. */
export interface Actors {
  apiUrl: string;
  chain: ChainClient;
  program: string;
  accountKey: string;
  merchant: TestWallet;
  buyer: TestWallet;
  beneficiary: TestWallet;
  stranger: TestWallet;
  reviewers: SandboxDescription["reviewers"];
  contracts: SandboxDescription["contracts"];
}

/** A chain as wallets use it. */
export interface ActingChain {
  client: ChainClient;
  terms: SendingTerms;
}

/** Returns the accounts and wallets that act for a sandbox's first program. @param on - by default the chain at the URL that the sandbox publishes. */
export function actorsOf(description: SandboxDescription, on?: ActingChain): Actors {
  const { client: chain, terms } = on ?? { client: createChainClient(description.urls.rpc), terms: ownTerms };
  const [account] = description.accounts;
  if (account === undefined) throw new Error("A sandbox has at least one account.");
  const wallet = (name: string) => {
    const keys = description.wallets[name];
    if (keys === undefined) throw new Error(`The sandbox has no wallet ${name}.`);
    return new TestWallet(
      privateKeyToAccount(keys.private_key),
      chain,
      description.contracts,
      undefined,
      terms,
    );
  };
  return {
    apiUrl: description.urls.api,
    chain,
    program: account.program,
    accountKey: account.key,
    merchant: wallet("merchant"),
    buyer: wallet("buyer"),
    beneficiary: wallet("beneficiary"),
    stranger: wallet("stranger"),
    reviewers: description.reviewers,
    contracts: description.contracts,
  };
}

/** The token balance of a wallet, in base units. */
export async function balanceOf({ chain, contracts }: Actors, wallet: Address): Promise<bigint> {
  const { token: address } = contracts;
  return await chain.readContract({ address, abi: testUsdcAbi, functionName: "balanceOf", args: [wallet] });
}
