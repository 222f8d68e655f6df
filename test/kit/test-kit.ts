import { request as send } from "node:http";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { expect } from "vitest";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type Decision, signDecision } from "../../protocol/signatures/decision.ts";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { hashId } from "../../protocol/values/id.ts";
import { type ApiClient, createApiClient } from "../../sandbox/client/api-client.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import { Wallet } from "../../sandbox/wallets/wallet.ts";
import { accountOf } from "./account-of.ts";
import { type Answer, present, type RawRequest, type Schema } from "./answer.ts";
import { Events } from "./events.ts";
import { freshSandbox } from "./fresh-sandbox.ts";

/** A purchase and the decision on its claim. */
interface RefundSubject {
  purchase: { id: string };
  decision: { id: string };
}

/** A running sandbox with a credential of an account, and what tests ask of it. */
export class TestKit implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly program: string;
  readonly events = new Events(this);
  /** Where requests go: the API, or a proxy in front of it. */
  base: string;
  readonly accountKey: string;
  readonly otherAccountKey: string;
  credential = "";
  api: ApiClient;
  #keys = 0;
  #isOwner = false;

  private constructor(sandbox: Sandbox, account: number) {
    this.sandbox = sandbox;
    this.base = sandbox.description.urls.api;
    const { accounts } = sandbox.description;
    const [own, other] = [accounts[account], accounts[1 - account]];
    if (own === undefined || other === undefined) throw new Error("A sandbox has two accounts.");
    this.program = own.program;
    this.accountKey = own.key;
    this.otherAccountKey = other.key;
    this.api = createApiClient(this.base);
  }

  /** Starts a sandbox, which the kit closes. */
  static async open(options: SandboxOptions = {}): Promise<TestKit> {
    const kit = await TestKit.of(await createSandbox(options));
    kit.#isOwner = true;
    return kit;
  }

  /** Returns a kit of a sandbox that is as it was when it had started, see {@link freshSandbox}. */
  static async shared(options: SandboxOptions = {}): Promise<TestKit> {
    return await TestKit.of(await freshSandbox(options));
  }

  /** Returns a kit of a sandbox that runs already, with a credential of its first or second account. */
  static async of(sandbox: Sandbox, account = 0): Promise<TestKit> {
    const kit = new TestKit(sandbox, account);
    await kit.renew();
    return kit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOwner) await this.sandbox.close();
  }

  /** Issues a credential, for all scopes by default, and uses it from here on. */
  async renew(scopes?: Schema<"Access">["scopes"]): Promise<Schema<"Access">> {
    const access = await this.issue(this.accountKey, scopes);
    this.credential = access.credential;
    this.api = createApiClient(this.base, access.credential);
    return access;
  }

  /** Issues a credential of an account. */
  async issue(accountKey: string, scopes?: Schema<"Access">["scopes"]): Promise<Schema<"Access">> {
    const client = createApiClient(this.base, accountKey);
    return present(await client.POST("/v1/routing/access", { body: scopes === undefined ? {} : { scopes } }));
  }

  /** An idempotency key that no other request has. */
  key(): string {
    this.#keys += 1;
    return `test-key-${this.#keys}`;
  }

  /** The parameters of a write under the program. */
  write(id?: string) {
    const header = { "Idempotency-Key": this.key() };
    return { path: { program: this.program, id: id ?? "" }, header };
  }

  wallet(name: string): Wallet {
    const described = this.sandbox.description.wallets[name];
    if (described === undefined) throw new Error(`There is no wallet ${name}.`);
    return new Wallet(accountOf(described.private_key), this.sandbox.chain.client);
  }

  /**
   * Has a request's transaction mined right behind what wallets submit before it: the request cannot see them on the chain.
   *
   * @param mine - makes the block; one at the next second by default.
   */
  async behind(
    submit: () => Promise<Hex[]>,
    ask: () => Promise<Answer>,
    mine: () => Promise<unknown> = () => this.sandbox.chain.client.mine({ blocks: 1 }),
  ): Promise<Answer> {
    const { client } = this.sandbox.chain;
    await client.setAutomine(false);
    const { length } = await submit();
    const asked = ask();
    await expect.poll(async () => (await client.getTxpoolStatus()).pending).toBe(length + 1);
    await mine();
    await client.setAutomine(true);
    return await asked;
  }

  /** A path below the program. */
  path(below: string): string {
    return `/v1/routing/programs/${this.program}${below}`;
  }

  /** Sends exactly this request. */
  async raw(path: string, { method = "GET", headers = {}, body }: RawRequest = {}): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const outgoing = send(this.base + path, { method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
      });
    });
    outgoing.once("error", reject);
    outgoing.end(body);
    return await promise;
  }

  /** Sends a write as it should be, but for what is overridden. */
  async post(
    path: string,
    body: unknown,
    headers: { [name: string]: string | string[] } = {},
  ): Promise<Answer> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return await this.raw(path, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${this.credential}`,
        "Idempotency-Key": this.key(),
        "Content-Type": "application/json",
        "Content-Length": String(Buffer.byteLength(text)),
        ...headers,
      },
      body: text,
    });
  }

  /** Reads with the credential. */
  async get(path: string): Promise<Answer> {
    return await this.raw(path, { headers: { Authorization: `Bearer ${this.credential}` } });
  }

  /** Returns the content of the store as one text. */
  async digest(): Promise<string> {
    return hashJson(await this.sandbox.store.export());
  }

  async createMerchant(cap = "1000000000000", name = "merchant"): Promise<Schema<"Merchant">> {
    const wallet = this.wallet(name).address;
    return present(
      await this.api.POST("/v1/routing/programs/{program}/merchants", {
        params: this.write(),
        body: { wallet, name: "Corner Books", funding_cap: cap },
      }),
    );
  }

  /** A merchant whose wallet has enrolled. */
  async enrolledMerchant(cap?: string): Promise<Schema<"Merchant">> {
    const merchant = await this.createMerchant(cap);
    const { transaction, message } = merchant.enrollment;
    const { transaction_hash: transactionHash } = await this.wallet("merchant").send(transaction);
    const signature = await this.wallet("merchant").signMessage(message);
    return present(
      await this.api.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
        params: this.write(merchant.id),
        body: { transaction_hash: transactionHash, signature },
      }),
    );
  }

  /** A merchant whose wallet has enrolled and lets the funding source draw its whole cap. */
  async fundedMerchant(cap?: string): Promise<Schema<"Merchant">> {
    const merchant = await this.enrolledMerchant(cap);
    await this.act("merchant", "merchant", merchant.id, "fund");
    return merchant;
  }

  async createPurchase(
    merchant: Pick<Schema<"Merchant">, "id">,
    more: Partial<Schema<"CreatePurchase">> = {},
  ): Promise<Schema<"Purchase">> {
    return present(
      await this.api.POST("/v1/routing/programs/{program}/purchases", {
        params: this.write(),
        body: {
          merchant_id: merchant.id,
          buyer: this.wallet("buyer").address,
          beneficiary: this.wallet("beneficiary").address,
          amount: "25000000",
          terms: { sku: "course-42" },
          ...more,
        },
      }),
    );
  }

  /** Sends one request for an activation. */
  async requestActivation({ id, commitment }: Schema<"Purchase">, key = this.key()): Promise<Answer> {
    const body = { commitment_hash: commitment.hash };
    return await this.post(this.path(`/purchases/${id}/activate`), body, { "Idempotency-Key": key });
  }

  /** Sends one request for the refund under a decision. */
  async requestRefund({ purchase, decision }: RefundSubject, key = this.key()): Promise<Answer> {
    const body = { decision_id: decision.id };
    return await this.post(this.path(`/purchases/${purchase.id}/refunds`), body, { "Idempotency-Key": key });
  }

  async readPurchase({ id }: Pick<Schema<"Purchase">, "id">): Promise<Schema<"Purchase">> {
    return present(
      await this.api.GET("/v1/routing/programs/{program}/purchases/{id}", {
        params: { path: { program: this.program, id } },
      }),
    );
  }

  /** Reads the program's relay operations. */
  async relayOperations(): Promise<Schema<"Operation">[]> {
    const params = { path: { program: this.program } };
    return present(await this.api.GET("/v1/routing/programs/{program}/transactions", { params })).data;
  }

  /** Reads the program's relay operations of refunds. */
  async collections(): Promise<Schema<"Operation">[]> {
    return (await this.relayOperations()).filter(({ kind }) => kind === "collect_refund");
  }

  /** Activates a purchase; as long as its operation is not confirmed, the identical request asks again. */
  async activate(purchase: Schema<"Purchase">): Promise<Schema<"Purchase">> {
    const params = this.write(purchase.id);
    const body = { commitment_hash: purchase.commitment.hash };
    for (;;) {
      const answer = await this.api.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
        params,
        body,
      });
      const { purchase: active } = present(answer);
      if (answer.response.status !== 202) return active;
    }
  }

  /** An active purchase of the first enrolled merchant that there is. */
  async activePurchase(merchant?: Pick<Schema<"Merchant">, "id">): Promise<Schema<"Purchase">> {
    return await this.activate(await this.createPurchase(merchant ?? (await this.enrolledMerchant())));
  }

  /** Returns an action of the wallet route. */
  async action(
    type: "merchant" | "purchase",
    id: string,
    name: string,
    query: { amount?: string; reason?: string } = {},
  ): Promise<Schema<"Wallet">["actions"][number]> {
    const wallet = present(
      type === "merchant"
        ? await this.api.GET("/wallet/{program}/merchant/{id}", {
            params: { path: { program: this.program, id } },
          })
        : await this.api.GET("/wallet/{program}/purchase/{id}", {
            params: { path: { program: this.program, id }, query },
          }),
    );
    const found = wallet.actions.find((action) => action.name === name);
    if (found === undefined) throw new Error(`The wallet route has no action ${name}.`);
    return found;
  }

  /** Lets a wallet send what the wallet route offers for an action. */
  async act(
    wallet: string,
    type: "merchant" | "purchase",
    id: string,
    name: string,
    query?: { amount?: string; reason?: string },
  ): Promise<Hex> {
    const { transaction, why_not } = await this.action(type, id, name, query);
    if (transaction === undefined) throw new Error(`${name} is not offered: ${why_not}`);
    return (await this.wallet(wallet).send(transaction)).transaction_hash;
  }

  /** Sends the change that the program's admin makes to what the operator may offer, and does not wait for it. */
  async setBounds(change: { maxPurchase?: bigint; openBudget?: bigint; validUntil?: bigint }): Promise<Hex> {
    const { client, deployment } = this.sandbox.chain;
    const registrar = { address: deployment.registrar.address, abi: purchaseRegistrarAbi } as const;
    const program = hashId(this.program);
    const { operator, commitmentSigner, bounds } = await client.readContract({
      ...registrar,
      functionName: "programState",
      args: [program],
    });
    const data = encodeFunctionData({
      abi: purchaseRegistrarAbi,
      functionName: "setBounds",
      args: [program, operator, commitmentSigner, { ...bounds, ...change }],
    });
    return await this.wallet("deployer").submit({ to: registrar.address, data });
  }

  /** Approves and pays all that is outstanding. */
  async pay(purchase: Schema<"Purchase">): Promise<Hex> {
    await this.act("buyer", "purchase", purchase.id, "approve");
    return await this.act("buyer", "purchase", purchase.id, "pay");
  }

  async reconcile(purchase: Pick<Schema<"Purchase">, "id">): Promise<Schema<"Reconciliation">> {
    return present(
      await this.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
        params: this.write(purchase.id),
        body: {},
      }),
    );
  }

  /** A purchase that is paid in full and reconciled. */
  async paidPurchase(merchant?: Pick<Schema<"Merchant">, "id">): Promise<Schema<"Purchase">> {
    const purchase = await this.activePurchase(merchant);
    await this.pay(purchase);
    return (await this.reconcile(purchase)).purchase;
  }

  /** The body of the designated reviewer's decision on a claim, with the given differences. */
  decision(
    purchase: Schema<"Purchase">,
    claim: Schema<"Claim">,
    change: Partial<Decision> = {},
  ): Schema<"RecordDecision"> {
    const { key_id, private_key } = this.sandbox.description.reviewer;
    const statement: Decision = {
      award: "10000000",
      chain_id: this.sandbox.description.chain.chain_id,
      claim_hash: claim.claim_hash,
      claim_id: claim.id,
      commitment_hash: purchase.commitment.hash,
      decided_at: claim.created_at,
      outcome: "approved",
      program: this.program,
      purchase: purchase.id,
      reviewer_key_id: key_id,
      ...change,
    };
    const approval = signDecision(Buffer.from(private_key, "hex"), statement);
    const { award, claim_id, decided_at, outcome, reviewer_key_id } = statement;
    return { award, claim_id, decided_at, outcome, reviewer_key_id, approval };
  }

  /** The body of a claim that the beneficiary has signed and sent. */
  async claimBody(
    purchase: Pick<Schema<"Purchase">, "id">,
    amount = "10000000",
  ): Promise<Required<Schema<"FileClaim">>> {
    const reason = "Arrived broken.";
    const { transaction, sign } = await this.action("purchase", purchase.id, "claim", { amount, reason });
    if (transaction === undefined || sign?.method !== "eth_signTypedData_v4")
      throw new Error("No claim is offered.");
    const wallet = this.wallet("beneficiary");
    const signature = await wallet.signTypedData(sign.typed_data);
    const { transaction_hash: transactionHash } = await wallet.send(transaction);
    return { transaction_hash: transactionHash, requested_amount: amount, reason, signature };
  }

  /**
   * The newest blocks leave the chain, and as many others take their place.
   *
   * @param mined - signed transactions, each with the number of the new block that has it, from 0; none by default.
   */
  async reorg(depth: number, mined: [raw: Hex, block: number][] = []): Promise<void> {
    const { client } = this.sandbox.chain;
    await client.request<{ Method: "anvil_reorg"; Parameters: [number, typeof mined]; ReturnType: null }>({
      method: "anvil_reorg",
      params: [depth, mined],
    });
  }

  /** The signed bytes of a transaction that the node has, to be sent or mined again after a reorg. */
  async rawTransaction(hash: string): Promise<Hex> {
    return await this.sandbox.chain.client.request<{
      Method: "eth_getRawTransactionByHash";
      Parameters: [string];
      ReturnType: Hex;
    }>({ method: "eth_getRawTransactionByHash", params: [hash] });
  }

  /** Signs a transaction of a wallet, to be mined by a reorg. */
  async sign(
    wallet: string,
    transaction: { to: Address; data: Hex },
    nonce?: number,
    gas = 1_000_000n,
  ): Promise<Hex> {
    const { private_key } = this.sandbox.description.wallets[wallet] ?? {};
    if (private_key === undefined) throw new Error(`There is no wallet ${wallet}.`);
    const account = accountOf(private_key);
    const { client } = this.sandbox.chain;
    return await account.signTransaction({
      ...transaction,
      chainId: this.sandbox.description.chain.chain_id,
      nonce: nonce ?? (await client.getTransactionCount({ address: account.address })),
      gas,
      maxFeePerGas: 2_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    });
  }

  async claim(purchase: Pick<Schema<"Purchase">, "id">): Promise<Schema<"Claim">> {
    return present(
      await this.api.POST("/v1/routing/programs/{program}/purchases/{id}/claims", {
        params: this.write(purchase.id),
        body: await this.claimBody(purchase),
      }),
    );
  }

  async decide(
    purchase: Schema<"Purchase">,
    claim: Schema<"Claim">,
    change?: Partial<Decision>,
  ): Promise<Schema<"Decision">> {
    return present(
      await this.api.POST("/v1/routing/programs/{program}/purchases/{id}/decisions", {
        params: this.write(purchase.id),
        body: this.decision(purchase, claim, change),
      }),
    );
  }

  /** A purchase whose claim is approved, so that its refund can be executed once the merchant has funded it. */
  async approvedPurchase(merchant?: Pick<Schema<"Merchant">, "id">) {
    const purchase = await this.paidPurchase(merchant);
    const claim = await this.claim(purchase);
    return { purchase, claim, decision: await this.decide(purchase, claim) };
  }
}
