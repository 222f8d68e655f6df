import {
  type Address,
  formatEther,
  type Hex,
  type LocalAccount,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import { toNode, traceRevert } from "../../../relayer/node/node.ts";
import type { ChainClient } from "../../chain/client/chain-client.ts";
import { describeRevert } from "../../chain/describe-revert.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { wait } from "../../lib/time/wait.ts";
import { requireArgument } from "../client/require-argument.ts";

/** A transaction to send: the `transaction` of an API answer, or a part of one. */
export interface WalletTransaction {
  to: Address;
  data: Hex;
  /** Wei, as a decimal string; by default 0. */
  value?: string;
}

/** Typed data (EIP-712); integers may be decimal strings, as the API returns them. */
export interface WalletTypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: Address };
  types: { readonly [name: string]: readonly { readonly name: string; readonly type: string }[] };
  primaryType: string;
  message: object;
}

/** Enough gas for every call of the sandbox. It is fixed, so that equal transactions have equal bytes. */
const gas = 1_000_000n;
const receiptPollMs = 4;
/** The time in which Anvil usually mines a transaction, after it has answered its sender: an earlier look would be in vain. */
const miningMs = 1;
/**
 * While Anvil mines a transaction, it briefly reports it neither as pending nor as mined. So a transaction counts as gone only if two
 * lookups miss it.
 */
const looksBetween = 10;
const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** Runs a function that sends a transaction, when no snapshot or restore is in progress. */
export type SendRunner = (send: () => Promise<Hex>) => Promise<Hex>;

/** A mined transaction of a wallet. */
export interface SentTransaction {
  transaction_hash: Hex;
  /** Its `status` is `reverted` when the contract refused the call. */
  receipt: TransactionReceipt;
  /**
   * The contract's error, with its arguments, as in `DeadlinePassed(timestamp 1767225600, deadline 1767225599)`; null when it did not
   * revert.
   */
  revert: string | null;
}

/** A wallet that signs locally with its key and sends raw transactions. */
export class Wallet {
  readonly address: Address;
  readonly #account: LocalAccount;
  /** Reads the chain that the wallet sends to. */
  readonly client: ChainClient;
  readonly #runSend: SendRunner;

  constructor(account: LocalAccount, client: ChainClient, runSend: SendRunner = (send) => send()) {
    this.address = account.address;
    this.#account = account;
    this.client = client;
    this.#runSend = runSend;
  }

  /**
   * Signs a transaction locally, sends it and waits for its transaction receipt. A revert is returned in `revert` and not thrown.
   *
   * @throws SandboxError wallet_unfunded when the wallet has no ether; transaction_dropped when the node no longer has the transaction.
   * @example const { transaction_hash } = await wallets.buyer.send(purchaseAction.transaction)
   */
  async send(transaction: WalletTransaction): Promise<SentTransaction> {
    const transaction_hash = await this.submit(transaction);
    await wait(miningMs);
    const receipt = await this.receipt(transaction_hash);
    const revert = receipt.status === "reverted" ? await this.#readRevert(transaction_hash) : null;
    return { transaction_hash, receipt, revert };
  }

  /**
   * Signs a transaction locally and sends it. Returns its hash without waiting until it is mined.
   *
   * @throws SandboxError wallet_unfunded when the wallet has no ether.
   *
   * @example const hash = await wallets.buyer.submit(transaction)
   */
  async submit(transaction: WalletTransaction): Promise<Hex> {
    requireArgument("send", "transaction", transaction);
    return await this.#runSend(async () => await this.#send(transaction));
  }

  async #send(transaction: WalletTransaction): Promise<Hex> {
    const [nonce, chainId] = await Promise.all([
      this.client.getTransactionCount({ address: this.address, blockTag: "pending" }),
      this.client.getChainId(),
    ]);
    const serializedTransaction = await this.#account.signTransaction({
      type: "eip1559",
      chainId,
      nonce,
      to: transaction.to,
      data: transaction.data,
      value: BigInt(transaction.value ?? "0"),
      gas,
      ...fees,
    });
    try {
      return await this.client.sendRawTransaction({ serializedTransaction });
    } catch (cause) {
      await this.#requireEther(BigInt(transaction.value ?? "0") + gas * fees.maxFeePerGas, cause);
      throw cause;
    }
  }

  async #readRevert(hash: Hex): Promise<string> {
    const { data, message } = await traceRevert(toNode(this.client.request), hash);
    return describeRevert(data) ?? message;
  }

  async #requireEther(needed: bigint, cause: unknown): Promise<void> {
    const balance = await this.client.getBalance({ address: this.address }).catch(() => needed);
    if (balance >= needed) return;
    throw new SandboxError(
      "wallet_unfunded",
      `${this.address} has ${formatEther(balance)} ether, and its transaction may cost ${formatEther(needed)}. ` +
        "Use one of sandbox.wallets, or give it ether with chain.client.setBalance({ address, value }).",
      { cause },
    );
  }

  /**
   * Waits for the transaction receipt of exactly this hash.
   *
   * @throws SandboxError transaction_dropped when the node no longer has the transaction, because it was replaced, or removed by a restore or a
   * reorg.
   * @example const { status } = await wallets.buyer.receipt(hash)
   */
  async receipt(hash: Hex): Promise<TransactionReceipt> {
    for (let looks = 1, unknown = 0; unknown < 2; looks += 1) {
      try {
        return await this.client.getTransactionReceipt({ hash });
      } catch (error) {
        if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
      }
      if (looks % looksBetween === 0) unknown = (await this.#isKnown(hash)) ? 0 : unknown + 1;
      await wait(receiptPollMs);
    }
    throw new SandboxError(
      "transaction_dropped",
      `The node no longer has ${hash}, because it was replaced, or removed by a restore or a reorg. Send it again.`,
    );
  }

  async #isKnown(hash: Hex): Promise<boolean> {
    const found = await this.client.request({ method: "eth_getTransactionByHash", params: [hash] });
    return found !== null;
  }

  /**
   * Signs a text with `personal_sign` (EIP-191).
   *
   * @example const signature = await wallets.merchant.signMessage(merchant.enrollment.message)
   */
  async signMessage(message: string): Promise<Hex> {
    return await this.#account.signMessage({ message });
  }

  /**
   * Signs typed data (EIP-712) as the API returns it.
   *
   * @example const signature = await wallets.beneficiary.signTypedData(action.typed_data)
   */
  async signTypedData(typedData: WalletTypedData): Promise<Hex> {
    return await this.#account.signTypedData({
      domain: typedData.domain,
      types: typedData.types,
      primaryType: typedData.primaryType,
      message: { ...typedData.message },
    });
  }
}
