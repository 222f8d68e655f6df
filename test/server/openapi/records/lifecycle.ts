import { present, type Schema, type Stage } from "../../stage.ts";

type Purchase = Schema<"Purchase">;

/** Brings merchants, purchases, claims, decisions, refunds and submissions into every state, and reads each. */
export class Lifecycle {
  readonly #stage: Stage;
  readonly #merchant: Schema<"Merchant">;

  constructor(stage: Stage, merchant: Schema<"Merchant">) {
    this.#stage = stage;
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
    await this.#stage.raw("/v1/routing/capabilities");
    await this.#stage.get(this.#stage.path(""));
    // The credential of an account that has none yet revokes none.
    await this.#stage.issue(this.#stage.otherAccountKey);
  }

  /** A merchant with a reference, whose wallet submits its signature and its transaction one after the other. */
  async #merchants(): Promise<void> {
    const stage = this.#stage;
    const { other_merchant: wallet } = stage.sandbox.wallets;
    const created = present(
      await stage.api.POST("/v1/routing/programs/{program}/merchants", {
        params: stage.write(),
        body: { wallet: wallet.address, name: "Corner Books", funding_cap: "1000", reference: "shop-7" },
      }),
    );
    await this.#readWallet(created);
    const { transaction_hash, body } = await wallet.enroll(created);
    await this.#submit(created, { action: "enroll", signature: body.signature });
    await this.#submit(created, { action: "enroll", transaction_hash });
    present(
      await stage.api.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
        params: stage.write(created.id),
        body: {},
      }),
    );
    const funded = await wallet.fund(created);
    await this.#submit(created, { action: "fund", transaction_hash: funded.transaction_hash });
    await this.#readWallet(created);
  }

  /** The registrar's route: approved and paid in two parts, each read before and after it is reconciled. */
  async #purchase(): Promise<void> {
    const stage = this.#stage;
    const { buyer } = stage.sandbox.wallets;
    const purchase = await stage.createPurchase(this.#merchant, { reference: "order-1001" });
    await this.#readWallet(purchase);
    await stage.activate(purchase);
    const approved = await buyer.approve(purchase);
    await this.#submit(purchase, { action: "approve", transaction_hash: approved.transaction_hash });
    const paid = await buyer.pay(purchase, 10_000_000n);
    await this.#submit(purchase, { action: "pay", transaction_hash: paid.transaction_hash });
    await this.#read(purchase);
    await this.#reconcile(purchase);
    await this.#reconcile(purchase);
    const { sign } = await stage.action("purchase", purchase.id, "pay_with_permit");
    if (sign?.method !== "eth_signTypedData_v4") throw new Error("A permit must be offered.");
    const signature = await buyer.signTypedData(sign.typed_data);
    await this.#submit(purchase, { action: "pay_with_permit", signature });
    await this.#readWallet(purchase);
    await stage.act("buyer", "purchase", purchase.id, "pay_with_permit");
    await this.#read(purchase);
  }

  /** The merchant's own route. */
  async #direct(): Promise<void> {
    const stage = this.#stage;
    const purchase = await stage.createPurchase(this.#merchant);
    const { transaction_hash } = await stage.sandbox.wallets.merchant.register(purchase);
    await this.#submit(purchase, { action: "register", transaction_hash });
    present(
      await stage.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
        params: stage.write(purchase.id),
        body: {},
      }),
    );
  }

  /** A payment that was reconciled and that the chain no longer holds. */
  async #reorged(): Promise<void> {
    const purchase = await this.#stage.paidPurchase(this.#merchant);
    await this.#stage.reorg(1);
    await this.#reconcile(purchase);
  }

  async #denied(): Promise<void> {
    const stage = this.#stage;
    const purchase = await stage.paidPurchase(this.#merchant);
    const { requested_amount: amount, ...evidence } = await stage.claimBody(purchase);
    await this.#readWallet(purchase);
    await this.#submit(purchase, { action: "claim", amount, ...evidence });
    const claim = present(
      await stage.api.POST("/v1/routing/programs/{program}/purchases/{id}/claims", {
        params: stage.write(purchase.id),
        body: { requested_amount: amount, ...evidence },
      }),
    );
    await this.#read(purchase);
    await stage.decide(purchase, claim, { outcome: "denied", award: "0" });
    await this.#read(purchase);
  }

  /** A refund that is due for a while, and then collected. */
  async #refunded(): Promise<void> {
    const stage = this.#stage;
    const { purchase, decision } = await stage.approvedPurchase(this.#merchant);
    await this.#read(purchase);
    await stage.sandbox.wallets.merchant.fund(this.#merchant);
    const params = stage.write(purchase.id);
    const refund = async () =>
      present(
        await stage.api.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
          params,
          body: { decision_id: decision.id },
        }),
      );
    stage.sandbox.relayer.fault({ point: "after_intent", action: "hold" });
    await refund();
    await this.#read(purchase);
    await refund();
    await this.#read(purchase);
    await stage.get(stage.path("/transactions?limit=1"));
  }

  async #read({ id }: Pick<Purchase, "id">): Promise<void> {
    await this.#stage.get(this.#stage.path(`/purchases/${id}`));
  }

  async #reconcile({ id }: Pick<Purchase, "id">): Promise<void> {
    await this.#stage.reconcile({ id });
  }

  async #readWallet({ id }: { id: string }): Promise<void> {
    await this.#stage.raw(this.#walletOf(id));
  }

  async #submit({ id }: { id: string }, body: object): Promise<void> {
    const answer = await this.#stage.post(this.#walletOf(id), body);
    if (answer.status !== 200) throw new Error(answer.text);
  }

  #walletOf(id: string): string {
    return `/wallet/${this.#stage.program}/${id.startsWith("mer_") ? "merchant" : "purchase"}/${id}`;
  }
}
