import { zeroAddress, zeroHash } from "viem";
import type { RelayOperationRecord } from "../../relayer/relayer.ts";

/** A record of a relay operation as the journal keeps it: an offer that no transaction was signed for, but for the fields given. */
export function relayOperation(
  fields: Pick<RelayOperationRecord, "operation_id" | "program" | "sequence" | "status"> &
    Partial<RelayOperationRecord>,
): RelayOperationRecord {
  return {
    epoch: zeroHash,
    business_key: zeroHash,
    kind: "offer",
    subject: { type: "purchase", id: "pur_1" },
    attempt: 1,
    status_reason: null,
    nonce: null,
    nonce_floor: 0,
    from: zeroAddress,
    to: zeroAddress,
    calldata: "0x",
    decoded: { function: "offer", args: {} },
    hash: null,
    transactions: [],
    superseded: false,
    gas_limit: "1",
    gas_used: null,
    max_fee_per_gas: "1",
    cost_wei: null,
    reserved_wei: "1",
    block_number: null,
    block_hash: null,
    confirmations: 0,
    reorg_count: 0,
    error: null,
    created_at: "2026-01-01T00:00:00Z",
    signed_at: null,
    broadcast_at: null,
    mined_at: null,
    confirmed_at: null,
    ...fields,
  };
}
