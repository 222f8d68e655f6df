/** Relayed operations per second with 32 at once, compared with the same calls signed and sent by viem alone on the same Anvil. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  type LocalAccount,
  maxUint256,
  parseEther,
  WaitForTransactionReceiptTimeoutError,
} from "viem";
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type Call, enrollCall, offerCall } from "../../protocol/call.ts";
import { type Commitment, commitmentTypedData, hashCommitment } from "../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypedData,
} from "../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { RelayIntent } from "../../relayer/relayer.ts";
import { testMnemonic } from "../../sandbox/chain/genesis/roles.ts";
import { startChain } from "../../sandbox/chain/start-chain.ts";
import { Waits } from "../../sandbox/lib/time/waits.ts";
import { resolveOptions } from "../../sandbox/options/settings.ts";
import { openRelayer } from "../../sandbox/service/open-relayer.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import type { Benchmark } from "./benchmark.ts";

const operations = 512;
const atOnce = 32;
const gas = 600_000n;
const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

const chain = await startChain({ mode: "deterministic", seed: "bench" });
const { deployment, client, accounts } = chain;
const { registrar, token } = deployment;
const chainId = deployment.chainId;
const domain = registrarDomain(chainId, registrar.address);
const { deployer, merchant, buyer, beneficiary } = accounts.wallets;
const commitmentSigner = mnemonicToAccount(testMnemonic, { addressIndex: 50 });
const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
const opened = new AsyncDisposableStack();
opened.use(chain);
opened.defer(async () => await rm(folder, { recursive: true, force: true }));

/** A program of its own for each subject, so that each has its own wallet and nonces. */
async function openProgram(index: number): Promise<{ program: string; signer: LocalAccount }> {
  const program = `prg_bench_${index}`;
  const signer = mnemonicToAccount(testMnemonic, { addressIndex: 60 + index });
  const onchainId = hashId(program);
  await client.setBalance({ address: signer.address, value: parseEther("10000") });
  const bounds = { maxPurchase: 1_000n, openBudget: 10n ** 12n, validUntil: 4_000_000_000n };
  const data = encodeFunctionData({
    abi: purchaseRegistrarAbi,
    functionName: "openProgram",
    args: [onchainId, signer.address, commitmentSigner.address, bounds],
  });
  await send(privateKeyToAccount(deployer.privateKey), { to: registrar.address, data });
  const authorization: FundingAuthorization = {
    program: onchainId,
    merchantRef: hashId(`mer_bench_${index}`),
    wallet: merchant.address,
    token: token.address,
    cap: 10n ** 9n,
    validUntil: 2_500_000_000n,
    salt: onchainId,
  };
  const signature = await commitmentSigner.signTypedData(
    fundingAuthorizationTypedData(domain, authorization),
  );
  await send(
    privateKeyToAccount(merchant.privateKey),
    enrollCall(registrar.address, authorization, signature),
  );
  return { program, signer };
}

async function send(account: LocalAccount, { to, data }: Pick<Call, "to" | "data">): Promise<void> {
  const wallet = createWalletClient({ account, chain: foundry, transport: http(chain.anvil.url) });
  const hash = await wallet.sendTransaction({ to, data });
  const { status } = await client.waitForTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`The transaction ${hash} of the set-up reverted.`);
}

let offers = 0;
let base: Hex | undefined;

/** Every round begins on the same chain, because Anvil slows down with every block; only the wallet's nonce continues. */
async function rewind({ address }: LocalAccount, nonce: number): Promise<void> {
  await client.request({ method: "anvil_dropAllTransactions" });
  if (base !== undefined && !(await client.request({ method: "evm_revert", params: [base] })))
    throw new Error("The chain has lost the beginning of the rounds.");
  base = await client.snapshot();
  await chain.clock.pin();
  await client.setNonce({ address, nonce });
}

