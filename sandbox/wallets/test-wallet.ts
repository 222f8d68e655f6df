import { types } from "node:util";
import { type Address, BaseError, isAddress, type LocalAccount } from "viem";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import {
  approveCall,
  type Call,
  claimCall,
  expireCall,
  faucetCall,
  type ProgramTerms,
  payBatchCall,
  payCall,
  payWithPermitCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { type Claim, claimTypedData, hashClaim, hashReason } from "../../protocol/messages/claim.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import {
  permitTypedData,
  type SignedPermit,
  signedPermit,
  tokenDomain,
} from "../../protocol/messages/permit.ts";
import { hashId } from "../../protocol/values/id.ts";
import { AnvilSilentError } from "../chain/client/anvil-silent-error.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import type { SendingTerms } from "../chain/sending-terms.ts";
import type { components } from "../client/api-client.ts";
import {
  requireAmount,
  requireArgument,
  requireOptions,
  requireProgram,
  wrongArgument,
} from "../client/require-argument.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { readCommitment } from "./read-commitment.ts";
import { type SendRunner, type SentTransaction, Wallet } from "./wallet.ts";

type Merchant = components["schemas"]["Merchant"];
type Purchase = components["schemas"]["Purchase"];

/** The addresses of the contracts that a wallet calls. */
export interface WalletContracts {
  token: Address;
  registrar: Address;
  funding_source: Address;
}

/** Options of a payment. */
export interface PaymentOptions {
  /** Base units; by default the amount that is outstanding now. */
  amount?: bigint;
  /** Pays with a permit instead of an approval: true to sign one now, or a permit that was signed before. */
  permit?: boolean | SignedPermit;
}

/** A call's arguments by name; integers as decimal strings. */
type CallArguments = { [name: string]: unknown };

/** A mined contract call of a wallet. */
export interface SentCall extends SentTransaction {
  call: { to: Address; function: string; args: CallArguments };
}

/** The token's error for a transfer beyond the allowance. */
const allowanceExceeded = "ERC20: transfer amount exceeds allowance";

/** A test wallet that runs each action of the lifecycle in one call. It accepts merchants and purchases as the API returns them. */
export class TestWallet extends Wallet {
  readonly #contracts: WalletContracts;

  constructor(
    account: LocalAccount,
    client: ChainClient,
    contracts: WalletContracts,
    runSend?: SendRunner,
    terms?: SendingTerms,
  ) {
    super(account, client, runSend, terms);
    this.#contracts = contracts;
  }

  /**
   * Sends any contract call and waits until it is mined.
   *
   * @example await wallets.stranger.sendCall(payCall(registrar, id, 5n))
   */
  async sendCall(call: Pick<Call, "to" | "data" | "function"> & { args: CallArguments }): Promise<SentCall> {
    requireArgument("sendCall", "call", call);
    const { to, args } = call;
    return { ...(await this.send(call)), call: { to, function: call.function, args } };
  }

  /**
   * Enrolls the merchant on the chain and signs the enrollment message.
   *
   * @returns the body of `POST …/enrollment`, and the sent transaction.
   * @example const { body } = await wallets.merchant.enroll(merchant)
   */
  async enroll(merchant: Merchant) {
    requireArgument("enroll", "merchant", merchant);
    const sent = await this.sendCall(merchant.enrollment.transaction);
    const signature = await this.signMessage(merchant.enrollment.message);
    return { ...sent, body: { transaction_hash: sent.transaction_hash, signature } };
  }

  /**
   * Approves the funding source for the merchant's cap, or for another amount in base units.
   *
   * @example await wallets.merchant.fund(merchant)
   */
  async fund(merchant: Merchant, amount?: bigint): Promise<SentCall> {
    requireArgument("fund", "merchant", merchant);
    const { token, funding_source } = this.#contracts;
    const cap = amount ?? BigInt(merchant.funding.cap);
    requireAmount("fund", cap);
    return await this.sendCall(approveCall(token, funding_source, cap));
  }

  /**
   * Revokes the merchant's funding. Purchases that are already on the chain can still be refunded.
   *
   * @example await wallets.merchant.revokeFunding(merchant)
   */
  async revokeFunding(merchant: Pick<Merchant, "program" | "id">): Promise<SentCall> {
    requireArgument("revokeFunding", "addressedMerchant", merchant);
    const { program, id } = merchant;
    const { registrar } = this.#contracts;
    return await this.sendCall(revokeFundingCall(registrar, hashId(program), hashId(id)));
  }

