/** A whole purchase, from the merchant's enrollment to the refund, compared with its seven transactions sent by viem alone. */
import { createPublicClient, createWalletClient, type Hex, http, type LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import {
  approveCall,
  type Call,
  claimCall,
  collectRefundCall,
  enrollCall,
  offerCall,
  payCall,
} from "../../protocol/call.ts";
import { hashClaim, hashReason } from "../../protocol/messages/claim.ts";
import { type Commitment, commitmentTypedData, hashCommitment } from "../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypedData,
} from "../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../protocol/values/id.ts";
import { startChain } from "../../sandbox/chain/start-chain.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";
import { award, price, runLifecycle } from "./run-lifecycle.ts";

const cap = 500_000_000n;
const deadline = 2_400_000_000n;

const opened = new AsyncDisposableStack();

/** The demo's lifecycle over HTTP, in a sandbox that is reset before each round. */
async function throughApi(): Promise<() => Promise<number>> {
  const sandbox = opened.use(await createSandbox({ seed: "bench" }));
  const actors = { ...actorsOf(sandbox.description), ...sandbox.wallets };
  const start = await sandbox.snapshot();
  return async () => {
    await start.restore();
    return await elapsed(async () => await runLifecycle(actors));
  };
}

/** The same transactions to an Anvil with the same contracts: signed, sent, and waited for. */
// Long: what the API is compared with is in one place.
async function viemAlone(way: "as its guide writes it" | "by hand"): Promise<() => Promise<number>> {
  const chain = opened.use(await startChain({ mode: "deterministic", seed: "bench" }));
  const { registrar, token, fundingSource, chainId } = chain.deployment;
  const { wallets, programs } = chain.accounts;
  const keys = programs["prg_demo"];
  if (keys === undefined) throw new Error("The genesis opens the program prg_demo.");
  const [merchant, buyer, beneficiary, signer, relayer] = [
    wallets.merchant,
    wallets.buyer,
    wallets.beneficiary,
    keys.commitmentSigner,
    keys.operator,
  ].map(({ privateKey }) => privateKeyToAccount(privateKey));
  if (!merchant || !buyer || !beneficiary || !signer || !relayer) throw new Error("Every account has a key.");
  const domain = registrarDomain(chainId, registrar.address);
  const viem = createPublicClient({
    transport: http(chain.anvil.url, { retryCount: 0 }),
    cacheTime: 0,
    pollingInterval: 1,
  });
  const program = hashId("prg_demo");

  const sendByGuide = async (account: LocalAccount, { to, data }: Call) => {
    const transport = http(chain.anvil.url, { retryCount: 0 });
    const wallet = createWalletClient({ account, chain: foundry, transport });
    const hash = await wallet.sendTransaction({ to, data });
    return await viem.waitForTransactionReceipt({ hash });
  };
  const sendByHand = async (account: LocalAccount, { to, data }: Call) => {
    const nonce = await viem.getTransactionCount({ address: account.address });
    const serializedTransaction = await account.signTransaction({
      type: "eip1559",
      chainId,
      nonce,
      to,
      data,
      gas: 1_000_000n,
      maxFeePerGas: 2_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    });
    return await viem.sendRawTransactionSync({ serializedTransaction });
  };
  const send = async (account: LocalAccount, call: Call) => {
    const { status } = await (way === "by hand" ? sendByHand(account, call) : sendByGuide(account, call));
    if (status !== "success") throw new Error("A transaction of viem alone reverted.");
  };
  const lifecycle = async () => {
    const authorization: FundingAuthorization = {
      program,
      merchantRef: hashId("mer_bench"),
      wallet: merchant.address,
      token: token.address,
      cap,
      validUntil: deadline,
      salt: program,
    };
    const funding = await signer.signTypedData(fundingAuthorizationTypedData(domain, authorization));
    await send(merchant, enrollCall(registrar.address, authorization, funding));
    await send(merchant, approveCall(token.address, fundingSource.address, cap));
    const commitment: Commitment = {
      program,
      purchaseRef: hashId("pur_bench"),
      merchant: merchant.address,
      buyer: buyer.address,
      beneficiary: beneficiary.address,
      token: token.address,
      amount: price,
      termsHash: hashId("terms"),
      offerDeadline: deadline,
      payDeadline: deadline,
      claimDeadline: deadline,
      salt: program,
    };
    const id: Hex = hashCommitment(domain, commitment);
    const committed = await signer.signTypedData(commitmentTypedData(domain, commitment));
    await send(relayer, offerCall(registrar.address, commitment, committed));
    await send(buyer, approveCall(token.address, registrar.address, price));
    await send(buyer, payCall(registrar.address, id, price));
    const reasonHash = hashReason("The course was cancelled.");
    const claim = { commitment: id, beneficiary: beneficiary.address, requestedAmount: award, reasonHash };
    await send(beneficiary, claimCall(registrar.address, id, hashClaim(domain, claim)));
    await send(relayer, collectRefundCall(registrar.address, id, award, hashId("decision")));
  };
  let start = await chain.client.snapshot();
  return async () => {
    if (!(await chain.client.request({ method: "evm_revert", params: [start] })))
      throw new Error("The chain has lost the beginning of the rounds.");
    start = await chain.client.snapshot();
    await chain.clock.pin();
    return await elapsed(lifecycle);
  };
}

/** The benchmark `lifecycle`. */
export const benchmark: Benchmark = {
  title:
    "A whole purchase through the API: access, enrollment, payment, claim, decision, refund, notification",
  baseline: "the lifecycle's 7 transactions by viem",
  rounds: 40,
  subjects: {
    "the lifecycle's 7 transactions by viem": await viemAlone("as its guide writes it"),
    "the lifecycle's 7 transactions by hand": await viemAlone("by hand"),
    "whole lifecycle": await throughApi(),
  },
  bars: { "whole lifecycle": { atMost: 1.5 } },
  close: async () => await opened.disposeAsync(),
};
