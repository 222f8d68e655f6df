import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { JsonRpcProvider, keccak256, Wallet } from "ethers";

// Written from the documents that the service publishes, with HTTP and ethers alone: nothing of the project's own code is used.

/** The members of `sandbox.json` that a client of a service needs. */
export interface PublishedService {
  urls: { api: string; rpc: string };
  chain: { chain_id: number };
  contracts: { token: string; registrar: string; funding_source: string };
  accounts: readonly { program: string; key: string }[];
  wallets: { readonly [name: string]: { private_key: string } };
  reviewers: readonly { program: string; key_id: string; private_key: string }[];
}

/** How a purchase gets on the chain. */
export type Route = "registrar_offer" | "merchant_direct";

/** A purchase that went from its creation to its refund. */
export interface EndedPurchase {
  id: string;
  commitment: string;
  route: Route;
  amount: bigint;
  award: bigint;
  decision: string;
}

interface Action {
  name: string;
  allowed: boolean;
  why_not: string | null;
  transaction: { to: string; data: string } | null;
  sign: { message?: string; typed_data?: TypedData } | null;
}

interface TypedData {
  domain: object;
  types: Record<string, { name: string; type: string }[]>;
  message: Record<string, unknown>;
}

/** The shortest pause before a request is sent again, in milliseconds. */
const pauseMs = 250;
const gasLimit = 600_000n;
/** The number of a wallet's newest transactions that a reorg may remove: all of a purchase. */
const mostSentAgain = 6;

/** A wallet whose transactions are signed once, and sent again as they are whenever the chain does not have them. */
class ProbeWallet {
  readonly address: string;
  readonly #wallet: Wallet;
  readonly #chain: JsonRpcProvider;
  #sent: readonly { hash: string; raw: string }[] = [];
  #nonce: number | undefined;

  constructor(privateKey: string, chain: JsonRpcProvider) {
    this.#wallet = new Wallet(privateKey, chain);
    this.#chain = chain;
    this.address = this.#wallet.address;
  }

