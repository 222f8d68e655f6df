import type { Hex } from "viem";
import { z } from "zod";
import { usdc } from "../../protocol/amount.ts";
import type { CheckName } from "../../protocol/binding/check-binding.ts";
import { type Call, registerCall } from "../../protocol/call.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import type { Decision } from "../../protocol/decision.ts";
import type { Json } from "../../protocol/json.ts";
import type { WalletName } from "../../sandbox/chain/genesis/roles.ts";
import { readCommitment } from "../../sandbox/service/wallets/read-commitment.ts";
import { merchantSchema } from "../../server/schemas/merchant.ts";
import { problemSchema } from "../../server/schemas/problem.ts";
import { type purchaseSchema, reconciliationSchema } from "../../server/schemas/purchase.ts";
import { StagedChain } from "./staged-chain.ts";

/** A merchant as the API shows it. */
export type StagedMerchant = z.infer<typeof merchantSchema>;

/** A purchase as the API shows it. */
export type StagedPurchase = z.infer<typeof purchaseSchema>;

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

/** What the parties of a stage ask of the service, with what each answer did to the store. */
export class StagedService extends StagedChain {
  protected credentials = new Map<string, string>();
  #requests = 0;

  async decide(statement: Decision, approval: string): Promise<StageAnswer> {
    const { award, claim_id, outcome, decided_at, reviewer_key_id } = statement;
    const body = { award, claim_id, outcome, decided_at, reviewer_key_id, approval };
    return await this.post(`/purchases/${statement.purchase}/decisions`, body);
  }

  async reconcile(purchase: StagedPurchase, hashes?: readonly Hex[]): Promise<StageAnswer> {
    const body = hashes === undefined ? {} : { transaction_hashes: [...hashes] };
    return await this.post(`/purchases/${purchase.id}/reconcile`, body, purchase.program);
  }

  /** The call by which the merchant registers a purchase directly, also where the wallet route would not offer it. */
  registration(purchase: StagedPurchase): Call {
    const { registrar } = this.contracts;
    return registerCall(registrar, readCommitment(purchase), purchase.commitment.signature);
  }

  async register(purchase: StagedPurchase, transaction_hash: Hex): Promise<StageAnswer> {
    return await this.post(`/purchases/${purchase.id}/registration`, { transaction_hash });
  }

  /** Submits over the wallet route of a purchase. */
  async submitToWallet(purchase: StagedPurchase, body: Json): Promise<StageAnswer> {
    return await this.#send(`/wallet/${purchase.program}/purchase/${purchase.id}`, body, {});
  }

  /** @param key - the idempotency key; a new one unless one is named. */
  async post(path: string, body: Json, program = "prg_demo", key?: string): Promise<StageAnswer> {
    const credential = this.credentials.get(program);
    return await this.#send(`/v1/routing/programs/${program}${path}`, body, {
      Authorization: `Bearer ${credential}`,
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
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
        "Content-Type": "application/json",
        "Idempotency-Key": `attack-${String(number).padStart(4, "0")}`,
        ...headers,
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

  /** Takes new credentials: those of before end with it, or with seven days of travel. */
  async issueAccess(): Promise<void> {
    for (const { key, program } of this.sandbox.description.accounts) {
      const answer = await this.#send("/v1/routing/access", {}, { Authorization: `Bearer ${key}` });
      const { credential } = z.object({ credential: z.string() }).parse(this.expectAccepted(answer).body);
      this.credentials.set(program, credential);
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
}

/** What a reconciliation did. */
export function parseReconciliation(answer: StageAnswer): z.infer<typeof reconciliationSchema> {
  return reconciliationSchema.parse(answer.body);
}
