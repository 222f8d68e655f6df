import { hexToBytes } from "@noble/hashes/utils.js";
import type { Hex } from "viem";
import type { z } from "zod";
import { usdc } from "../../protocol/amount.ts";
import { type Call, claimCall, payBatchCall, payCall, payWithPermitCall } from "../../protocol/call.ts";
import { type Claim, claimTypedData, hashClaim, hashReason } from "../../protocol/claim.ts";
import { type Decision, signDecision } from "../../protocol/decision.ts";
import type { Json } from "../../protocol/json.ts";
import type { SignedPermit } from "../../protocol/permit.ts";
import type { ChainNode } from "../../sandbox/chain/genesis/start-chain.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../sandbox/state/snapshot.ts";
import { claimSchema } from "../../server/schemas/claim.ts";
import { decisionSchema } from "../../server/schemas/decision.ts";
import { purchaseSchema } from "../../server/schemas/purchase.ts";
import type { Actor } from "./staged-chain.ts";
import {
  type StageAnswer,
  type StagedMerchant,
  type StagedPurchase,
  StagedService,
} from "./staged-service.ts";
import { TamperedNode } from "./tampered-node.ts";

/**
 * A fresh sandbox with two active purchases of one buyer, one that is not on chain yet and one of another program: what
 * every attack starts from. A reset takes everything back.
 */
export class Stage extends StagedService {
  readonly tampered: TamperedNode;
  #firstCredentials = new Map<string, string>();
  #mark: Snapshot | undefined;
  #merchant: StagedMerchant | undefined;
  readonly #purchases = new Map<string, StagedPurchase>();
  /** The function by which the buyer pays one purchase, until the next reset. */
  payment: "pay" | "payWithPermit" = "pay";
  /** The calls that pay one purchase, since the last reset. */
  payments = 0;

  private constructor(sandbox: Sandbox, tampered: TamperedNode) {
    super(sandbox);
    this.tampered = tampered;
  }

  /**
   * Opens a stage.
   *
   * @param install - puts another registrar in the place of the sandbox's own.
   */
  static async open(
    install: (chain: ChainNode) => Promise<ChainNode> = async (chain) => chain,
  ): Promise<Stage> {
    const tampered = new TamperedNode();
    const sandbox = await createSandbox({
      seed: "attacks",
      adaptChain: async (chain) => tampered.adapt(await install(chain)),
    });
    const stage = new Stage(sandbox, tampered);
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
    this.tampered.clear();
    this.payment = "pay";
    this.payments = 0;
    await this.#mark?.restore();
    await this.readPermitNonce();
    this.credentials = new Map(this.#firstCredentials);
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

  pay(purchase: StagedPurchase, amount = 10n * usdc): Call {
    this.payments += 1;
    const { hash } = purchase.commitment;
    return this.payment === "pay"
      ? payCall(this.contracts.registrar, hash, amount)
      : this.payWithPermit(purchase, amount);
  }

  /** Pays under a permit; the buyer's own, for exactly this payment, unless another one is named. */
  payWithPermit(
    purchase: StagedPurchase,
    amount = 10n * usdc,
    permit: SignedPermit = this.permit(purchase, amount),
  ): Call {
    return payWithPermitCall(this.contracts.registrar, purchase.commitment.hash, amount, permit);
  }

  /** The buyer's permit of an amount, until the purchase's payment deadline. */
  permit(purchase: StagedPurchase, value: bigint): SignedPermit {
    return this.signPermit({ value, deadline: BigInt(purchase.deadlines.pay_deadline) });
  }

  payBatch(parts: readonly (readonly [StagedPurchase, bigint])[]): Call {
    return payBatchCall(
      this.contracts.registrar,
      parts.map(([purchase]) => purchase.commitment.hash),
      parts.map(([, amount]) => amount),
    );
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

  async refund(decision_id: string, purchase = this.purchase, key?: string): Promise<StageAnswer> {
    return await this.post(`/purchases/${purchase.id}/refunds`, { decision_id }, purchase.program, key);
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
    this.#firstCredentials = new Map(this.credentials);
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

  #named(name: string): StagedPurchase {
    const purchase = this.#purchases.get(name);
    if (purchase === undefined) throw new Error("The stage is not prepared.");
    return purchase;
  }
}
