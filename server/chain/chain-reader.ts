import type { Address, Hex } from "viem";
import type { WalletCode } from "../../protocol/binding/expected-transaction.ts";
import type { DecodedLog } from "../../protocol/binding/match-log.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { CodedError } from "../../protocol/coded-error.ts";
import type { Json } from "../../protocol/values/json.ts";

/** One block, as the point that reads are made at. */
export interface BlockPoint {
  number: number;
  hash: Hex;
  /** Unix seconds. */
  timestamp: number;
}

/** A purchase as the chain holds it, with its payments, all read at one block. */
export interface ChainPurchase {
  asOf: BlockPoint;
  /** The time that the next block would have, in Unix seconds. */
  nextTime: number;
  /** False while the commitment is not on chain; the figures are then zero. */
  exists: boolean;
  /** The reason why the contract takes no more payments of it, though some is outstanding; null while it does. */
  closed: "withdrawn" | "expired" | null;
  /** The buyer's allowance to the registrar contract, in base units. */
  approved: bigint;
  paid: bigint;
  refunded: bigint;
  /** The claim hash and the decision hash that it carries, or null. */
  claimHash: Hex | null;
  decisionHash: Hex | null;
  /** The claim hash that it carried when its refund was collected, or null. */
  collectedClaimHash: Hex | null;
  /** Every payment on the canonical chain, oldest first. */
  payments: DecodedLog[];
}

/** A merchant's funding as the chain holds it, read at one block; amounts in base units. */
export interface ChainFunding {
  asOf: BlockPoint;
  /** Digest of the authorization that was enrolled, or null. */
  authorization: Hex | null;
  collected: bigint;
  /** Unix seconds; the last second at which it covers a refund, 0 while nothing is enrolled. */
  validUntil: number;
  /** Unix seconds; null while it is not revoked. */
  revokedAt: number | null;
  /** The wallet's allowance to the funding source. */
  allowance: bigint;
  balance: bigint;
}

/** The funding that covers a purchase on chain, of the enrollment that its wallet had when the purchase came onto the chain. */
export interface ChainCover extends ChainFunding {
  merchantRef: Hex;
  cap: bigint;
}

/** A program as the chain holds it, and what its operator may still offer; amounts in base units. */
export interface ChainProgram {
  operator: Address;
  commitmentSigner: Address;
  paused: boolean;
  maxPurchase: bigint;
  openBudget: bigint;
  openOffers: bigint;
  validUntil: number;
}

/** A call that a wallet could send. */
export interface ChainCall {
  from: Address;
  to: Address;
  data: Hex;
}

/** The revert of a call, with the contract's error; the name is null if the contract gave none. */
export interface ChainRevert {
  name: string | null;
  /** The error's arguments by name; integers as decimal strings. */
  args: { [name: string]: Json };
}

/** The revert of a mined transaction. */
export interface MinedRevert {
  /** The node's message. */
  message: string;
  /** The contract's error with its bytes; null where it gave none. */
  revert: { name: string; args: { [name: string]: Json }; data: Hex } | null;
}

/**
 * The verdict on a wallet's signature: valid, not the account's own, or refused by the contract at the wallet's
 * address.
 */
export type SignatureVerdict = "valid" | "invalid" | "refused_by_contract";

/** The parts of a step's transaction that are known before it is read. They only spare messages: what is read decides. */
export interface ExpectedParts {
  /** The recipient, whose code is checked. */
  to: Address;
  /** The wallet, whose code is checked. */
  wallet: Address;
  /** The block; by default the newest one. */
  block?: { number: number | bigint; hash: Hex };
}

