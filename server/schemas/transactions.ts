import { z } from "zod";
import {
  relayOperationErrorCodes,
  relayOperationStatuses,
  statusReasons,
  transactionOutcomes,
  transactionPurposes,
} from "../../relayer/journal/relay-operation.ts";
import { pageQuerySchema } from "./pagination.ts";
import {
  bytesSchema,
  checksumAddressSchema,
  exampleChainId,
  hashSchema,
  idSchema,
  jsonObjectSchema,
  openEnum,
  programIdSchema,
  timestampSchema,
  weiSchema,
} from "./primitives.ts";

/** A transaction for a wallet to send. */
export const transactionRequestSchema = z
  .object({
    chain_id: z.int().meta({ example: exampleChainId }),
    from: checksumAddressSchema,
    to: checksumAddressSchema,
    data: bytesSchema,
    value: z.literal("0"),
    function: z.string().meta({ example: "pay" }),
    args: jsonObjectSchema.meta({ description: "The arguments by name; integers as decimal strings." }),
  })
  .meta({ id: "TransactionRequest", description: "A transaction that a wallet sends without changes." });

/** A transaction for a wallet to send. */
export type TransactionRequest = z.output<typeof transactionRequestSchema>;

const typeMembersSchema = z.array(
  z.object({ name: z.string().meta({ example: "name" }), type: z.string().meta({ example: "string" }) }),
);

/** Typed data to sign (EIP-712), complete for `eth_signTypedData_v4`, with integers as decimal strings. */
export const typedDataSchema = z
  .object({
    domain: z.object({
      name: z.enum(["PurchaseRegistrar", "USDC"]),
      version: z.enum(["1", "2"]),
      chainId: z.int().meta({ example: exampleChainId }),
      verifyingContract: checksumAddressSchema,
    }),
    types: z
      .object({ EIP712Domain: typeMembersSchema })
      .catchall(typeMembersSchema)
      .meta({ description: "The type of the domain, the primary type and those it uses, by name." }),
    primaryType: z.string().meta({ example: "Purchase" }),
    message: jsonObjectSchema,
  })
  .meta({
    id: "TypedData",
    description: "EIP-712 typed data, complete for eth_signTypedData_v4; integers as decimal strings.",
  });

/** Typed data to sign. */
export type TypedData = z.output<typeof typedDataSchema>;

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
        "Counts from 1. The next attempt starts after the previous one reverted, was canceled (failed precondition) or was abandoned (taken nonce).",
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
  .meta({ id: "Operation", description: "A relay operation." });

/** The gas budget of a program; limit = available + reserved + spent. */
const gasBudgetSchema = z
  .object({ limit_wei: weiSchema, reserved_wei: weiSchema, spent_wei: weiSchema, available_wei: weiSchema })
  .meta({ id: "GasBudget" });

/** Query of `GET …/transactions`. */
export const listTransactionsQuery = pageQuerySchema.extend({
  status: z.enum(relayOperationStatuses).optional(),
});

/** Answer of `GET …/transactions`. */
export const transactionsSchema = z
  .object({
    data: z.array(relayOperationSchema),
    gas_budget: gasBudgetSchema,
    next_cursor: z.string().nullable().meta({ description: "Null on the last page.", example: null }),
  })
  .meta({ id: "Transactions" });
