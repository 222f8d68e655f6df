/** A whole purchase, from the merchant's enrollment to the refund, compared with its seven transactions sent by viem alone. */
import { createPublicClient, createWalletClient, type Hex, http, type LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { WebSocket } from "ws";
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
import { type Actors, actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

/** The price of the purchase and its award, in base units. */
const price = 25_000_000n;
const award = 12_000_000n;

const cap = 500_000_000n;
const deadline = 2_400_000_000n;

const opened = new AsyncDisposableStack();

const sandbox = opened.use(await createSandbox({ seed: "bench" }));
const actors = { ...actorsOf(sandbox.description), ...sandbox.wallets };
const fresh = await sandbox.snapshot();

/** Runs the demo's lifecycle over HTTP in a reset sandbox: eleven requests of the API, the receiver's one, and five transactions of wallets. */
async function throughApi(): Promise<number> {
  await fresh.restore();
  return await elapsed(async () => await runLifecycle(actors));
}

async function runLifecycle(parties: Actors): Promise<void> {
  const session = await Session.open(parties, silentPrinter);
  const merchant = await enrollMerchant(session);
  const purchase = await demoSteps.createPurchase(session, merchant, "purchase", price.toString());
  await demoSteps.activate(session, purchase, "activate");
  await demoSteps.approve(session, parties.buyer, purchase, price);
  await demoSteps.pay(session, purchase, price);
  await demoSteps.reconcile(session, purchase, "reconcile");
  const claim = await demoSteps.claim(session, purchase, award);
  const decision = await demoSteps.decide(session, purchase, claim, award);
  const { event_id } = await demoSteps.refund(session, purchase, decision);
  await demoSteps.notify(session, event_id);
}

/** Counts what all sockets of this process send during one lifecycle. */
async function countMessages(): Promise<number> {
  const { send } = WebSocket.prototype;
  let messages = 0;
  Reflect.set(WebSocket.prototype, "send", function counted(this: WebSocket, ...sent: unknown[]) {
    messages += 1;
    Reflect.apply(send, this, sent);
  });
  try {
    await fresh.restore();
    messages = 0;
    await runLifecycle(actors);
  } finally {
    WebSocket.prototype.send = send;
  }
  return messages;
}

/** The same transactions to an Anvil with the same contracts: signed, sent, and waited for. */
// Long: what the API is compared with is in one place.
async function viemAlone(): Promise<() => Promise<number>> {
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

  const send = async (account: LocalAccount, { to, data }: Call) => {
    const wallet = createWalletClient({
      account,
      chain: foundry,
      transport: http(chain.anvil.url, { retryCount: 0 }),
    });
    const hash = await wallet.sendTransaction({ to, data });
    const { status } = await viem.waitForTransactionReceipt({ hash });
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

const messages = "its messages to the node";

/** The benchmark `lifecycle`. */
export const benchmark: Benchmark = {
  title:
    "A whole purchase through the API: access, enrollment, payment, claim, decision, refund, notification",
  baseline: "the lifecycle's 7 transactions by viem",
  rounds: 40,
  subjects: {
    "the lifecycle's 7 transactions by viem": await viemAlone(),
    "whole lifecycle": throughApi,
    [messages]: countMessages,
  },
  units: { [messages]: "messages" },
  comparedTo: { [messages]: messages },
  bars: { "whole lifecycle": { atMost: 1.5 }, [messages]: { noMoreThan: 60 } },
  close: async () => await opened.disposeAsync(),
};
