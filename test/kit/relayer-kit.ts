import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  stringToHex,
} from "viem";
import { foundry } from "viem/chains";
import { afterAll, expect, onTestFinished } from "vitest";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import {
  approveCall,
  type Call,
  claimCall,
  collectRefundCall,
  enrollCall,
  offerCall,
  payCall,
} from "../../protocol/call.ts";
import { type Commitment, commitmentTypedData, hashCommitment } from "../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypedData,
} from "../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../protocol/values/id.ts";
import {
  createRelayer,
  type FaultPoint,
  type Relayer,
  type RelayerJournal,
  type RelayerPorts,
  type RelayIntent,
  type RelayOperation,
} from "../../relayer/relayer.ts";
import type { TestAccount } from "../../sandbox/chain/genesis/deployment-record.ts";
import { type ChainNode, startChain } from "../../sandbox/chain/start-chain.ts";
import { SandboxFaults } from "../../sandbox/faults/faults.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import { relayerJournal } from "../../server/store/stored-relayer-journal.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { accountOf } from "./account-of.ts";
import { SharedChain } from "./shared-chain.ts";

/** The program that the tests relay for. */
export const program = "prg_demo";

/** Thrown where a crash would have killed the process. */
export class Crash extends Error {
  readonly point: FaultPoint;
  constructor(point: FaultPoint) {
    super(`Crashed at ${point}.`);
    this.point = point;
  }
}

const maxFeePerGas = 20n * 10n ** 9n;

/** The values that the tests do not care about. */
const settings = {
  confirmations: 1,
  gasBudgetWei: 10n ** 18n,
  fees: async () => ({ maxFeePerGas, maxPriorityFeePerGas: 10n ** 9n }),
  gasLimits: { offer: 500_000n, collect_refund: 400_000n },
  preconditions: {},
  beforeNonce: {},
  effectChecks: {},
  receiptTimeoutMs: 2_000,
};

/** The gas reservation of one offer with these settings. */
export const offerReservation = settings.gasLimits.offer * maxFeePerGas;

/** Settings that a test can change. */
export type RelayerKitOptions = Partial<RelayerPorts> & {
  seed?: string;
  /** Wraps the journal before the relayer gets it. */
  wrapJournal?: (journal: RelayerJournal) => RelayerJournal;
};

/** Opens a kit: a chain with an enrolled merchant, and a relayer with a journal on disk. */
export type OpenRelayerKit = (options?: RelayerKitOptions) => Promise<RelayerKit>;

/** Returns what opens the kits of a file's tests. They share a chain that is reset before each; with a seed, or next to another kit, one has its own. */
export function openRelayerKits(): OpenRelayerKit {
  let free: SharedChain | undefined;
  afterAll(async () => await free?.stop());
  return async (options = {}) => {
    const shared = (options.seed === undefined ? free : undefined) ?? (await prepareChain(options.seed));
    if (shared === free) free = undefined;
    const { chain, release } = shared.lease();
    onTestFinished(async () => {
      if ((await release()) && options.seed === undefined && free === undefined) free = shared;
      else await shared.stop();
    });
    const kit = new RelayerKit(chain, options, await temporaryFolder());
    await kit.start();
    return kit;
  };
}

async function prepareChain(seed = "relayer"): Promise<SharedChain> {
  const chain = await startChain({ mode: "deterministic", seed });
  await enrollMerchant(chain);
  return await SharedChain.from(chain);
}

/** The kit of one test. */
export class RelayerKit {
  readonly chain: ChainNode;
  readonly operator: LocalAccount;
  readonly #options: RelayerKitOptions;
  #folder: string;
  #started: { relayer: Relayer; journal: RelayerJournal; faults: SandboxFaults } | undefined;
  #balanceBefore = 0n;
  #blockBefore = 0n;

  constructor(chain: ChainNode, options: RelayerKitOptions, folder: string) {
    this.chain = chain;
    this.#options = options;
    this.#folder = folder;
    this.operator = accountOf(keysOf(chain).operator.privateKey);
  }

