import type { z } from "zod";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import { copyFields } from "../http/answers/copy-fields.ts";
import { merchantSubjectSchema, purchaseSubjectSchema, submissionSchema } from "../schemas/wallets.ts";
import type { PurchaseParts } from "../store/records/find.ts";
import type { MerchantRecord, PurchaseRecord, SubmissionRecord } from "../store/records.ts";

/** A merchant as its wallet's owner needs it to decide. */
export function viewMerchantSubject(
  merchant: MerchantRecord,
  figures: { needed: bigint; allowance: bigint; shortfall: bigint },
): z.output<typeof merchantSubjectSchema> {
  return {
    ...copyFields(merchantSubjectSchema, merchant),
    type: "merchant",
    funding_cap: merchant.funding.cap,
    funding_valid_until: merchant.funding.valid_until,
    funding_needed: figures.needed.toString(),
    funding_allowance: figures.allowance.toString(),
    funding_shortfall: figures.shortfall.toString(),
  };
}

/** A purchase as its buyer and its beneficiary need it to decide: who is paid, for what, how much, until when, and what came of a claim. */
export function viewPurchaseSubject(
  purchase: PurchaseRecord,
  { name }: Pick<MerchantRecord, "name">,
  { claim, decision, refund }: PurchaseParts,
  { paid, refunded, payments }: Pick<ChainPurchase, "paid" | "refunded" | "payments">,
): z.output<typeof purchaseSubjectSchema> {
  return {
    ...copyFields(purchaseSubjectSchema, purchase),
    type: "purchase",
    merchant_name: name,
    paid: paid.toString(),
    outstanding: (BigInt(purchase.amount) - paid).toString(),
    requested_amount: claim?.requested_amount ?? "0",
    claim_reason: claim?.reason ?? null,
    award: decision?.statement.award ?? "0",
    refunded: refunded.toString(),
    payment_hashes: [...new Set(payments.map(({ log }) => log.transactionHash))],
    refund_hash: refund?.transaction_hash ?? null,
  };
}

/** A submission of a wallet as it is answered. */
export function viewSubmission(submission: SubmissionRecord): z.output<typeof submissionSchema> {
  return { ...copyFields(submissionSchema, submission), submitted_at: toTimestamp(submission.submitted_at) };
}
