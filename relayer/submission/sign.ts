import { keccak256, type LocalAccount } from "viem";
import type { Fees, RelayerContext } from "../context.ts";
import { RelayerError, RpcUnavailableError, SignerUnknownError } from "../errors.ts";
import { reach } from "../faults/fault-effects.ts";
import { writeWithBudget } from "../journal/gas-budget.ts";
import type {
  RelayOperationRecord,
  SignedTransaction,
  TransactionPurpose,
} from "../journal/relay-operation.ts";
import { timestamp } from "../journal/timestamp.ts";
import type { Turn } from "../keyed-mutex.ts";

/** An operation whose nonce is claimed, and its place in the line of its signer's broadcasts. */
export interface NonceClaim {
  operation: RelayOperationRecord;
  /** Resolves when the claim is durable; nothing may be sent before. */
  durable: Promise<void>;
  /** Comes when every lower nonce has had its turn to be sent. */
  turn: Turn;
}

/** The chain that a nonce is claimed on. */
interface SignedChain {
  chainId: number;
  /** The signer's next nonce on it. */
  chainNonce: number;
}

/**
 * W2: claims the signer's next nonce, signs, and begins to write both.
 *
 * Claims of one signer run one after the other and in the order of their nonces; writing them to the end and sending
 * them do not hold up the next claim.
 *
 * @param chain - read before the line is joined: nonces that the journal learns meanwhile only move its own count up.
 * @returns null when the signer's nonce on chain is above every nonce in the journal: other software uses its key.
 */
export async function claimNonce(
  context: RelayerContext,
  operation: RelayOperationRecord,
  { chainId, chainNonce }: SignedChain,
): Promise<NonceClaim | null> {
  const account = signerAccountOf(context, operation);
  const signedAt = await timestamp(context);
  // The budget has reserved the highest fee when the attempt was accepted.
  const maxFeePerGas = BigInt(operation.max_fee_per_gas);
  const { maxPriorityFeePerGas } = await feesOf(context);

  return context.locks.run(`claim:${operation.from}`, async () => {
    const ahead = context.journal.ahead();
    const last = await ahead.lastNonce(operation.from, operation.epoch);
    const expected = Math.max(last === undefined ? chainNonce : last + 1, operation.nonce_floor);
    if (chainNonce > expected) return null;

    await reach(context, "before_signed", operation);
    const transaction = await signTransaction(account, operation, {
      chainId,
      nonce: expected,
      purpose: "original",
      maxFeePerGas,
      maxPriorityFeePerGas: maxPriorityFeePerGas < maxFeePerGas ? maxPriorityFeePerGas : maxFeePerGas,
    });
    const signed: RelayOperationRecord = {
      ...operation,
      status: "signed",
      status_reason: null,
      error: null,
      nonce: expected,
      hash: transaction.hash,
      transactions: [transaction],
      signed_at: signedAt,
    };
    const durable = ahead.write({ operation: signed });
    const turn = context.locks.acquire(`broadcast:${operation.from}`);
    return { operation: signed, durable, turn };
  });
}

/** Stops an operation after foreign use of its signer: only a person can tell whether to continue. */
export function needsAttention(
  context: RelayerContext,
  operation: RelayOperationRecord,
  reason: "foreign_nonce" | "nonce_taken",
): Promise<RelayOperationRecord> {
  return writeWithBudget(context, operation, operation.program, () => ({
    ...operation,
    status: "needs_attention",
    status_reason: reason,
    // A superseded attempt is never resumed, so nothing is held back for it.
    reserved_wei: operation.superseded ? "0" : operation.reserved_wei,
  }));
}

/** Signs a call with this nonce and these fees: equal input, equal bytes. */
export async function signTransaction(
  account: LocalAccount,
  call: Pick<RelayOperationRecord, "to" | "calldata" | "gas_limit">,
  envelope: {
    chainId: number;
    nonce: number;
    purpose: TransactionPurpose;
    maxFeePerGas: bigint;
    maxPriorityFeePerGas: bigint;
  },
): Promise<SignedTransaction> {
  const { purpose, ...fields } = envelope;
  const raw = await account.signTransaction({
    type: "eip1559",
    to: call.to,
    data: call.calldata,
    value: 0n,
    gas: BigInt(call.gas_limit),
    ...fields,
  });
  return {
    hash: keccak256(raw),
    purpose,
    outcome: "signed",
    raw,
    max_fee_per_gas: fields.maxFeePerGas.toString(),
    max_priority_fee_per_gas: fields.maxPriorityFeePerGas.toString(),
  };
}

/** The wallet that signs for an operation. */
export function signerAccountOf(context: RelayerContext, operation: RelayOperationRecord): LocalAccount {
  const account = context.accounts.get(operation.from);
  if (!account) throw new SignerUnknownError(operation.from);
  return account;
}

/** Reads the fees of a transaction that is signed now. @throws RpcUnavailableError when the node does not say what it asks for. */
export async function feesOf(context: RelayerContext): Promise<Fees> {
  try {
    return await context.fees();
  } catch (error) {
    throw error instanceof RelayerError ? error : new RpcUnavailableError("The estimate of fees", error);
  }
}
