import { Mutex } from "async-mutex";
import {
  type Address,
  BaseError,
  formatEther,
  type Hex,
  hexToNumber,
  isHash,
  keccak256,
  type LocalAccount,
  size,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { messageOf } from "../../protocol/coded-error.ts";
import { AbortController } from "../../protocol/globals.ts";
import { isAutomining } from "../../relayer/node/automine.ts";
import { countMinable, toNode, traceRevert } from "../../relayer/node/node.ts";
import { bytesSchema } from "../../server/schemas/primitives.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import { describeRevert } from "../chain/describe-revert.ts";
import { ownTerms, type SendingTerms } from "../chain/sending-terms.ts";
import { requireArgument, wrongArgument } from "../client/require-argument.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { wait } from "../lib/time/timers.ts";
import { type CheckedTransaction, readTransaction, requireChain } from "./read-transaction.ts";

/** A transaction to send: the `transaction` of an API answer, or a part of one. */
export interface WalletTransaction {
  to: Address;
  /** By default `0x`: no calldata. */
  data?: Hex | undefined;
  /** Wei, as a bigint, a decimal string or hex; by default 0. */
  value?: bigint | string;
}

/** Typed data (EIP-712); integers may be decimal strings, as the API returns them. */
export interface WalletTypedData {
  /** Any of the members that a domain can have. */
  domain: {
    name?: string | undefined;
    version?: string | undefined;
    chainId?: number | bigint | undefined;
    verifyingContract?: Address | undefined;
    salt?: Hex | undefined;
  };
  types: { readonly [name: string]: readonly { readonly name: string; readonly type: string }[] };
  primaryType: string;
  message: object;
}

/** Gas units: enough for every call of the sandbox. It is fixed, so that equal transactions have equal bytes. */
export const walletGas = 1_000_000n;
/** The calldata that it is enough for, in bytes: a batch of 29 payments. Each further payment has 64 bytes, and costs up to 32,000 gas. */
const coveredBytes = 2_048;
const gasOfByte = 500n;
/** The most gas of a transaction (EIP-7825). */
const mostGas = 2n ** 24n;

function gasOf({ data }: CheckedTransaction): bigint {
  const gas = walletGas + gasOfByte * BigInt(Math.max(0, size(data) - coveredBytes));
  return gas < mostGas ? gas : mostGas;
}

/** The first pause between two looks for a transaction receipt, in milliseconds; that of the sending terms if it is longer than usual. */
const receiptPollMs = 4;
/** The time after which a transaction that should have been mined at once is looked for. */
const longestMiningMs = 100;
/** The time in which Anvil usually mines a transaction, after it has answered its sender: an earlier look would be in vain. */
const miningMs = 1;
/**
 * While Anvil mines a transaction, it briefly reports it neither as pending nor as mined. So a transaction counts as gone only if two
 * lookups miss it.
 */
const pollsPerLookup = 10;
/** Runs a function that sends a transaction, when no snapshot or restore is in progress. */
export type SendRunner = <T>(send: () => Promise<T>) => Promise<T>;

/** A transaction that the node has; with its transaction receipt if it was mined at once. */
interface Submitted {
  transaction_hash: Hex;
  mined: TransactionReceipt | null;
}

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
  readonly #terms: SendingTerms;
  readonly #sends = new Mutex();

  constructor(
    account: LocalAccount,
    client: ChainClient,
    runSend: SendRunner = (send) => send(),
    terms: SendingTerms = ownTerms,
  ) {
    this.address = account.address;
    this.#account = account;
    this.client = client;
    this.#runSend = runSend;
    this.#terms = terms;
  }

  /**
   * Signs a transaction locally, sends it and waits for its transaction receipt. A revert is returned in `revert` and not thrown.
   *
   * @throws SandboxError wallet_unfunded when the wallet has no ether; transaction_dropped when the node no longer has the transaction.
   * @example const { transaction_hash } = await wallets.buyer.send(purchaseAction.transaction)
   */
  async send(transaction: WalletTransaction): Promise<SentTransaction> {
    const { transaction_hash, mined } = await this.submitOrMine(transaction);
    if (mined === null) await wait(miningMs);
    const receipt = mined ?? (await this.#awaitMined(transaction_hash, true));
    const revert = receipt.status === "reverted" ? await this.#readRevert(transaction_hash) : null;
    return { transaction_hash, receipt, revert };
  }

  /**
   * Signs a transaction locally and sends it. Returns its hash without waiting until it is mined.
   *
   * @param gas - the gas limit; by default enough for every call of the sandbox's contracts.
   * @throws SandboxError wallet_unfunded when the wallet has no ether.
   *
   * @example const hash = await wallets.buyer.submit(transaction)
   */
  async submit(transaction: WalletTransaction, gas?: bigint): Promise<Hex> {
    const checked = readTransaction(transaction);
    return await this.#sendNext(async () => {
      const serializedTransaction = await this.#sign(checked, await this.#readNext(), gas);
      return await this.#orExplain(checked, this.client.sendRawTransaction({ serializedTransaction }));
    });
  }

  /**
   * Signs a transaction locally and sends it. The node responds with its transaction receipt if it mines at once; `mined` is null otherwise.
   *
   * @internal
   */
  async submitOrMine(transaction: WalletTransaction): Promise<Submitted> {
    const checked = readTransaction(transaction);
    return await this.#sendNext(async () => {
      const [next, minesNow] = await Promise.all([this.#readNext(), this.#minesNow(checked)]);
      const serializedTransaction = await this.#sign(checked, next);
      if (!minesNow) {
        const sending = this.client.sendRawTransaction({ serializedTransaction });
        return { transaction_hash: await this.#orExplain(checked, sending), mined: null };
      }
      const sending = this.#mine(serializedTransaction);
      return await this.#orExplain(checked, sending);
    });
  }

  /**
   * Sends a transaction to a node that mines at once. If the node has stopped mining meanwhile, or has dropped the transaction, its answer
   * comes much later or never.
   */
  async #mine(serializedTransaction: Hex): Promise<Submitted> {
    const transaction_hash = keccak256(serializedTransaction);
    const mining = this.client.sendRawTransactionSync({ serializedTransaction });
    mining.catch(() => undefined);
    const answered = new AbortController();
    const tooLate = wait(longestMiningMs, answered.signal).then(() => null);
    try {
      return { transaction_hash, mined: await Promise.race([mining, tooLate]) };
    } finally {
      answered.abort();
    }
  }

  /** One transaction at a time: two at once would take the same nonce. */
  async #sendNext<T>(send: () => Promise<T>): Promise<T> {
    return await this.#runSend(async () => await this.#sends.runExclusive(send));
  }

  async #readNext(): Promise<{ nonce: number; chainId: number }> {
    const [nonce, chainId] = await Promise.all([
      this.client.getTransactionCount({ address: this.address, blockTag: "pending" }),
      this.client.getChainId(),
    ]);
    return { nonce, chainId };
  }

  /** Returns whether the node would mine a transaction of a wallet at once: nothing else waits, and the block has room for it at its price. */
  async #minesNow(transaction: CheckedTransaction): Promise<boolean> {
    // Only the sandbox's own chain says so.
    if (this.#terms !== ownTerms) return false;
    const node = toNode(this.client.request);
    try {
      const { maxFeePerGas } = await this.#terms.fees();
      const [automine, waiting, { baseFeePerGas, gasLimit }] = await Promise.all([
        isAutomining(node),
        countMinable(node),
        this.client.getBlock({ blockTag: "pending" }),
      ]);
      return (
        automine && waiting === 0 && gasLimit >= gasOf(transaction) && (baseFeePerGas ?? 0n) <= maxFeePerGas
      );
    } catch {
      return false;
    }
  }

  async #sign(
    transaction: CheckedTransaction,
    { nonce, chainId }: { nonce: number; chainId: number },
    gas = gasOf(transaction),
  ): Promise<Hex> {
    requireChain(transaction, chainId);
    return await this.#account.signTransaction({
      type: "eip1559",
      chainId,
      nonce,
      to: transaction.to,
      data: transaction.data,
      value: transaction.value,
      gas,
      ...(await this.#terms.fees()),
    });
  }

  /** Explains why the node has refused a transaction, if the wallet has no ether for it. */
  async #orExplain<T>(transaction: CheckedTransaction, sending: Promise<T>): Promise<T> {
    try {
      return await sending;
    } catch (cause) {
      const { maxFeePerGas } = await this.#terms.fees();
      await this.#requireEther(transaction.value + gasOf(transaction) * maxFeePerGas, cause);
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
    const remedy =
      this.#terms === ownTerms
        ? "Send it ether, or set its balance with chain.client.setBalance({ address, value })."
        : "Send it test ether.";
    throw new SandboxError(
      "wallet_unfunded",
      `${this.address} has ${formatEther(balance)} ether, and its transaction may cost ${formatEther(needed)}. ${remedy}`,
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
    return await this.#awaitMined(hash, false);
  }

  /** @param isOwn - whether the wallet has just sent the transaction: it is dropped if one before it is gone. */
  async #awaitMined(hash: Hex, isOwn: boolean): Promise<TransactionReceipt> {
    let [unknown, stranded] = [0, 0];
    const { receiptPauseMs } = this.#terms;
    const pauseMs = receiptPauseMs > ownTerms.receiptPauseMs ? receiptPauseMs : receiptPollMs;
    for (let polls = 1; unknown < 2; polls += 1) {
      try {
        return await this.client.getTransactionReceipt({ hash });
      } catch (error) {
        if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
      }
      if (polls % pollsPerLookup === 0) {
        const place = await this.#placeOf(hash);
        unknown = place === "unknown" ? unknown + 1 : 0;
        stranded = isOwn && place === "stranded" ? stranded + 1 : 0;
        if (stranded >= 2) await this.#dropStranded(hash);
      }
      await wait(pauseMs);
    }
    throw new SandboxError(
      "transaction_dropped",
      `The node no longer has ${hash}, because it was replaced, or removed by ${this.#terms === ownTerms ? "a restore or a reorg" : "a reorg"}. Send it again.`,
    );
  }

  /**
   * Returns where the node has a transaction: nowhere, in its pool behind a nonce that none of the wallet's transactions has, or anywhere
   * else. Until the wallet's other transactions in the pool are mined, it is not known whether the nonce stays without one.
   */
  async #placeOf(hash: Hex): Promise<"unknown" | "stranded" | "known"> {
    const { address } = this;
    const [found, next, mined] = await Promise.all([
      this.client.request({ method: "eth_getTransactionByHash", params: [hash] }),
      this.client.getTransactionCount({ address, blockTag: "pending" }),
      this.client.getTransactionCount({ address, blockTag: "latest" }),
    ]);
    if (found === null) return "unknown";
    const isBehind = found.blockHash === null && hexToNumber(found.nonce) > next && next === mined;
    return isBehind ? "stranded" : "known";
  }

  /**
   * Takes a stranded transaction out of the pool, where a later transaction could have it mined. Anvil's method for one transaction leaves
   * those that cannot be mined, so this is the one for all of an account, which has no other one.
   *
   * @throws SandboxError transaction_dropped
   */
  async #dropStranded(hash: Hex): Promise<void> {
    await this.#sendNext(async () => {
      if ((await this.#placeOf(hash)) !== "stranded") return;
      await this.client.request<{ Method: string; Parameters: [Address]; ReturnType: unknown }>({
        method: "anvil_removePoolTransactions",
        params: [this.address],
      });
      throw new SandboxError(
        "transaction_dropped",
        `${hash} cannot be mined, because a reorg or a cheat removed a transaction of ${this.address} with a lower nonce. Send it again.`,
      );
    });
  }

  /**
   * Signs a text, or bytes, with `personal_sign` (EIP-191).
   *
   * @example const signature = await wallets.merchant.signMessage(merchant.enrollment.message)
   */
  async signMessage(message: string | { raw: Hex }): Promise<Hex> {
    if (typeof message !== "string" && !bytesSchema.safeParse(Object(message).raw).success)
      throw wrongArgument(
        "signMessage takes a text, or { raw: bytes }",
        message,
        showValue(message),
        'Pass the message of an action, or { raw: "0x1234" }.',
      );
    return await this.#account.signMessage({ message });
  }

  /**
   * Signs typed data (EIP-712) as the API returns it.
   *
   * @example const signature = await wallets.beneficiary.signTypedData(action.typed_data)
   */
  async signTypedData(typedData: WalletTypedData): Promise<Hex> {
    requireArgument("signTypedData", "typedData", typedData);
    const { domain, types, primaryType, message } = typedData;
    try {
      return await this.#account.signTypedData({ domain, types, primaryType, message: { ...message } });
    } catch (cause) {
      const reason = cause instanceof BaseError ? cause.shortMessage : messageOf(cause);
      throw new SandboxError("argument_invalid", `signTypedData takes valid typed data: ${reason}`, {
        cause,
      });
    }
  }
}

/**
 * Returns the account of a private key, which an error must not show.
 *
 * @param caller - the function that was given it, for the message.
 * @throws SandboxError argument_invalid
 */
export function accountOf(caller: string, privateKey: Hex): LocalAccount {
  if (!isHash(privateKey))
    throw new SandboxError(
      "argument_invalid",
      `${caller} takes a private key of 32 bytes. Pass 0x and 64 hex digits.`,
    );
  try {
    return privateKeyToAccount(privateKey);
  } catch {
    throw new SandboxError(
      "argument_invalid",
      `${caller} takes a private key from 1 to the order of secp256k1 less 1, as generatePrivateKey() of viem makes it.`,
    );
  }
}
