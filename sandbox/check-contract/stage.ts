import { hexToBytes } from "@noble/hashes/utils.js";
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  type LocalAccount,
  type SignedAuthorization,
  type TransactionReceipt,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import type { CheckName } from "../../protocol/binding/check-binding.ts";
import { approveCall, type Call, claimCall, payBatchCall, payCall } from "../../protocol/call.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { type Claim, claimTypedData, hashClaim, hashReason } from "../../protocol/claim.ts";
import { type Decision, signDecision } from "../../protocol/decision.ts";
import { registrarDomain } from "../../protocol/domain.ts";
import type { Json } from "../../protocol/json.ts";
import { claimSchema } from "../../server/schemas/claim.ts";
import { decisionSchema } from "../../server/schemas/decision.ts";
import { merchantSchema } from "../../server/schemas/merchant.ts";
import { problemSchema } from "../../server/schemas/problem.ts";
import { purchaseSchema, reconciliationSchema } from "../../server/schemas/purchase.ts";
import { walletSchema } from "../../server/schemas/wallet.ts";
import { createSandbox, type Sandbox } from "../create-sandbox.ts";
import type { WalletName } from "../genesis/roles.ts";
import type { Chain } from "../genesis/start-chain.ts";
import type { Snapshot } from "../snapshot.ts";
import { readAdversary } from "./artifact.ts";
import { Liar } from "./liar.ts";

/** A merchant as the API shows it. */
export type StagedMerchant = z.infer<typeof merchantSchema>;

/** A purchase as the API shows it. */
export type StagedPurchase = z.infer<typeof purchaseSchema>;

/** Who can send on the stage: a wallet, or the account that the relayer sends from. */
export type Actor = WalletName | "registrar";

/** What came of a request: the problem's code and the checks that failed, or neither. */
export interface Outcome {
  status: number;
  code: string | null;
  /** The names of the failed checks, in the order of the report. */
  failed: CheckName[];
}

/** An answer of the API, with what it did to the store. */
export interface StageAnswer extends Outcome {
  body: unknown;
  /** Whether anything that is stored changed. */
  wrote: boolean;
}

/** What an account sends; the recipient is null for a creation. */
export interface Outgoing {
  to: Address | null;
  data: Hex;
  value?: bigint;
  gas?: bigint;
  nonce?: number;
  maxFeePerGas?: bigint;
  /** Makes it a legacy transaction. */
  legacy?: boolean;
  /** Makes it one that delegates accounts to code (EIP-7702). */
  delegate?: SignedAuthorization[];
}

const usdc = 1_000_000n;

/**
 * A fresh sandbox with two active purchases of one buyer, one that is not on chain yet and one of another program: what
 * every attack starts from. A reset takes everything back.
 */
export class Stage {
  readonly sandbox: Sandbox;
  readonly liar: Liar;
  #credentials = new Map<string, string>();
  #firstCredentials = new Map<string, string>();
  #requests = 0;
  #mark: Snapshot | undefined;
  #merchant: StagedMerchant | undefined;
  readonly #purchases = new Map<string, StagedPurchase>();

  private constructor(sandbox: Sandbox, liar: Liar) {
    this.sandbox = sandbox;
    this.liar = liar;
  }

  /**
   * Opens a stage.
   *
   * @param install - puts another registrar in the place of the sandbox's own.
   */
  static async open(install: (chain: Chain) => Promise<Chain> = async (chain) => chain): Promise<Stage> {
    const liar = new Liar();
    const sandbox = await createSandbox({
      seed: "attacks",
      adaptChain: async (chain) => liar.adapt(await install(chain)),
    });
    const stage = new Stage(sandbox, liar);
    try {
      await stage.#prepare();
    } catch (error) {
      await sandbox.close();
      throw error;
    }
    return stage;
  }

  async close(): Promise<void> {
    await this.sandbox.close();
  }

  /** Takes everything back to the moment after the preparation. */
  async reset(): Promise<void> {
    this.liar.repent();
    await this.client.setAutomine(true);
    await this.#mark?.restore();
    this.#credentials = new Map(this.#firstCredentials);
  }