/** The reads of the chain. Nothing here sends a transaction. */
export interface ChainReads {
  /** The newest block. */
  head(): Promise<BlockPoint>;
  /**
   * Runs reads at the newest block, so that what they answer is of one block, and runs them again when that block has left the chain
   * afterwards.
   *
   * @throws ChainUnavailableError when the chain reorganized under each try.
   */
  atOneHead<T>(read: (at: BlockPoint) => Promise<T>): Promise<T>;
  /** The chain's id and epoch as they are now. */
  identity(): Promise<{ chainId: number; epoch: Hex }>;
  /** Everything about one transaction hash, recomputed where a node's word is not needed. */
  observe(hash: Hex, expected?: ExpectedParts): Promise<ObservedTransaction>;
  /**
   * Returns the revert of a mined transaction, found by running it again where it was mined; without the error when the
   * node cannot.
   */
  revertOf(hash: Hex): Promise<MinedRevert>;
  /** Returns the kind of code at a wallet's address after a block. */
  walletCode(wallet: Address, block: { hash: Hex }): Promise<WalletCode>;
  /** A purchase at the newest block, or at the one that other reads were made at. */
  purchase(query: { id: Hex; buyer: Address }, at?: BlockPoint): Promise<ChainPurchase>;
  /**
   * A purchase and the funding of its merchant, both at the newest block.
   *
   * @param find - says which purchase, or throws; it is called again with what the chain has then if it reorganizes meanwhile.
   */
  purchaseUnder(
    funding: { program: Hex; merchantRef: Hex },
    find: (funding: ChainFunding) => Promise<{ id: Hex; buyer: Address }>,
  ): Promise<ChainPurchase>;
  /** The claim hash and the decision hash that a purchase carries on chain, or null. */
  claimOf(id: Hex): Promise<Pick<ChainPurchase, "claimHash" | "decisionHash">>;
  /** By which route a purchase came on chain, or null while it is not there; at the newest block, or at the one of other reads. */
  route(id: Hex, at?: BlockPoint): Promise<"registrar_offer" | "merchant_direct" | null>;
  funding(query: { program: Hex; merchantRef: Hex; wallet: Address }): Promise<ChainFunding>;
  /**
   * Returns what remains under the active fundings of a wallet in all programs at a block, in base units, but for one: the unrevoked ones
   * that a refund can be collected under at a time.
   */
  otherFundings(query: {
    program: Hex;
    merchantRef: Hex;
    wallet: Address;
    at: BlockPoint;
    time: number;
  }): Promise<bigint>;
  /** The funding that covers a purchase, or null while the purchase is not on chain. */
  cover(id: Hex): Promise<ChainCover | null>;
  program(program: Hex): Promise<ChainProgram>;
  /** The merchantRef under which a wallet has a funding in a program that is not revoked, or null. */
  enrolledAs(query: { program: Hex; wallet: Address }): Promise<Hex | null>;
  /** The time that the next block would have, in Unix seconds. */
  nextTime(): Promise<number>;
  /**
   * Tries calls one after the other on the state of a block, at a time, and changes nothing; null when all of them succeed,
   * otherwise how the first one reverts that does.
   */
  simulate(calls: readonly ChainCall[], at: BlockPoint, time: number): Promise<ChainRevert | null>;
  /** Returns the number of permits of a wallet that the token has taken, in the block with this hash. */
  permitNonce(wallet: Address, blockHash: Hex): Promise<bigint>;
  /** Verifies a wallet's signature of a digest: ECDSA (low s) for an account without code, ERC-1271 otherwise. */
  verifySignature(query: { wallet: Address; digest: Hex; signature: Hex }): Promise<SignatureVerdict>;
}

/** The chain, as the API reads it. */
export interface ChainReader extends ChainReads {
  /** Notes the block that is probably the newest: reads are then made at it in the message that asks for the newest, which decides. */
  expect(head: BlockPoint): void;
  /** The block that is probably the newest. */
  expected(): BlockPoint | undefined;
  /**
   * Opens a reader for one request: it reads at the block that is the newest at its first read, and asks each question once. Nothing that
   * it has read is known to the next request.
   *
   * @param confirm - resolves with the first read, or rejects: nothing is read then.
   */
  forRequest(confirm: () => Promise<void>): ChainReader;
  /** Has the reader of a request read at the newest block from now on: the request has changed the chain, or has waited for it. */
  renew(): void;
  /**
   * Checks that the block of a request's reads is still on the chain, when the request has read everything.
   *
   * @throws ChainMovedError when it is not: what was read counts for nothing.
   */
  settle(): Promise<void>;
}

/** The node could not be reached or failed; whether anything happened is not known. */
export class ChainUnavailableError extends CodedError<"rpc_unavailable"> {
  override readonly name = "ChainUnavailableError";

  constructor(message: string, options?: ErrorOptions) {
    super("rpc_unavailable", message, options);
  }
}

/** The chain has moved away from the block that a request has read at. The request starts over. */
export class ChainMovedError extends ChainUnavailableError {
  constructor(message = "The chain reorganized while it was read; ask again.") {
    super(message);
  }
}

/** The node contradicts itself about one block, as Anvil does from the execution of the next one until that is on the chain. The request starts over. */
export class ContradictionError extends ChainMovedError {}

/** The node serves another chain than the one that the service was started on. */
export class ChainMismatchError extends CodedError<"chain_mismatch"> {
  override readonly name = "ChainMismatchError";

  constructor(message: string, options?: ErrorOptions) {
    super("chain_mismatch", message, options);
  }
}
