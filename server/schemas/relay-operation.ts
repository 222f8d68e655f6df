import { z } from "zod";
import {
  relayOperationErrorCodes,
  relayOperationStatuses,
  statusReasons,
  transactionOutcomes,
  transactionPurposes,
} from "../../relayer/journal/relay-operation.ts";
import {
  bytesSchema,
  checksumAddressSchema,
  hashSchema,
  idSchema,
  jsonObjectSchema,
  openEnum,
  programIdSchema,
  timestampSchema,
  weiSchema,
} from "./primitives.ts";

/** A relayed operation as it is answered. */
export const relayOperationSchema = z
  .object({
    operation_id: idSchema("op"),
    program: programIdSchema,
    kind: z.enum(["offer", "collect_refund"]),
    subject: z.object({ type: z.enum(["purchase", "refund"]), id: z.string() }),
    sequence: z.int(),
    attempt: z.int().meta({
      description:
        "Counts from 1. The next attempt begins when the transaction before reverted or was withdrawn, or its nonce was taken and it was abandoned.",
      example: 1,
    }),
    status: z.enum(relayOperationStatuses),
    status_reason: openEnum(statusReasons).nullable().meta({ example: null }),
    nonce: z.int().nullable().meta({ example: 0 }),
    from: checksumAddressSchema,
    to: checksumAddressSchema,
    calldata: bytesSchema,
    decoded: z.object({ function: z.string(), args: jsonObjectSchema }),
    hash: hashSchema.nullable(),
    hashes: z.array(
      z.object({
        hash: hashSchema,
        attempt: z.int().meta({ example: 1 }),
        nonce: z.int().meta({ example: 0 }),
        purpose: z.enum(transactionPurposes),
        outcome: openEnum(transactionOutcomes),
      }),
    ),
    gas_limit: z.string().meta({ description: "Gas units, as a decimal string.", example: "231000" }),
    gas_used: z
      .string()
      .nullable()
      .meta({ description: "Gas units, as a decimal string.", example: "231000" }),
    max_fee_per_gas: weiSchema,
    cost_wei: weiSchema.nullable(),
    reserved_wei: weiSchema,
    block_number: z.int().nullable().meta({ example: 42 }),
    block_hash: hashSchema.nullable(),
    confirmations: z.int(),
    reorg_count: z.int().meta({ example: 0 }),
    error: z
      .object({
        code: openEnum(relayOperationErrorCodes),
        message: z.string(),
        rpc_code: z.int().nullable(),
        revert: z.object({ name: z.string(), args: jsonObjectSchema, data: bytesSchema }).nullable(),
      })
      .nullable()
      .meta({ example: null }),
    created_at: timestampSchema,
    signed_at: timestampSchema.nullable(),
    broadcast_at: timestampSchema.nullable(),
    mined_at: timestampSchema.nullable(),
    confirmed_at: timestampSchema.nullable(),
  })
  .meta({ id: "Operation", description: "One operation of the relayer." });

/** The gas budget of a program; limit = available + reserved + spent. */
export const gasBudgetSchema = z
  .object({ limit_wei: weiSchema, reserved_wei: weiSchema, spent_wei: weiSchema, available_wei: weiSchema })
  .meta({ id: "GasBudget" });
