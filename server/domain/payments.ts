import type { Hex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type DecodedLog, decodeLog, isEvent } from "../../protocol/binding/match-log.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { type Call, decodeCall, payBatchCall, payCall } from "../../protocol/call.ts";
import type { ExpectedPayment } from "../binding/expectations.ts";
import type { Services } from "../services.ts";
import type { PurchaseRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";

/** What a payment transaction says it does, read from its calldata, to be encoded again and compared byte for byte. */
export interface ClaimedPayments {
  /** The canonical encoding of what the calldata says. */
  call: Call;
  /** Each paid purchase that is ours, in the order of the calldata. */
  payments: (ExpectedPayment & { stored: Stored<PurchaseRecord> })[];
}

const paid = { abi: purchaseRegistrarAbi, event: "PurchasePaid" };

/**
 * Reads which purchases a transaction claims to pay. Anything but a `pay` or `payBatch` becomes the payment of the
 * asked purchase that was expected, so that the check can show the difference.
 */
export async function readClaimedPayments(
  observed: ObservedTransaction,
  asked: Stored<PurchaseRecord>,
  outstanding: bigint,
  services: Services,
): Promise<ClaimedPayments> {
  const { store, deployment } = services;
  const registrar = deployment.registrar.address;
  const entries = calldataPayments(observed.envelope?.input ?? "0x");
  const batch = entries?.batch ?? false;
  const named = entries?.payments.some(({ id }) => id === asked.value.commitment_hash) ?? false;
  if (entries === null || !named) {
    const amount = entries?.payments[0]?.amount ?? outstanding;
    const call = payCall(registrar, asked.value.commitment_hash, amount);
    return { call, payments: [{ stored: asked, purchase: asked.value, amount }] };
  }
  const payments: ClaimedPayments["payments"] = [];
  for (const { id, amount } of entries.payments) {
    const [stored] = await store.list("purchases", { commitment_hash: id }, { limit: 1 });
    if (stored) payments.push({ stored, purchase: stored.value, amount });
  }
  const ids = entries.payments.map(({ id }) => id);
  const amounts = entries.payments.map(({ amount }) => amount);
  const call = batch
    ? payBatchCall(registrar, ids, amounts)
    : payCall(registrar, asked.value.commitment_hash, amounts[0] ?? 0n);
  return { call, payments };
}

/** The payment logs of the bound registrar in a transaction, strictly decoded. */
export function paymentLogs(observed: ObservedTransaction, services: Services): DecodedLog[] {
  const { address } = services.deployment.registrar;
  return (observed.receipt?.logs ?? [])
    .filter((log) => log.address.toLowerCase() === address.toLowerCase() && isEvent(log, paid))
    .map((log) => decodeLog(log, paid))
    .filter((log) => log !== null);
}

function calldataPayments(input: Hex): { batch: boolean; payments: { id: Hex; amount: bigint }[] } | null {
  const decoded = decodeCall(purchaseRegistrarAbi, input);
  if (decoded?.function === "pay") {
    const { id, amount } = decoded.args;
    return { batch: false, payments: [{ id: hashArgument(id), amount: amountArgument(amount) }] };
  }
  if (decoded?.function !== "payBatch") return null;
  const { ids, amounts } = decoded.args;
  if (!Array.isArray(ids) || !Array.isArray(amounts) || ids.length !== amounts.length) return null;
  const payments = ids.map((id, index) => ({ id: hashArgument(id), amount: amountArgument(amounts[index]) }));
  return { batch: true, payments };
}

function hashArgument(value: unknown): Hex {
  const text = String(value);
  if (!text.startsWith("0x")) throw new TypeError("A bytes32 argument must decode to hex.");
  return `0x${text.slice(2)}`;
}

function amountArgument(value: unknown): bigint {
  return BigInt(String(value));
}
