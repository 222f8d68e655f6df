import { z } from "zod";
import {
  amountSchema,
  checksumAddressSchema,
  exampleChainId,
  exampleRpcUrl,
  hashSchema,
  programIdSchema,
  unixTimeSchema,
} from "./primitives.ts";

/** The chain that the service is bound to. */
export const chainSchema = z
  .object({
    chain_id: z.int(),
    /** Distinguishes chains with the same id. */
    epoch: hashSchema,
    rpc_url: z.url(),
    network: z
      .object({
        name: z.string(),
        block_explorer_url: z.url().nullable(),
        native_currency: z.object({ name: z.string(), symbol: z.string(), decimals: z.int() }),
      })
      // Absent for the chain of the sandbox, and for a network that is not known.
      .optional(),
  })
  .meta({
    id: "Chain",
    example: { chain_id: exampleChainId, epoch: `0x${"5c".repeat(32)}`, rpc_url: exampleRpcUrl },
  });

/** The contracts that the service is bound to. */
export const contractsSchema = z
  .object({
    token: z.object({
      address: checksumAddressSchema,
      symbol: z.string().meta({ example: "USDC" }),
      decimals: z.int().meta({ example: 6 }),
      code_hash: hashSchema,
    }),
    registrar: z.object({
      address: checksumAddressSchema,
      code_hash: hashSchema,
      eip712_domain: z.object({
        name: z.literal("PurchaseRegistrar"),
        version: z.literal("1"),
        chainId: z.int().meta({ example: exampleChainId }),
        verifyingContract: checksumAddressSchema,
      }),
    }),
    funding_source: z.object({ address: checksumAddressSchema, code_hash: hashSchema }),
  })
  .meta({ id: "Contracts" });

/** A public Ed25519 key. */
export const publicKeySchema = z
  .object({
    key_id: z
      .string()
      .meta({ description: "RFC 7638 thumbprint.", example: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" }),
    public_key: z
      .string()
      .meta({ description: "32 bytes, base64url.", example: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }),
  })
  .meta({ id: "PublicKey" });

/** The limits of the service. */
export const limitsSchema = z.record(z.string(), z.int()).meta({ id: "Limits" });

/** A program as it is answered. */
export const programSchema = z
  .object({
    id: programIdSchema,
    name: z.string().meta({ example: "Demo store" }),
    chain: chainSchema,
    contracts: contractsSchema,
    keys: z.object({
      commitment_signer: checksumAddressSchema,
      registrar: z.object({
        address: checksumAddressSchema,
        bounds: z.object({
          max_purchase: amountSchema,
          open_budget: amountSchema,
          valid_until: unixTimeSchema,
        }),
      }),
      reviewer: publicKeySchema,
      notifications: publicKeySchema,
    }),
    limits: limitsSchema,
    receiver: z.object({ url: z.url() }),
  })
  .meta({ id: "Program" });
