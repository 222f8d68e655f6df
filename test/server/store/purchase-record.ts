import { zeroAddress, zeroHash } from "viem";
import type { PurchaseRecord } from "../../../server/store/records.ts";

/** Returns a record of a purchase as the store keeps it: one that was just created, but for the fields given. */
export function purchaseRecord(
  fields: Pick<PurchaseRecord, "id" | "program" | "event_id"> & Partial<PurchaseRecord>,
): PurchaseRecord {
  return {
    merchant_id: "mer_1",
    status: "created",
    route: null,
    commitment_hash: zeroHash,
    commitment_signature: "0x",
    salt: zeroHash,
    terms: {},
    terms_hash: zeroHash,
    amount: "1",
    merchant: zeroAddress,
    buyer: zeroAddress,
    beneficiary: zeroAddress,
    offer_deadline: 1,
    pay_deadline: 2,
    claim_deadline: 3,
    reference: null,
    receipts: [],
    claim_id: null,
    decision_id: null,
    refund_id: null,
    created_at: 0,
    ...fields,
  };
}
