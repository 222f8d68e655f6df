import { getAddress } from "viem";
import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { MerchantRecord, PurchaseRecord, SubmissionRecord } from "../store/records.ts";

/** A merchant as its wallet's owner needs it to decide. */
export function viewMerchantSubject(
  { id, name, wallet, funding }: MerchantRecord,
  figures: { needed: bigint; allowance: bigint; shortfall: bigint },
) {
  const { cap, valid_until } = funding;
  return {
    type: "merchant",
    id,
    name,
    wallet: getAddress(wallet),
    funding_cap: cap,
    funding_valid_until: valid_until,
    funding_needed: figures.needed.toString(),
    funding_allowance: figures.allowance.toString(),
    funding_shortfall: figures.shortfall.toString(),
  } satisfies Json;
}

/** A purchase as its buyer and its beneficiary need it to decide: who is paid, for what, how much, and until when. */
export function viewPurchaseSubject(
  purchase: PurchaseRecord,
  { name }: Pick<MerchantRecord, "name">,
  { paid, refunded, payments }: Pick<ChainPurchase, "paid" | "refunded" | "payments">,
) {
  const { id, merchant, buyer, beneficiary, terms, amount, pay_deadline, claim_deadline } = purchase;
  return {
    type: "purchase",
    id,
    merchant_name: name,
    merchant: getAddress(merchant),
    buyer: getAddress(buyer),
    beneficiary: getAddress(beneficiary),
    terms,
    amount,
    paid: paid.toString(),
    outstanding: (BigInt(amount) - paid).toString(),
    refunded: refunded.toString(),
    payment_hashes: [...new Set(payments.map(({ log }) => log.transactionHash))],
    pay_deadline,
    claim_deadline,
  } satisfies Json;
}

/** A submission of a wallet as it is answered. */
export function viewSubmission(submission: SubmissionRecord) {
  const { action, transaction_hash, signature, amount = null, reason = null, submitted_at } = submission;
  return {
    action,
    transaction_hash,
    signature,
    amount,
    reason,
    submitted_at: toTimestamp(submitted_at),
  } satisfies Json;
}
