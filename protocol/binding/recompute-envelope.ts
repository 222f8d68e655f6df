import {
  type Address,
  type Hex,
  keccak256,
  recoverTransactionAddress,
  serializeTransaction,
  type Transaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from "viem";
import { Recent } from "../recent.ts";
import type { ObservedEnvelope } from "./observed-transaction.ts";

/** By transaction hash: a recovery takes a millisecond, and a transaction is looked at many times. */
const senders = new Recent<Promise<Address>>(1_000);

/**
 * Recomputes a transaction's hash and sender from its signed fields, so that neither depends on the node's answer.
 *
 * If the fields are not those of a signed transaction, hash and sender are null, and every check that compares them fails.
 *
 * @example await recomputeEnvelope(await client.getTransaction({ hash }))
 */
export async function recomputeEnvelope(transaction: Transaction): Promise<ObservedEnvelope> {
  const { to, value, blockHash, r, s } = transaction;
  const unsigned = BigInt(r) === 0n && BigInt(s) === 0n;
  const input: Hex = `0x${transaction.input.slice(2).toLowerCase()}`;
  return { ...(await recompute(transaction)), unsigned, to, input, value, blockHash };
}

async function recompute(transaction: Transaction): Promise<Pick<ObservedEnvelope, "hash" | "sender">> {
  try {
    const serializedTransaction = serialize(transaction);
    const hash = keccak256(serializedTransaction);
    const recover = async () => await recoverTransactionAddress({ serializedTransaction });
    return { hash, sender: await senders.get(hash, recover) };
  } catch {
    return { hash: null, sender: null };
  }
}

function serialize(transaction: Transaction): TransactionSerialized {
  const { r, s, v, yParity } = transaction;
  const signature =
    transaction.type === "legacy"
      ? { r, s, v }
      : { r, s, yParity: yParity ?? Number(v), v: BigInt(yParity ?? v) };
  return serializeTransaction(signedFields(transaction), signature);
}

function signedFields(transaction: Transaction): TransactionSerializable {
  const { nonce, gas, value, input: data } = transaction;
  const common = { nonce, gas, value, data, ...(transaction.to === null ? {} : { to: transaction.to }) };
  switch (transaction.type) {
    case "legacy":
      return {
        ...common,
        type: "legacy",
        gasPrice: transaction.gasPrice,
        ...(transaction.chainId === undefined ? {} : { chainId: transaction.chainId }),
      };
    case "eip2930":
      return {
        ...common,
        type: "eip2930",
        chainId: transaction.chainId,
        gasPrice: transaction.gasPrice,
        accessList: transaction.accessList,
      };
    case "eip1559":
      return {
        ...common,
        type: "eip1559",
        chainId: transaction.chainId,
        maxFeePerGas: transaction.maxFeePerGas,
        maxPriorityFeePerGas: transaction.maxPriorityFeePerGas,
        accessList: transaction.accessList,
      };
    case "eip7702":
      return {
        ...common,
        type: "eip7702",
        chainId: transaction.chainId,
        maxFeePerGas: transaction.maxFeePerGas,
        maxPriorityFeePerGas: transaction.maxPriorityFeePerGas,
        accessList: transaction.accessList,
        authorizationList: transaction.authorizationList,
      };
    default:
      throw new TypeError(`Transactions of type ${transaction.type} are not sent in this sandbox.`);
  }
}