  /**
   * Registers a purchase directly, as its merchant.
   *
   * @example const { transaction_hash } = await wallets.merchant.register(purchase)
   */
  async register(purchase: Purchase): Promise<SentCall> {
    requireArgument("register", "purchase", purchase);
    const { registrar } = this.#contracts;
    return await this.sendCall(
      registerCall(registrar, readCommitment(purchase), purchase.commitment.signature),
    );
  }

  /**
   * Approves the registrar contract for payments, by default for the outstanding amount.
   *
   * @param amount - in base units.
   * @example await wallets.buyer.approve(purchase, 10_000_000n)
   */
  async approve(purchase: Purchase, amount?: bigint): Promise<SentCall> {
    requireArgument("approve", "purchase", purchase);
    const { token, registrar } = this.#contracts;
    const allowed = amount ?? (await this.#outstanding(purchase));
    requireAmount("approve", allowed);
    return await this.sendCall(approveCall(token, registrar, allowed));
  }

  /**
   * Pays an amount in base units; by default the amount that is outstanding now, even if `purchase` was read before a payment.
   *
   * @param payment - the amount, or options. With `permit`, the wallet signs an EIP-2612 permit and needs no approval.
   * @example await wallets.buyer.pay(purchase, 10_000_000n)
   * @example await wallets.buyer.pay(purchase, { permit: true })
   */
  async pay(purchase: Purchase, payment: bigint | PaymentOptions = {}): Promise<SentCall> {
    requireArgument("pay", "purchase", purchase);
    const options = readPayment(payment);
    const { amount = await this.#owed("pay", purchase), permit = false } = options;
    const { registrar } = this.#contracts;
    const { hash } = purchase.commitment;
    if (permit === false) return await this.#pay(payCall(registrar, hash, amount), amount);
    const signed = permit === true ? await this.signPermit(purchase, amount) : permit;
    return await this.sendCall(payWithPermitCall(registrar, hash, amount, signed));
  }

  /**
   * Signs an EIP-2612 permit to pay an amount in base units until the pay deadline; by default the amount that is outstanding now. Sends
   * no transaction.
   *
   * @example const permit = await wallets.buyer.signPermit(purchase, 10_000_000n)
   */
  async signPermit(purchase: Purchase, amount?: bigint): Promise<SignedPermit> {
    requireArgument("signPermit", "purchase", purchase);
    const value = amount ?? (await this.#owed("signPermit", purchase));
    requireAmount("signPermit", value);
    const { token, registrar: spender } = this.#contracts;
    const { address: owner } = this;
    const nonce = await this.client
      .readContract({
        address: token,
        abi: testUsdcAbi,
        functionName: "nonces",
        args: [owner],
      })
      .catch(throwSilence);
    const domain = tokenDomain(purchase.commitment.typed_data.domain.chainId, token);
    const deadline = BigInt(purchase.deadlines.pay_deadline);
    const permit = permitTypedData(domain, { owner, spender, value, nonce, deadline });
    return signedPermit(deadline, await this.signTypedData(permit));
  }

  /** Returns the amount of a purchase that is outstanding on the chain now, in base units. */
  async #outstanding({ amount, commitment }: Purchase): Promise<bigint> {
    const { registrar: address } = this.#contracts;
    const figures = { address, abi: purchaseRegistrarAbi, functionName: "figures" } as const;
    const { paid } = await this.client
      .readContract({ ...figures, args: [commitment.hash] })
      .catch(throwSilence);
    return BigInt(amount) - paid;
  }

  /** Returns the outstanding amount of a purchase. @throws SandboxError argument_invalid when nothing is outstanding. */
  async #owed(method: string, purchase: Purchase): Promise<bigint> {
    const outstanding = await this.#outstanding(purchase);
    if (outstanding > 0n) return outstanding;
    throw new SandboxError(
      "argument_invalid",
      `${method} has nothing to pay: ${purchase.id} is paid in full. Pass an amount to send a payment anyway.`,
    );
  }

  /**
   * Sends a payment that uses an approval. If it reverts for lack of allowance, the error has the approved amount and the amount to
   * approve.
   */
  async #pay(call: Parameters<TestWallet["sendCall"]>[0], needed: bigint): Promise<SentCall> {
    const sent = await this.sendCall(call);
    if (!sent.revert?.includes(allowanceExceeded)) return sent;
    const { token, registrar } = this.#contracts;
    const approved = await this.client
      .readContract({
        address: token,
        abi: testUsdcAbi,
        functionName: "allowance",
        args: [this.address, registrar],
        blockNumber: sent.receipt.blockNumber,
      })
      .catch(() => null);
    // A restore or a reorg has removed the block meanwhile.
    if (approved === null) return sent;
    const revert = `${sent.revert}: ${approved} is approved, and the payment needs ${needed}. Call approve(purchase, ${needed}n) first.`;
    return { ...sent, revert };
  }