  get relayer(): Relayer {
    if (!this.#started) throw new Error("The kit is not open.");
    return this.#started.relayer;
  }

  get journal(): RelayerJournal {
    if (!this.#started) throw new Error("The kit is not open.");
    return this.#started.journal;
  }

  /** The faults of the relayer that runs. */
  get faults(): SandboxFaults {
    if (!this.#started) throw new Error("The kit is not open.");
    return this.#started.faults;
  }

  get client() {
    return this.chain.client;
  }

  /** Notes the signer's balance and starts a relayer on the kit's own journal. */
  async start(): Promise<void> {
    this.#balanceBefore = await this.client.getBalance({ address: this.operator.address });
    this.#blockBefore = await this.client.getBlockNumber();
    await this.#startRelayer(this.#folder);
  }

  /** A new relayer on what is on disk at this moment, as after the death of the process. */
  async restart(options: Partial<RelayerPorts> = {}): Promise<Relayer> {
    const folder = await temporaryFolder();
    for (const file of await readdir(this.#folder, { withFileTypes: true }))
      if (file.isFile()) await copyFile(join(this.#folder, file.name), join(folder, file.name));
    this.#folder = folder;
    return this.#startRelayer(folder, options);
  }

  async #startRelayer(folder: string, options: Partial<RelayerPorts> = {}): Promise<Relayer> {
    const { epoch, chainId } = this.chain.deployment;
    const { wrapJournal, seed: _, ...ports } = this.#options;
    const store = await openDirectoryStore(folder);
    onTestFinished(() => store.close());
    const journal = relayerJournal(store);
    const faults = new SandboxFaults({
      programs: [program, "prg_other"],
      request: this.client.request,
      isOwnChain: true,
      receiver: { isOwn: true, url: "" },
      changed: () => {},
    });
    const relayer = createRelayer({
      ...settings,
      journal: wrapJournal ? wrapJournal(journal) : journal,
      request: this.client.request,
      chain: { identity: async () => ({ chainId, epoch }) },
      signers: [this.operator],
      clock: this.chain.clock,
      faults: faults.relayer,
      wait: (milliseconds) => wait(milliseconds),
      crash: async (point) => {
        throw new Crash(point);
      },
      ...ports,
      ...options,
    });
    this.#started = { relayer, journal, faults };
    return relayer;
  }

  /** A purchase that the operator may offer; equal names give equal purchases. */
  async offer(name: string, amount = 25_000_000n, offerDeadline = 2_000_000_000n): Promise<RelayIntent> {
    const { wallets } = this.chain.accounts;
    const { deployment } = this.chain;
    const commitment: Commitment = {
      program: hashId(program),
      purchaseRef: hashId(`pur_${name}`),
      merchant: wallets.merchant.address,
      buyer: wallets.buyer.address,
      beneficiary: wallets.beneficiary.address,
      token: deployment.token.address,
      amount,
      termsHash: keccak256(stringToHex("terms")),
      offerDeadline,
      payDeadline: 2_000_000_000n,
      claimDeadline: 2_000_000_000n,
      salt: keccak256(stringToHex(name)),
    };
    const signer = accountOf(keysOf(this.chain).commitmentSigner.privateKey);
    const signature = await signer.signTypedData(commitmentTypedData(domainOf(this.chain), commitment));
    return {
      program,
      kind: "offer",
      subject: { type: "purchase", id: `pur_${name}` },
      businessKey: hashCommitment(domainOf(this.chain), commitment),
      call: offerCall(deployment.registrar.address, commitment, signature),
      signer: this.operator.address,
    };
  }

  /** A refund that is due, of a purchase that was offered. */
  async refund(name: string, purchase: Hex, award: bigint): Promise<RelayIntent> {
    const { buyer, beneficiary } = this.chain.accounts.wallets;
    const { registrar, token } = this.chain.deployment;
    await this.send(buyer, approveCall(token.address, registrar.address, award));
    await this.send(buyer, payCall(registrar.address, purchase, award));
    await this.send(beneficiary, claimCall(registrar.address, purchase, keccak256(stringToHex(name))));
    const decisionHash = keccak256(stringToHex(`decision ${name}`));
    return {
      program,
      kind: "collect_refund",
      subject: { type: "refund", id: `ref_${name}` },
      businessKey: decisionHash,
      call: collectRefundCall(registrar.address, purchase, award, decisionHash),
      signer: this.operator.address,
    };
  }

  /** The merchant lets the funding source draw so much from now on. */
  async fund(allowance: bigint): Promise<void> {
    const { token, fundingSource } = this.chain.deployment;
    await this.send(
      this.chain.accounts.wallets.merchant,
      approveCall(token.address, fundingSource.address, allowance),
    );
  }

  /** A refund whose transaction reverted, because the merchant took the allowance away after it was signed. */
  async revertedRefund(
    name: string,
    award = 4_000_000n,
  ): Promise<{ intent: RelayIntent; reverted: RelayOperation }> {
    const offer = await this.offer(name);
    await this.relayer.submit(offer);
    const intent = await this.refund(name, offer.businessKey, award);
    await this.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    const signed = await this.relayer.submit(intent);
    expect(signed.status).toBe("signed");
    await this.fund(0n);
    const reverted = await this.relayer.advance(signed.operation_id);
    expect(reverted).toMatchObject({ status: "reverted", attempt: 1, hashes: [{ outcome: "reverted" }] });
    return { intent, reverted };
  }

  /** The hashes of the transactions that collected a refund, in order. */
  async collected(): Promise<Hex[]> {
    const logs = await this.client.getContractEvents({
      address: this.chain.deployment.registrar.address,
      abi: purchaseRegistrarAbi,
      eventName: "RefundCollected",
      fromBlock: this.#blockBefore,
    });
    return logs.map(({ transactionHash }) => transactionHash);
  }

  /** The program's admin sets what the operator may do. */
  async setBounds(bounds: { maxPurchase: bigint; openBudget: bigint }): Promise<void> {
    const { registrar, programs } = this.chain.deployment;
    const role = programs.find(({ id }) => id === program);
    if (!role) throw new Error(`The genesis does not know ${program}.`);
    const data = encodeFunctionData({
      abi: purchaseRegistrarAbi,
      functionName: "setBounds",
      args: [role.onchainId, role.operator, role.commitmentSigner, { ...bounds, validUntil: 4_000_000_000n }],
    });
    await this.send(this.chain.accounts.wallets.deployer, { to: registrar.address, data });
  }

  /** The newest blocks leave the chain, and empty ones take their place. */
  async reorg(depth: number): Promise<void> {
    await this.client.request<{
      Method: "anvil_reorg";
      Parameters: [depth: number, transactions: []];
      ReturnType: null;
    }>({ method: "anvil_reorg", params: [depth, []] });
  }

  /** Sends a wallet's own transaction and expects it to succeed. */
  async send(sender: TestAccount, call: Pick<Call, "to" | "data">): Promise<void> {
    await send(this.chain, sender, call);
  }

  /** The token balance of an address. */
  async tokens(account: TestAccount): Promise<bigint> {
    return this.client.readContract({
      address: this.chain.deployment.token.address,
      abi: testUsdcAbi,
      functionName: "balanceOf",
      args: [account.address],
    });
  }

  /** The hashes of the signer's transactions on the chain since the start, in order. */
  async mined(): Promise<Hex[]> {
    const hashes: Hex[] = [];
    const head = await this.client.getBlockNumber();
    for (let blockNumber = this.#blockBefore + 1n; blockNumber <= head; blockNumber += 1n) {
      const block = await this.client.getBlock({ blockNumber, includeTransactions: true });
      for (const { from, hash } of block.transactions)
        if (from.toLowerCase() === this.operator.address.toLowerCase()) hashes.push(hash);
    }
    return hashes;
  }

  /** Exactly the operation's transaction is on the chain, and the operation says so. */
  async expectExactlyOnce(operation: RelayOperation): Promise<void> {
    expect(operation.status).toBe("confirmed");
    expect(await this.mined()).toEqual([operation.hash]);
    await this.expectBooksToBalance();
  }

  /**
   * The budget adds up, agrees with every operation, and is what the signer has paid to the wei.
   *
   * @param foreign - how many transactions another program has sent with the signer's key.
   */
  async expectBooksToBalance(foreign = 0): Promise<void> {
    const budget = await this.relayer.budget(program);
    const operations = await this.relayer.list(program, { limit: 1_000 });
    const sum = (amounts: (string | null)[]) => amounts.reduce((total, wei) => total + BigInt(wei ?? 0), 0n);
    expect(sum([budget.available_wei, budget.reserved_wei, budget.spent_wei])).toBe(BigInt(budget.limit_wei));
    expect(sum(operations.map(({ reserved_wei }) => reserved_wei))).toBe(BigInt(budget.reserved_wei));
    expect(sum(operations.map(({ cost_wei }) => cost_wei))).toBe(BigInt(budget.spent_wei));
    const ours = new Set(operations.flatMap(({ hashes }) => hashes.map(({ hash }) => hash)));
    const others = (await this.mined()).filter((hash) => !ours.has(hash));
    expect(others).toHaveLength(foreign);
    const costs = others.map(async (hash) => {
      const { gasUsed, effectiveGasPrice } = await this.client.getTransactionReceipt({ hash });
      return (gasUsed * effectiveGasPrice).toString();
    });
    const balance = await this.client.getBalance({ address: this.operator.address });
    expect(this.#balanceBefore - balance).toBe(BigInt(budget.spent_wei) + sum(await Promise.all(costs)));
  }
}

/** The merchant takes the funding that the program's signer authorizes. */
async function enrollMerchant(chain: ChainNode): Promise<void> {
  const { merchant } = chain.accounts.wallets;
  const { registrar, token, fundingSource } = chain.deployment;
  const authorization: FundingAuthorization = {
    program: hashId(program),
    merchantRef: hashId("mer_stage"),
    wallet: merchant.address,
    token: token.address,
    cap: 10n ** 12n,
    validUntil: 2_500_000_000n,
    salt: keccak256("0x01"),
  };
  const signer = accountOf(keysOf(chain).commitmentSigner.privateKey);
  const signature = await signer.signTypedData(fundingAuthorizationTypedData(domainOf(chain), authorization));
  await send(chain, merchant, enrollCall(registrar.address, authorization, signature));
  await send(chain, merchant, approveCall(token.address, fundingSource.address, 10n ** 12n));
}

async function send(chain: ChainNode, sender: TestAccount, call: Pick<Call, "to" | "data">): Promise<void> {
  const wallet = createWalletClient({
    account: accountOf(sender.privateKey),
    chain: foundry,
    transport: http(chain.anvil.url, { retryCount: 0 }),
  });
  const hash = await wallet.sendTransaction({ to: call.to, data: call.data });
  const receipt = await chain.client.waitForTransactionReceipt({ hash });
  expect(receipt.status).toBe("success");
}

function keysOf({ accounts }: ChainNode) {
  const keys = accounts.programs[program];
  if (!keys) throw new Error(`The genesis does not know ${program}.`);
  return keys;
}

function domainOf({ deployment }: ChainNode) {
  return registrarDomain(deployment.chainId, deployment.registrar.address);
}