  get client() {
    return this.sandbox.chain.client;
  }

  get contracts() {
    return this.sandbox.description.contracts;
  }

  get merchant(): StagedMerchant {
    if (this.#merchant === undefined) throw new Error("The stage is not prepared.");
    return this.#merchant;
  }

  /** Active, 25 USDC, of buyer and beneficiary; nothing is paid. */
  get purchase(): StagedPurchase {
    return this.#named("first");
  }

  /** Active too, 40 USDC, of the same buyer. */
  get second(): StagedPurchase {
    return this.#named("second");
  }

  /** Committed to, and not on chain. */
  get draft(): StagedPurchase {
    return this.#named("draft");
  }

  /** Active, of the same buyer, in another program. */
  get foreign(): StagedPurchase {
    return this.#named("foreign");
  }

  /** What every staged claim says. */
  readonly reason = "The course was cancelled.";

  account(name: Actor): LocalAccount {
    const { programs, wallets } = this.sandbox.chain.accounts;
    const keys = name === "registrar" ? programs["prg_demo"]?.registrar : wallets[name];
    if (keys === undefined) throw new Error(`The sandbox has no account ${name}.`);
    return privateKeyToAccount(keys.privateKey);
  }

  address(name: Actor): Address {
    return this.account(name).address;
  }

  /** Signs a transaction with a wallet's own key. */
  async sign(name: Actor, transaction: Outgoing): Promise<Hex> {
    const account = this.account(name);
    const { data, value = 0n, gas = 2_000_000n, maxFeePerGas = 2_000_000_000n } = transaction;
    const nonce =
      transaction.nonce ??
      (await this.client.getTransactionCount({ address: account.address, blockTag: "pending" }));
    const chainId = this.sandbox.description.chain.chain_id;
    const common = { chainId, nonce, gas, value, data, to: transaction.to };
    if (transaction.legacy)
      return await account.signTransaction({ ...common, type: "legacy", gasPrice: maxFeePerGas });
    const fees = { maxFeePerGas, maxPriorityFeePerGas: 1_000_000_000n };
    if (transaction.delegate === undefined)
      return await account.signTransaction({ ...common, ...fees, type: "eip1559" });
    return await account.signTransaction({
      ...common,
      ...fees,
      type: "eip7702",
      authorizationList: transaction.delegate,
    });
  }

  /** Sends what a wallet signed and does not wait. */
  async submit(name: Actor, transaction: Outgoing): Promise<Hex> {
    return await this.client.sendRawTransaction({
      serializedTransaction: await this.sign(name, transaction),
    });
  }

  /** Sends a transaction and waits until it is mined, whatever became of it. */
  async send(name: Actor, transaction: Outgoing): Promise<Hex> {
    const hash = await this.submit(name, transaction);
    await this.receipt(hash);
    return hash;
  }

  async receipt(hash: Hex): Promise<TransactionReceipt> {
    return await this.sandbox.wallets.stranger.receipt(hash);
  }

  /** Sends a transaction that has to succeed, for an attack that builds on it. */
  async succeed(name: Actor, transaction: Outgoing): Promise<Hex> {
    const hash = await this.send(name, transaction);
    const { status } = await this.receipt(hash);
    if (status !== "success")
      throw new Error(`The transaction ${hash} of ${name} was to succeed and reverted.`);
    return hash;
  }

  /** Deploys an adversary. */
  async deploy(source: string, name = source, args: Hex = "0x"): Promise<Address> {
    const { bytecode } = await readAdversary(source, name);
    const hash = await this.send("stranger", { to: null, data: concatHex([bytecode, args]) });
    const { contractAddress } = await this.receipt(hash);
    if (!contractAddress) throw new Error(`${name} was not deployed.`);
    return contractAddress;
  }

  /** The code that creates an adversary with these arguments. */
  async creation(source: string, name: string, target: Address, data: Hex): Promise<Hex> {
    const { bytecode } = await readAdversary(source, name);
    return concatHex([
      bytecode,
      encodeAbiParameters([{ type: "address" }, { type: "bytes" }], [target, data]),
    ]);
  }

  pay(purchase: StagedPurchase, amount = 10n * usdc): Call {
    return payCall(this.contracts.registrar, purchase.commitment.hash, amount);
  }

  payBatch(parts: readonly (readonly [StagedPurchase, bigint])[]): Call {
    return payBatchCall(
      this.contracts.registrar,
      parts.map(([purchase]) => purchase.commitment.hash),
      parts.map(([, amount]) => amount),
    );
  }

  approve(amount: bigint, spender = this.contracts.registrar): Call {
    return approveCall(this.contracts.token, spender, amount);
  }

  /** The claim that the beneficiary of a purchase signs. */
  claim(purchase: StagedPurchase, requestedAmount = 10n * usdc): { claim: Claim; hash: Hex; call: Call } {
    const claim = {
      commitment: purchase.commitment.hash,
      beneficiary: purchase.beneficiary,
      requestedAmount,
      reasonHash: hashReason(this.reason),
    };
    const hash = hashClaim(this.domain, claim);
    return { claim, hash, call: claimCall(this.contracts.registrar, purchase.commitment.hash, hash) };
  }

  get domain() {
    return registrarDomain(this.sandbox.description.chain.chain_id, this.contracts.registrar);
  }

  /** A payment that is mined and reconciled, and a claim on chain: where claims start from. */
  async paidAndClaimed(purchase = this.purchase): Promise<{ hash: Hex; claim: Claim; signature: Hex }> {
    await this.paid(purchase);
    const { claim, call } = this.claim(purchase);
    const hash = await this.succeed("beneficiary", call);
    return { hash, claim, signature: await this.signClaim(claim) };
  }

  /** Signs a claim with a wallet's key, the beneficiary's unless another one is named. */
  async signClaim(claim: Claim, name: Actor = "beneficiary"): Promise<Hex> {
    return await this.account(name).signTypedData(claimTypedData(this.domain, claim));
  }

  /** A payment that is mined and reconciled. */
  async paid(purchase = this.purchase): Promise<Hex> {
    const hash = await this.succeed("buyer", this.pay(purchase));
    this.expectAccepted(await this.reconcile(purchase, [hash]));
    return hash;
  }

  /** A claim that the API has accepted. */
  async claimed(purchase = this.purchase): Promise<z.infer<typeof claimSchema>> {
    const { hash, signature } = await this.paidAndClaimed(purchase);
    return claimSchema.parse(this.expectAccepted(await this.fileClaim(hash, signature, purchase)).body);
  }

  async fileClaim(transaction_hash: Hex, signature: Hex, purchase = this.purchase): Promise<StageAnswer> {
    return await this.post(`/purchases/${purchase.id}/claims`, {
      transaction_hash,
      requested_amount: (10n * usdc).toString(),
      reason: this.reason,
      signature,
    });
  }

  /** The statement that the designated reviewer signs about a claim. */
  async statement(claim: { id: string; claim_hash: Hex }, purchase = this.purchase): Promise<Decision> {
    const { description, clock } = this.sandbox;
    return {
      award: (5n * usdc).toString(),
      chain_id: description.chain.chain_id,
      claim_hash: claim.claim_hash,
      claim_id: claim.id,
      commitment_hash: purchase.commitment.hash,
      decided_at: new Date((await clock.now()) * 1_000).toISOString(),
      outcome: "approved",
      program: purchase.program,
      purchase: purchase.id,
      reviewer_key_id: description.reviewer.key_id,
    };
  }

  get reviewerKey(): Uint8Array {
    return hexToBytes(this.sandbox.description.reviewer.private_key);
  }

  async decide(statement: Decision, approval: string): Promise<StageAnswer> {
    const { award, claim_id, outcome, decided_at, reviewer_key_id } = statement;
    const body = { award, claim_id, outcome, decided_at, reviewer_key_id, approval };
    return await this.post(`/purchases/${statement.purchase}/decisions`, body);
  }

  /** An approved decision about a new claim. */
  async decided(): Promise<z.infer<typeof decisionSchema>> {
    await this.claimed();
    return await this.approveClaim();
  }

  /** The designated reviewer approves the claim that the first purchase has. */
  async approveClaim(): Promise<z.infer<typeof decisionSchema>> {
    const purchase = (await this.sandbox.store.get("purchases", this.purchase.id))?.value;
    const claim = (await this.sandbox.store.get("claims", purchase?.claim_id ?? ""))?.value;
    if (claim === undefined) throw new Error("The purchase has no claim.");
    const statement = await this.statement(claim);
    const answer = await this.decide(statement, signDecision(this.reviewerKey, statement));
    return decisionSchema.parse(this.expectAccepted(answer).body);
  }

  async refund(decision_id: string, purchase = this.purchase): Promise<StageAnswer> {
    return await this.post(`/purchases/${purchase.id}/refunds`, { decision_id });
  }

  async reconcile(purchase: StagedPurchase, hashes?: readonly Hex[]): Promise<StageAnswer> {
    const body = hashes === undefined ? {} : { transaction_hashes: [...hashes] };
    return await this.post(`/purchases/${purchase.id}/reconcile`, body, purchase.program);
  }

  /** The call by which the merchant registers a purchase directly, as the wallet route shows it. */
  async registration(purchase: StagedPurchase): Promise<{ to: Address; data: Hex }> {
    const { urls } = this.sandbox.description;
    const path = `/wallet/${purchase.program}/purchase/${purchase.id}`;
    const { actions } = walletSchema.parse(await (await fetch(new URL(path, urls.api))).json());
    const transaction = actions.find(({ name }) => name === "register")?.transaction;
    if (transaction === undefined) throw new Error("The wallet route offers no registration.");
    const { to, data } = transaction;
    return { to, data };
  }

  async register(purchase: StagedPurchase, transaction_hash: Hex): Promise<StageAnswer> {
    return await this.post(`/purchases/${purchase.id}/registration`, { transaction_hash });
  }

  /** Submits over the wallet route of a purchase. */
  async submitToWallet(purchase: StagedPurchase, body: Json): Promise<StageAnswer> {
    return await this.#send(`/wallet/${purchase.program}/purchase/${purchase.id}`, body, {});
  }

  async post(path: string, body: Json, program = "prg_demo"): Promise<StageAnswer> {
    const credential = this.#credentials.get(program);
    return await this.#send(`/v1/routing/programs/${program}${path}`, body, {
      Authorization: `Bearer ${credential}`,
    });
  }

  /** The answer, if it is no refusal. */
  expectAccepted(answer: StageAnswer): StageAnswer {
    if (answer.status < 400) return answer;
    throw new Error(`An honest step was refused: ${JSON.stringify(answer.body)}`);
  }

  async #send(path: string, body: Json, headers: { [name: string]: string }): Promise<StageAnswer> {
    const { urls } = this.sandbox.description;
    this.#requests += 1;
    const number = this.#requests;
    const before = await this.#stored();
    const response = await fetch(new URL(path, urls.api), {
      method: "POST",
      headers: {
        ...headers,
        "Content-Type": "application/json",
        "Idempotency-Key": `attack-${String(number).padStart(4, "0")}`,
      },
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    const wrote = (await this.#stored()) !== before;
    if (response.status < 400)
      return { status: response.status, code: null, failed: [], body: answer, wrote };
    const { code, binding } = problemSchema.parse(answer);
    const failed = (binding?.checks ?? []).filter(({ ok }) => !ok).map(({ name }) => name);
    return { status: response.status, code, failed, body: answer, wrote };
  }

  async #stored(): Promise<string> {
    const { collections } = await this.sandbox.store.export();
    return canonicalJson(collections);
  }

  async #prepare(): Promise<void> {
    await this.issueAccess();
    this.#merchant = await this.enrolledMerchant("merchant");
    const elsewhere = await this.enrolledMerchant("merchant", 500n * usdc, "prg_other");
    const create = async (
      name: string,
      amount: bigint,
      program = "prg_demo",
      merchant_id = this.merchant.id,
    ) => {
      const purchase = await this.createPurchase({ amount: amount.toString(), merchant_id }, program);
      this.#purchases.set(name, purchase);
      return purchase;
    };
    await this.activate(await create("first", 25n * usdc));
    await this.activate(await create("second", 40n * usdc));
    await create("draft", 30n * usdc);
    await this.activate(await create("foreign", 20n * usdc, "prg_other", elsewhere.id));
    await this.succeed("buyer", this.approve(100n * usdc));
    this.#mark = await this.sandbox.snapshot();
    this.#firstCredentials = new Map(this.#credentials);
  }

  /** Takes new credentials: those of before end with it, or with seven days of travel. */
  async issueAccess(): Promise<void> {
    for (const { key, program } of this.sandbox.description.accounts) {
      const answer = await this.#send("/v1/routing/access", {}, { Authorization: `Bearer ${key}` });
      const { credential } = z.object({ credential: z.string() }).parse(this.expectAccepted(answer).body);
      this.#credentials.set(program, credential);
    }
  }

  /** Creates a merchant whose wallet does not enroll yet. */
  async createMerchant(wallet: WalletName, cap: bigint, program = "prg_demo"): Promise<StagedMerchant> {
    const body = { wallet: this.address(wallet), name: "Corner Books", funding_cap: cap.toString() };
    const created = await this.post("/merchants", body, program);
    return merchantSchema.parse(this.expectAccepted(created).body);
  }

  /** Confirms an enrollment. */
  async enroll(merchant: StagedMerchant, transaction_hash: Hex, signature: Hex): Promise<StageAnswer> {
    const body = { transaction_hash, signature };
    return await this.post(`/merchants/${merchant.id}/enrollment`, body, merchant.program);
  }

  /** A merchant whose wallet has enrolled and lets the funding source draw its cap. */
  async enrolledMerchant(
    wallet: WalletName,
    cap = 500n * usdc,
    program = "prg_demo",
  ): Promise<StagedMerchant> {
    const merchant = await this.createMerchant(wallet, cap, program);
    const { to, data } = merchant.enrollment.transaction;
    const hash = await this.succeed(wallet, { to, data });
    const signature = await this.account(wallet).signMessage({ message: merchant.enrollment.message });
    const answer = this.expectAccepted(await this.enroll(merchant, hash, signature));
    await this.succeed(wallet, this.approve(cap, this.contracts.funding_source));
    return merchantSchema.parse(answer.body);
  }

  /** Commits to a purchase of buyer and beneficiary, with whatever is named instead. */
  async createPurchase(fields: { [name: string]: Json }, program = "prg_demo"): Promise<StagedPurchase> {
    const answer = await this.post(
      "/purchases",
      {
        merchant_id: this.merchant.id,
        buyer: this.address("buyer"),
        beneficiary: this.address("beneficiary"),
        amount: (25n * usdc).toString(),
        terms: { sku: "course-42" },
        ...fields,
      },
      program,
    );
    return purchaseSchema.parse(this.expectAccepted(answer).body);
  }

  /** Has the bounded registrar offer a purchase. */
  async activate(purchase: StagedPurchase): Promise<void> {
    this.expectAccepted(
      await this.post(
        `/purchases/${purchase.id}/activate`,
        { commitment_hash: purchase.commitment.hash },
        purchase.program,
      ),
    );
  }

  #named(name: string): StagedPurchase {
    const purchase = this.#purchases.get(name);
    if (purchase === undefined) throw new Error("The stage is not prepared.");
    return purchase;
  }
}

/** What a reconciliation did. */
export function parseReconciliation(answer: StageAnswer): z.infer<typeof reconciliationSchema> {
  return reconciliationSchema.parse(answer.body);
}
