import { z } from "zod";
import { bytesSchema, checksumAddressSchema, jsonObjectSchema } from "./primitives.ts";

/** What a wallet has to send. */
export const transactionRequestSchema = z
  .object({
    chain_id: z.int().meta({ example: 31337 }),
    from: checksumAddressSchema,
    to: checksumAddressSchema,
    data: bytesSchema,
    value: z.literal("0"),
    function: z.string().meta({ example: "pay" }),
    args: jsonObjectSchema.meta({ description: "The arguments by name; integers as decimal strings." }),
  })
  .meta({ id: "TransactionRequest", description: "A transaction that a wallet has to send, exactly so." });

const typeMembersSchema = z.array(
  z.object({ name: z.string().meta({ example: "name" }), type: z.string().meta({ example: "string" }) }),
);

/** Typed data to sign (EIP-712), complete for `eth_signTypedData_v4`, with integers as decimal strings. */
export const typedDataSchema = z
  .object({
    domain: z.object({
      name: z.enum(["PurchaseRegistrar", "USDC"]),
      version: z.enum(["1", "2"]),
      chainId: z.int().meta({ example: 31337 }),
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
