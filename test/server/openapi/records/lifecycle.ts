import { present, type Schema } from "../../../kit/answer.ts";
import type { TestKit } from "../../../kit/test-kit.ts";

type Purchase = Schema<"Purchase">;

/** Brings merchants, purchases, claims, decisions, refunds and submissions into every state, and reads each. */
export class Lifecycle {
  readonly #kit: TestKit;
  readonly #merchant: Schema<"Merchant">;

  constructor(kit: TestKit, merchant: Schema<"Merchant">) {
    this.#kit = kit;
    this.#merchant = merchant;
  }

  async all(): Promise<void> {
    await this.#service();
    await this.#merchants();
    await this.#purchase();
    await this.#direct();
    await this.#denied();
    await this.#refunded();
    await this.#reorged();
  }

  async #service(): Promise<void> {
    await this.#kit.raw("/v1/routing/capabilities");
    await this.#kit.get(this.#kit.path(""));
    // The credential of an account that has none yet revokes none.
    await this.#kit.issue(this.#kit.otherAccountKey);
  }

  /** A merchant with a reference, whose wallet submits its signature and its transaction one after the other. */
  async #merchants(): Promise<void> {
    const kit = this.#kit;
    const { other_merchant: wallet } = kit.sandbox.wallets;
    const created = present(
      await kit.api.POST("/v1/routing/programs/{program}/merchants", {
        params: kit.write(),
        body: { wallet: wallet.address, name: "Corner Books", funding_cap: "1000", reference: "shop-7" },
      }),
    );
    await this.#readWallet(created);
    const { transaction_hash, body } = await wallet.enroll(created);
    await this.#submit(created, { action: "enroll", signature: body.signature });
    await this.#submit(created, { action: "enroll", transaction_hash });
    present(
      await kit.api.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
        params: kit.write(created.id),
        body: {},
      }),
    );
    const funded = await wallet.fund(created);
    await this.#submit(created, { action: "fund", transaction_hash: funded.transaction_hash });
    await this.#readWallet(created);
  }

  /** The operator's route: approved and paid in two parts, each read before and after it is reconciled. */
  async #purchase(): Promise<void> {
    const kit = this.#kit;
    const { buyer } = kit.sandbox.wallets;
    const purchase = await kit.createPurchase(this.#merchant, { reference: "order-1001" });
    await this.#readWallet(purchase);
    await kit.activate(purchase);
    const approved = await buyer.approve(purchase);
    await this.#submit(purchase, { action: "approve", transaction_hash: approved.transaction_hash });
    const paid = await buyer.pay(purchase, 10_000_000n);
    await this.#submit(purchase, { action: "pay", transaction_hash: paid.transaction_hash });
    await this.#read(purchase);
    await this.#reconcile(purchase);
    await this.#reconcile(purchase);
    const { sign } = await kit.action("purchase", purchase.id, "pay_with_permit");
    if (sign?.method !== "eth_signTypedData_v4") throw new Error("A permit must be offered.");
    const signature = await buyer.signTypedData(sign.typed_data);
    await this.#submit(purchase, { action: "pay_with_permit", signature });
    await this.#readWallet(purchase);
    await kit.act("buyer", "purchase", purchase.id, "pay_with_permit");
    await this.#read(purchase);
  }

  /** The merchant's own route. */
  async #direct(): Promise<void> {
    const kit = this.#kit;
    const purchase = await kit.createPurchase(this.#merchant);
    const { transaction_hash } = await kit.sandbox.wallets.merchant.register(purchase);
    await this.#submit(purchase, { action: "register", transaction_hash });
    present(
      await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
        params: kit.write(purchase.id),
        body: {},
      }),
    );
  }

  /** A payment that was reconciled and that the chain no longer holds. */
  async #reorged(): Promise<void> {
    const purchase = await this.#kit.paidPurchase(this.#merchant);
    await this.#kit.reorg(1);
    await this.#reconcile(purchase);
  }

  async #denied(): Promise<void> {
    const kit = this.#kit;
    const purchase = await kit.paidPurchase(this.#merchant);
    const { requested_amount: amount, ...evidence } = await kit.claimBody(purchase);
    await this.#readWallet(purchase);
    await this.#submit(purchase, { action: "claim", amount, ...evidence });
    const claim = present(
      await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/claims", {
        params: kit.write(purchase.id),
        body: { requested_amount: amount, ...evidence },
      }),
    );
    await this.#read(purchase);
    await kit.decide(purchase, claim, { outcome: "denied", award: "0" });
    await this.#read(purchase);
  }

  /** A refund that is due for a while, and then collected. */
  async #refunded(): Promise<void> {
    const kit = this.#kit;
    const { purchase, decision } = await kit.approvedPurchase(this.#merchant);
    await this.#read(purchase);
    await kit.sandbox.wallets.merchant.fund(this.#merchant);
    const params = kit.write(purchase.id);
    const refund = async () =>
      present(
        await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
          params,
          body: { decision_id: decision.id },
        }),
      );
    await kit.sandbox.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
    await refund();
    await this.#read(purchase);
    await refund();
    await this.#read(purchase);
    await kit.get(kit.path("/transactions?limit=1"));
  }

  async #read({ id }: Pick<Purchase, "id">): Promise<void> {
    await this.#kit.get(this.#kit.path(`/purchases/${id}`));
    await this.#readWallet({ id });
  }

  async #reconcile({ id }: Pick<Purchase, "id">): Promise<void> {
    await this.#kit.reconcile({ id });
  }

  async #readWallet({ id }: { id: string }): Promise<void> {
    await this.#kit.raw(this.#walletOf(id));
  }

  async #submit({ id }: { id: string }, body: object): Promise<void> {
    const answer = await this.#kit.post(this.#walletOf(id), body);
    if (answer.status !== 200) throw new Error(answer.text);
  }

  #walletOf(id: string): string {
    return `/wallet/${this.#kit.program}/${id.startsWith("mer_") ? "merchant" : "purchase"}/${id}`;
  }
}
