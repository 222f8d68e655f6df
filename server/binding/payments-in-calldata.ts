import type { Address, Hex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type DecodedLog, decodeLog, isEvent } from "../../protocol/binding/match-log.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { type Call, payBatchCall, payCall, payWithPermitCall } from "../../protocol/call.ts";
import type { SignedPermit } from "../../protocol/messages/permit.ts";
import { readCall } from "../../protocol/read-call.ts";
import { differingBytes } from "../../protocol/values/differing-bytes.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { Services } from "../http/services.ts";
import { findByCommitment } from "../store/records/find.ts";
import type { PurchaseRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";
import type { ExpectedPayment } from "./expectations.ts";

/** A payment of a transaction's calldata, with the purchase of ours that it is for. */
export interface ClaimedPayment extends ExpectedPayment {
  stored: Stored<PurchaseRecord> | null;
}

/** The payments that a transaction's calldata claims, to be encoded again and compared byte for byte. */
export interface ClaimedPayments {
  /** The canonical encoding of what the calldata says. */
  call: Call;
  /** The permit that it pays under, or null. */
  permit: SignedPermit | null;
  /** Whether it may pay under a permit: also when it has paid by a call that is not in its calldata, which is not known then. */
  mayPermit: boolean;
  /** Each payment in the order of the calldata, those included that are not for a purchase of ours. */
  payments: ClaimedPayment[];
}

const paid = { abi: purchaseRegistrarAbi, event: "PurchasePaid" };

/**
 * Reads which purchases a transaction claims to pay. Anything but a `pay`, `payWithPermit` or `payBatch` that names the
 * asked purchase becomes the payment of it that was expected, so that the check can show the difference: in a `payBatch`, in the place of the
 * id that is closest to it.
 *
 * @param at - the asked purchase on chain, and the block that every other one is read at.
 */
export async function readClaimedPayments(
  observed: ObservedTransaction,
  asked: Stored<PurchaseRecord>,
  at: ChainPurchase,
  services: Services,
): Promise<ClaimedPayments> {
  const registrar = services.deployment.registrar.address;
  const entries = calldataPayments(observed.envelope?.input ?? "0x");
  const own = asked.value.commitment_hash;
  const permit = entries?.permit ?? null;
  const paying = paymentLogs(observed, services).find(({ fields }) => fields["id"] === own);
  const outstanding = BigInt(asked.value.amount) - at.paid;
  if (entries?.batch === true && paying === undefined) nameIn(entries.payments, own, outstanding);
  if (entries === null || !entries.payments.some(({ id }) => id === own)) {
    const amount = amountArgument(paying?.fields["amount"] ?? entries?.payments[0]?.amount ?? outstanding);
    const purchase = at.exists ? asked.value : null;
    return {
      call: paymentCall(registrar, own, amount, permit),
      permit,
      mayPermit: permit !== null || (entries === null && paying !== undefined),
      payments: [{ id: own, amount, purchase, stored: asked }],
    };
  }
  const payments: ClaimedPayment[] = [];
  for (const { id, amount } of entries.payments) {
    const stored = id === own ? asked : await findBound(id, asked.value, services);
    const exists =
      stored !== null &&
      (id === own
        ? at.exists
        : (await services.chain.purchase({ id, buyer: stored.value.buyer }, at.asOf)).exists);
    payments.push({ id, amount, stored, purchase: exists ? stored.value : null });
  }
  const ids = payments.map(({ id }) => id);
  const amounts = payments.map(({ amount }) => amount);
  const call = entries.batch
    ? payBatchCall(registrar, ids, amounts)
    : paymentCall(registrar, own, amounts[0] ?? 0n, permit);
  return { call, permit, mayPermit: permit !== null, payments };
}

/** Gives the payment whose id is the closest to that of a purchase the right one; of none, makes the one that is outstanding. */
function nameIn(payments: CalldataPayments["payments"], own: Hex, outstanding: bigint): void {
  const [closest] = payments.toSorted(
    (left, right) => differingBytes(left.id, own).length - differingBytes(right.id, own).length,
  );
  if (closest === undefined) payments.push({ id: own, amount: outstanding });
  else closest.id = own;
}

/** The payments of a `payBatch`, in order; none for any other calldata. */
export function batchedPayments(input: Hex): readonly { id: Hex; amount: bigint }[] {
  const entries = calldataPayments(input);
  return entries?.batch === true ? entries.payments : [];
}

/** The buyer's payment of one purchase: `payWithPermit` with a permit, `pay` without. */
export function paymentCall(registrar: Address, id: Hex, amount: bigint, permit: SignedPermit | null): Call {
  return permit === null ? payCall(registrar, id, amount) : payWithPermitCall(registrar, id, amount, permit);
}

/** The purchase behind an on-chain id, if it is of the asked one's program and buyer: one credential, one wallet. */
async function findBound(
  id: Hex,
  asked: PurchaseRecord,
  { store }: Services,
): Promise<Stored<PurchaseRecord> | null> {
  const found = await findByCommitment(store, id);
  const bound = found?.value.program === asked.program && found.value.buyer === asked.buyer;
  return found !== undefined && bound ? found : null;
}

/** The payment logs of the bound registrar in a transaction, strictly decoded. */
export function paymentLogs(observed: ObservedTransaction, services: Services): DecodedLog[] {
  const { address } = services.deployment.registrar;
  return (observed.receipt?.logs ?? [])
    .filter((log) => sameAddress(log.address, address) && isEvent(log, paid))
    .map((log) => decodeLog(log, paid))
    .filter((log) => log !== null);
}

/** The payments that calldata names. */
interface CalldataPayments {
  batch: boolean;
  permit: SignedPermit | null;
  payments: { id: Hex; amount: bigint }[];
}

function calldataPayments(input: Hex): CalldataPayments | null {
  const decoded = readCall(purchaseRegistrarAbi, input);
  if (decoded?.function === "pay" || decoded?.function === "payWithPermit") {
    const { id, amount, ...rest } = decoded.args;
    const permit = decoded.function === "pay" ? null : permitArguments(rest);
    return {
      batch: false,
      permit,
      payments: [{ id: hashArgument(id), amount: amountArgument(amount) }],
    };
  }
  if (decoded?.function !== "payBatch") return null;
  const { ids, amounts } = decoded.args;
  if (!Array.isArray(ids) || !Array.isArray(amounts)) return null;
  // The contract refuses lists of different lengths: what they have in common is the expected call, which shows the difference.
  const count = Math.min(ids.length, amounts.length);
  const payments = ids
    .slice(0, count)
    .map((id, index) => ({ id: hashArgument(id), amount: amountArgument(amounts[index]) }));
  return { batch: true, permit: null, payments };
}

/** The chain has judged the permit: what it says is encoded again as it is. */
function permitArguments({ deadline, v, r, s }: Call["args"]): SignedPermit {
  return { deadline: amountArgument(deadline), v: Number(v), r: hashArgument(r), s: hashArgument(s) };
}

function hashArgument(value: unknown): Hex {
  const text = String(value);
  if (!text.startsWith("0x")) throw new TypeError("A bytes32 argument must decode to hex.");
  return `0x${text.slice(2)}`;
}

function amountArgument(value: unknown): bigint {
  return BigInt(String(value));
}
