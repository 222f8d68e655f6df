import {
  keccak256,
  recoverTransactionAddress,
  serializeTransaction,
  type Transaction,
  type TransactionSerializable,
} from "viem";
import type { ObservedEnvelope } from "./observed-transaction.ts";

/**
 * Recomputes a transaction's hash and sender from its signed fields, so that a node's word is not needed for either.
 *
 * @throws when the fields do not make a signed transaction.
 * @example await recomputeEnvelope(await client.getTransaction({ hash }))
 */
export async function recomputeEnvelope(transaction: Transaction): Promise<ObservedEnvelope> {
  const { r, s, v, yParity } = transaction;
  const unsigned = signedFields(transaction);
  const signature =
    transaction.type === "legacy"
      ? { r, s, v }
      : { r, s, yParity: yParity ?? Number(v), v: BigInt(yParity ?? v) };
  const serializedTransaction = serializeTransaction(unsigned, signature);
  return {
    hash: keccak256(serializedTransaction),
    sender: await recoverTransactionAddress({ serializedTransaction }),
    type: transaction.type,
    to: transaction.to,
    input: transaction.input,
    value: transaction.value,
    nonce: transaction.nonce,
    blockHash: transaction.blockHash,
  };
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