/** Offers that were never made before, signed before the clock runs. */
async function newOffers(program: string, signer: LocalAccount): Promise<RelayIntent[]> {
  const intents: RelayIntent[] = [];
  for (let index = 0; index < operations; index += 1) {
    offers += 1;
    const id = `pur_${offers}`;
    const commitment: Commitment = {
      program: hashId(program),
      purchaseRef: hashId(id),
      merchant: merchant.address,
      buyer: buyer.address,
      beneficiary: beneficiary.address,
      token: token.address,
      amount: 1n,
      termsHash: hashId("terms"),
      offerDeadline: 2_400_000_000n,
      payDeadline: 2_400_000_000n,
      claimDeadline: 2_400_000_000n,
      salt: hashId(id),
    };
    const signature = await commitmentSigner.signTypedData(commitmentTypedData(domain, commitment));
    intents.push({
      program,
      kind: "offer",
      subject: { type: "purchase", id },
      businessKey: hashCommitment(domain, commitment),
      call: offerCall(registrar.address, commitment, signature),
      signer: signer.address,
    });
  }
  return intents;
}

/** Runs a step for each offer, so many at once, and returns the milliseconds that it took. */
async function timeAll(intents: readonly RelayIntent[], step: (intent: RelayIntent) => Promise<void>) {
  const waiting = intents.values();
  const began = performance.now();
  const lanes = Array.from({ length: atOnce }, async () => {
    for (const intent of waiting) await step(intent);
  });
  const ends = await Promise.allSettled(lanes);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return performance.now() - began;
}

/** Signs, sends and waits for the receipt, over the same batching transport: the minimum of any sender. */
async function viemAlone(index: number): Promise<() => Promise<number>> {
  const { program, signer } = await openProgram(index);
  const transport = http(chain.anvil.url, { retryCount: 0, batch: { wait: 0 } });
  const viem = createPublicClient({ transport, cacheTime: 0, pollingInterval: 5 });
  let nonce = 0;
  const round = async () => {
    const intents = await newOffers(program, signer);
    await rewind(signer, nonce);
    return await timeAll(intents, async ({ call: { to, data } }) => {
      const type = "eip1559";
      const raw = await signer.signTransaction({ type, chainId, nonce: nonce++, to, data, gas, ...fees });
      const hash = await viem.sendRawTransaction({ serializedTransaction: raw });
      const { status } = await viem.waitForTransactionReceipt({ hash, timeout: 3_000 });
      if (status !== "success") throw new Error(`The transaction ${hash} reverted.`);
    });
  };
  return async () => {
    for (;;) {
      try {
        return await round();
      } catch (error) {
        // The relayer frees what Anvil's pool has stranded; the floor has nothing that does.
        if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error;
        process.stderr.write("Anvil has stranded a transaction of viem alone; its round is run again\n");
      }
    }
  };
}

/** The sandbox's relayer with its journal on disk. */
async function sandboxRelayer(index: number): Promise<() => Promise<number>> {
  const { program, signer } = await openProgram(index);
  const store = await openDirectoryStore(join(folder, "store"));
  opened.defer(async () => await store.close());
  const relayer = openRelayer({
    settings: resolveOptions({ gasBudgetWei: maxUint256 }),
    chain,
    store,
    signers: [signer],
    faults: { take: () => null, pauseMining: async () => {}, reorganize: async () => {} },
    waits: new Waits(),
  });
  let nonce = 0;
  return async () => {
    const intents = await newOffers(program, signer);
    await rewind(signer, nonce);
    nonce += intents.length;
    return await timeAll(intents, async (intent) => {
      const { status, error } = await relayer.submit(intent);
      if (status !== "confirmed") throw new Error(`An operation is ${status}: ${error?.message}`);
    });
  };
}

/** Operations per second of a round. */
function perSecond(round: () => Promise<number>): () => Promise<number> {
  return async () => (operations / (await round())) * 1_000;
}

/** The benchmark `relayer`. */
export const benchmark: Benchmark = {
  title: `${operations} offers, ${atOnce} at once: each simulated, journaled, signed, sent and confirmed, compared with viem alone`,
  baseline: "viem alone",
  unit: "per second",
  rounds: 7,
  close: async () => await opened.disposeAsync(),
  subjects: {
    "viem alone": perSecond(await viemAlone(1)),
    relayer: perSecond(await sandboxRelayer(2)),
  },
  bars: { relayer: { atLeast: 1 } },
};