  /**
   * Pays several purchases in one transaction. If one payment fails, all of them fail. Amounts are in base units.
   *
   * @example await wallets.buyer.payBatch([{ purchase: first, amount: 1_000_000n }, { purchase: second, amount: 2_000_000n }])
   */
  async payBatch(payments: readonly { purchase: Purchase; amount: bigint }[]): Promise<SentCall> {
    const remedy = "Pass [{ purchase, amount }].";
    if (!Array.isArray(payments) || payments.length === 0)
      throw wrongArgument(
        "payBatch takes a list of payments, with one at least",
        payments,
        showValue(payments),
        remedy,
      );
    for (const payment of payments) {
      if (typeof payment !== "object" || payment === null)
        throw wrongArgument("payBatch takes payments", payment, showValue(payment), remedy);
      const { purchase, amount } = payment;
      requireArgument("payBatch", "purchase", purchase);
      requireAmount("payBatch", amount);
    }
    const ids = payments.map(({ purchase }) => purchase.commitment.hash);
    const amounts = payments.map(({ amount }) => amount);
    const total = amounts.reduce((sum, amount) => sum + amount, 0n);
    return await this.#pay(payBatchCall(this.#contracts.registrar, ids, amounts), total);
  }

  /**
   * Files a claim on the chain and signs it.
   *
   * @returns the body of `POST …/claims`, and the sent transaction.
   * @example const { body } = await wallets.beneficiary.claim(purchase, { amount: 5_000_000n, reason: "late" })
   */
  async claim(purchase: Purchase, terms: { amount: bigint; reason: string }) {
    requireArgument("claim", "purchase", purchase);
    requireOptions(
      "claim",
      { amount: "an amount", reason: "a reason" },
      terms,
      'Pass { amount: 10_000_000n, reason: "late" }.',
    );
    const { amount, reason } = terms;
    requireAmount("claim", amount);
    if (typeof reason !== "string")
      throw wrongArgument(
        "claim takes a reason as a text",
        reason,
        showValue(reason),
        'Pass one such as "late".',
      );
    const { chainId, verifyingContract } = purchase.commitment.typed_data.domain;
    const domain = registrarDomain(chainId, verifyingContract);
    const claim: Claim = {
      commitment: purchase.commitment.hash,
      beneficiary: purchase.beneficiary,
      requestedAmount: amount,
      reasonHash: hashReason(reason),
    };
    const sent = await this.sendCall(
      claimCall(this.#contracts.registrar, claim.commitment, hashClaim(domain, claim)),
    );
    const signature = await this.signTypedData(claimTypedData(domain, claim));
    const { transaction_hash } = sent;
    return { ...sent, body: { transaction_hash, requested_amount: amount.toString(), reason, signature } };
  }

  /**
   * Expires a purchase that is not fully paid after its pay deadline. Any account can do this.
   *
   * @example await wallets.stranger.expire(purchase)
   */
  async expire(purchase: Purchase): Promise<SentCall> {
    requireArgument("expire", "purchase", purchase);
    return await this.sendCall(expireCall(this.#contracts.registrar, purchase.commitment.hash));
  }

  /**
   * Withdraws an offer that is not fully paid, as the program's operator. The relayer uses the same key, and notices that its nonce was
   * used.
   *
   * @example await sandbox.openWallet(operatorKey).withdrawOffer(purchase)
   */
  async withdrawOffer(purchase: Purchase): Promise<SentCall> {
    requireArgument("withdrawOffer", "purchase", purchase);
    return await this.sendCall(withdrawOfferCall(this.#contracts.registrar, purchase.commitment.hash));
  }

  /**
   * Pauses or unpauses a program, as its admin.
   *
   * @example await wallets.deployer.setPaused("prg_demo", true)
   */
  async setPaused(program: string, paused: boolean): Promise<SentCall> {
    requireProgram("setPaused", program);
    if (typeof paused !== "boolean")
      throw wrongArgument(
        "setPaused takes true or false",
        paused,
        showValue(paused),
        "Pass one as the second argument.",
      );
    return await this.sendCall(setPausedCall(this.#contracts.registrar, hashId(program), paused));
  }

  /**
   * Replaces a program's operator, commitment signer and bounds, as its admin; amounts in base units.
   *
   * @example await wallets.deployer.setBounds("prg_demo", { ...program, bounds: { ...program.bounds, maxPurchase: 1n } })
   */
  async setBounds(program: string, terms: ProgramTerms): Promise<SentCall> {
    requireOptions(
      "setBounds",
      { operator: "operator", commitmentSigner: "commitmentSigner", bounds: "bounds" },
      terms,
      "Pass { operator, commitmentSigner, bounds }.",
    );
    requireProgram("setBounds", program);
    requireAddress("setBounds: operator", terms.operator);
    requireAddress("setBounds: commitmentSigner", terms.commitmentSigner);
    requireBounds(terms.bounds);
    return await this.sendCall(setBoundsCall(this.#contracts.registrar, hashId(program), terms));
  }

  /**
   * Mints test tokens to a wallet, by default to this one.
   *
   * @param amount - in base units.
   * @example await wallets.buyer.faucet(100_000_000n)
   */
  async faucet(amount: bigint, to: Address = this.address): Promise<SentCall> {
    requireAmount("faucet", amount);
    requireAddress("faucet", to);
    return await this.sendCall(faucetCall(this.#contracts.token, to, amount));
  }
}

const isPermit = z.object({ deadline: z.bigint(), v: z.number(), r: z.string(), s: z.string() });

/** Returns the options of a payment. An invalid value must not pay the whole amount by default. @throws SandboxError argument_invalid */
function readPayment(payment: unknown): PaymentOptions {
  const options: unknown = typeof payment === "bigint" ? { amount: payment } : payment;
  if (typeof options !== "object" || options === null || Array.isArray(options) || types.isPromise(options))
    throw wrongArgument(
      "pay takes an amount as bigint or { amount, permit }",
      payment,
      showValue(payment),
      "Pass 10_000_000n.",
    );
  const unknown = Object.keys(options).find((name) => name !== "amount" && name !== "permit");
  if (unknown !== undefined)
    throw new SandboxError("argument_invalid", `There is no option ${unknown}. Use amount or permit.`);
  const { amount, permit }: { amount?: unknown; permit?: unknown } = options;
  if (amount !== undefined) requireAmount("pay", amount);
  if (permit !== undefined && typeof permit !== "boolean" && !isPermit.safeParse(permit).success)
    throw wrongArgument(
      "pay takes a permit of signPermit() or true",
      permit,
      showValue(permit),
      "Pass { permit: true } to sign one now.",
    );
  return options;
}

/** @throws SandboxError argument_invalid for anything but the bounds of a program. */
function requireBounds(bounds: unknown): void {
  const needed = { maxPurchase: "maxPurchase", openBudget: "openBudget", validUntil: "validUntil" };
  requireOptions("setBounds: bounds", needed, bounds, "Pass { maxPurchase, openBudget, validUntil }.");
  const { maxPurchase, openBudget, validUntil } = Object(bounds);
  requireAmount("setBounds: maxPurchase", maxPurchase);
  requireAmount("setBounds: openBudget", openBudget);
  if (isTime.safeParse(validUntil).success) return;
  throw wrongArgument(
    "setBounds: validUntil takes a time in Unix seconds",
    validUntil,
    showValue(validUntil),
    "Pass a whole number from 0 to 2n ** 64n - 1n.",
  );
}

const isTime = z.union([
  z.int().min(0),
  z
    .bigint()
    .min(0n)
    .max(2n ** 64n - 1n),
]);

/** Throws the cause of a failed contract read, which viem wraps in its own errors. */
function throwSilence(error: unknown): never {
  const silence =
    error instanceof BaseError ? error.walk((cause) => cause instanceof AnvilSilentError) : null;
  throw silence ?? error;
}

/**
 * Refuses a value that is not an address.
 *
 * @param of - what has the address, as a method is called or as its argument is.
 * @throws SandboxError argument_invalid
 */
function requireAddress(of: string, address: unknown): void {
  if (typeof address === "string" && isAddress(address)) return;
  throw wrongArgument(
    `${of} takes an address`,
    address,
    typeof address === "object" ? "an object" : showValue(address),
    "Pass 0x and 40 hex digits, such as wallets.merchant.address.",
  );
}