  /** Signs and sends a transaction, and returns its hash once it is in a block. */
  async send({ to, data }: { to: string; data: string }): Promise<string> {
    this.#nonce ??= await this.#count();
    const { chainId } = await this.#chain.getNetwork();
    const fees = await insist(async () => await this.#chain.getFeeData());
    const raw = await this.#wallet.signTransaction({
      type: 2,
      to,
      data,
      chainId,
      gasLimit,
      nonce: this.#nonce,
      maxFeePerGas: (fees.maxFeePerGas ?? 0n) * 2n,
      maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
    });
    this.#nonce += 1;
    const hash = await this.#broadcast(raw);
    this.#sent = [...this.#sent, { hash, raw }].slice(-mostSentAgain);
    for (;;) {
      const receipt = await this.#receiptOf(hash);
      if (receipt?.status === 1) return hash;
      if (receipt !== null) throw new Error(`The transaction ${hash} reverted.`);
      await pause(pauseMs);
      await this.sendAgain();
    }
  }

  /** Sends again what the chain does not have, as after a reorg. */
  async sendAgain(): Promise<void> {
    const sent = this.#nonce ?? 0;
    if (sent === 0 || (await this.#count()) === sent) return;
    for (const { hash, raw } of this.#sent)
      if ((await this.#receiptOf(hash)) === null) await this.#broadcast(raw);
  }

  async signMessage(message: string): Promise<string> {
    return await this.#wallet.signMessage(message);
  }

  async signTypedData({ domain, types, message }: TypedData): Promise<string> {
    const { EIP712Domain: _, ...others } = types;
    return await this.#wallet.signTypedData(domain, others, message);
  }

  async #count(): Promise<number> {
    return await insist(async () => await this.#chain.getTransactionCount(this.address, "latest"));
  }

  async #receiptOf(hash: string) {
    return await insist(async () => await this.#chain.getTransactionReceipt(hash));
  }

  async #broadcast(raw: string): Promise<string> {
    await insist(async () => {
      try {
        await this.#chain.send("eth_sendRawTransaction", [raw]);
      } catch (error) {
        // The node may have it, in its pool or in a block.
        if (!/already|nonce/i.test(String(error))) throw error;
      }
    });
    return keccak256(raw);
  }
}

/** Asks a node that may not answer, until it does. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1)
    try {
      return await ask();
    } catch (error) {
      if (tries === 20) throw error;
      await pause(pauseMs);
    }
}

/** A client that takes purchases from the merchant's enrollment to the refund. */
export class EthersClient {
  readonly #service: () => PublishedService;
  readonly #chain: JsonRpcProvider;
  readonly merchant: ProbeWallet;
  readonly buyer: ProbeWallet;
  readonly beneficiary: ProbeWallet;
  /** The number of writes that are done. */
  writes = 0;
  #credential = "";
  #merchant = { id: "", wallet_url: "" };

  /** @param service - returns what `sandbox.json` says now. */
  constructor(
    service: () => PublishedService,
    keys: { merchant: string; buyer: string; beneficiary: string },
  ) {
    this.#service = service;
    const { urls, chain } = service();
    this.#chain = new JsonRpcProvider(urls.rpc, chain.chain_id, { staticNetwork: true, batchMaxCount: 1 });
    this.merchant = new ProbeWallet(keys.merchant, this.#chain);
    this.buyer = new ProbeWallet(keys.buyer, this.#chain);
    this.beneficiary = new ProbeWallet(keys.beneficiary, this.#chain);
  }

  /** A client with the wallets of a service that has some. */
  static of(service: PublishedService): EthersClient {
    const keyOf = (name: string) => service.wallets[name]?.private_key ?? "";
    const keys = { merchant: keyOf("merchant"), buyer: keyOf("buyer"), beneficiary: keyOf("beneficiary") };
    return new EthersClient(() => service, keys);
  }

  /** Uses a credential; a newer one of the account would revoke it. */
  use(credential: string): void {
    this.#credential = credential;
  }

  /** Issues a credential. */
  async requestAccess(): Promise<string> {
    const { urls, accounts } = this.#service();
    const { credential } = await this.#post<{ credential: string }>(
      `${urls.api}/v1/routing/access`,
      {},
      { Authorization: `Bearer ${accounts[0]?.key}` },
    );
    return credential;
  }

  /** Creates and enrolls the merchant, and approves the funding source. */
  async enroll(fundingCap: bigint): Promise<void> {
    const body = { wallet: this.merchant.address, name: "Corner Books", funding_cap: String(fundingCap) };
    this.#merchant = await this.#write("/merchants", body);
    const { transaction, sign: asked } = await this.#allowed(this.#merchant.wallet_url, "enroll");
    await this.#write(`/merchants/${this.#merchant.id}/enrollment`, {
      transaction_hash: await this.merchant.send(transaction),
      signature: await this.merchant.signMessage(asked?.message ?? ""),
    });
    await this.#act(this.merchant, this.#merchant.wallet_url, "fund");
  }

  /** Takes a purchase by a route to its refund. */
  async refundOne(route: Route, amount: bigint, award: bigint): Promise<EndedPurchase> {
    const purchase = await this.#write<{ id: string; wallet_url: string; commitment: { hash: string } }>(
      "/purchases",
      {
        merchant_id: this.#merchant.id,
        buyer: this.buyer.address,
        beneficiary: this.beneficiary.address,
        amount: String(amount),
        terms: { sku: "course-42" },
      },
    );
    const { id, wallet_url, commitment } = purchase;
    const path = `/purchases/${id}`;
    if (route === "registrar_offer")
      await this.#write(`${path}/activate`, { commitment_hash: commitment.hash });
    else {
      const transaction_hash = await this.#act(this.merchant, wallet_url, "register");
      await this.#write(`${path}/registration`, { transaction_hash });
    }
    await this.#act(this.buyer, wallet_url, "approve");
    await this.#write(`${path}/reconcile`, {
      transaction_hashes: [await this.#act(this.buyer, wallet_url, "pay")],
    });
    const claim = await this.#claim(path, wallet_url, award);
    const decision = await this.#write<{ id: string }>(
      `${path}/decisions`,
      await this.#decide(id, commitment.hash, claim, award),
    );
    const ended = { id, commitment: commitment.hash, route, amount, award, decision: decision.id };
    await this.refund(ended);
    return ended;
  }

  /** Has a refund collected, also again after a reorg has removed it. */
  async refund({ id, decision }: EndedPurchase): Promise<void> {
    await this.#write(`/purchases/${id}/refunds`, { decision_id: decision });
  }

  /** Reads a purchase. */
  async read<T>(path: string): Promise<T> {
    return await this.#get(`${this.#program}${path}`);
  }

  close(): void {
    this.#chain.destroy();
  }

  async #claim(path: string, walletUrl: string, amount: bigint) {
    const reason = "arrived broken";
    const query = `?amount=${amount}&reason=${encodeURIComponent(reason)}`;
    const { transaction, sign: asked } = await this.#allowed(walletUrl + query, "claim");
    if (asked?.typed_data === undefined) throw new Error("A claim is signed.");
    return await this.#write<{ id: string; claim_hash: string }>(`${path}/claims`, {
      transaction_hash: await this.beneficiary.send(transaction),
      requested_amount: String(amount),
      reason,
      signature: await this.beneficiary.signTypedData(asked.typed_data),
    });
  }

  /** The reviewer's decision: Ed25519 over its RFC 8785 form, for strings and one integer. */
  async #decide(
    purchase: string,
    commitment: string,
    claim: { id: string; claim_hash: string },
    award: bigint,
  ) {
    const { accounts, reviewers, chain, urls } = this.#service();
    const program = accounts[0]?.program ?? "";
    const reviewer = reviewers.find((one) => one.program === program);
    if (reviewer === undefined) throw new Error("There is no reviewer.");
    const { now } = await this.#get<{ now: string }>(`${urls.api}/v1/routing/capabilities`);
    const body = {
      claim_id: claim.id,
      outcome: "approved",
      award: String(award),
      decided_at: now,
      reviewer_key_id: reviewer.key_id,
    };
    const signed: Record<string, string | number> = {
      ...body,
      chain_id: chain.chain_id,
      claim_hash: claim.claim_hash,
      commitment_hash: commitment,
      program,
      purchase,
    };
    const text = `routing-sandbox/decision/v1\n${JSON.stringify(signed, Object.keys(signed).sort())}`;
    const der = Buffer.from(`302e020100300506032b657004220420${reviewer.private_key}`, "hex");
    const approval = sign(
      null,
      Buffer.from(text),
      createPrivateKey({ key: der, format: "der", type: "pkcs8" }),
    );
    return { ...body, approval: approval.toString("base64url") };
  }

  /** Has a wallet send the transaction of an action, and returns its hash. */
  async #act(wallet: ProbeWallet, walletUrl: string, name: string): Promise<string> {
    return await wallet.send((await this.#allowed(walletUrl, name)).transaction);
  }

  /** Waits until an action is allowed, such as a payment once the node has the approval. */
  async #allowed(walletUrl: string, name: string) {
    for (;;) {
      const { actions } = await this.#get<{ actions: Action[] }>(walletUrl);
      const action = actions.find((one) => one.name === name);
      if (action?.allowed && action.transaction !== null)
        return { ...action, transaction: action.transaction };
      await pause(pauseMs);
      await this.#sendAgain();
    }
  }

  async #sendAgain(): Promise<void> {
    for (const wallet of [this.merchant, this.buyer, this.beneficiary]) await wallet.sendAgain();
  }

  get #program(): string {
    const { urls, accounts } = this.#service();
    return `${urls.api}/v1/routing/programs/${accounts[0]?.program}`;
  }

  async #get<T>(url: string): Promise<T> {
    return await this.#ask(
      async () =>
        await fetch(url, {
          headers: { Authorization: `Bearer ${this.#credential}`, Accept: "application/json" },
        }),
    );
  }

  async #write<T>(path: string, body: object): Promise<T> {
    const headers = { Authorization: `Bearer ${this.#credential}`, "Idempotency-Key": randomUUID() };
    const answer = await this.#post<T>(`${this.#program}${path}`, body, headers);
    this.writes += 1;
    return answer;
  }

  async #post<T>(url: string, body: object, headers: Record<string, string>): Promise<T> {
    const request = {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    };
    return await this.#ask(async () => await fetch(url, request));
  }

  /** Sends the identical request until its result is final: after a lost connection, a 202, and a refusal that can be repeated. */
  async #ask<T>(send: () => Promise<Response>): Promise<T> {
    for (;;) {
      const answer = await send()
        .then(async (response) => ({
          status: response.status,
          body: JSON.parse(await response.text()),
          retryAfter: Number(response.headers.get("retry-after")),
        }))
        .catch(() => null);
      if (answer?.status === 200 || answer?.status === 201) return answer.body;
      await pause(Math.max(pauseMs, (answer?.retryAfter ?? 0) * 1_000));
      if (answer === null || answer.status === 202) continue;
      const { code, detail, retryable } = answer.body;
      if (retryable !== true) throw new Error(`${answer.status} ${code}: ${detail}`);
      await this.#sendAgain();
    }
  }
}
