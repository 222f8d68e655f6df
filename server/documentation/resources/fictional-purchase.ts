import { getAddress } from "viem";
import { z } from "zod";
import { commitmentTypedData, hashCommitment, purchaseTypes } from "../../../protocol/messages/commitment.ts";
import { domainTypes, registrarDomain } from "../../../protocol/messages/domain.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { hashJson } from "../../../protocol/values/canonical-json.ts";
import { hashId } from "../../../protocol/values/id.ts";
import {
  amountSchema,
  checksumAddressSchema,
  hashSchema,
  jsonObjectSchema,
} from "../../schemas/primitives.ts";
import { viewTypedData } from "../../transactions/views.ts";

const unixSecondsText = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,11})$/)
  .meta({ description: "Unix seconds, as a decimal string." });

/** The members of an EIP-712 type, each in its place. */
function typeTable(fields: readonly { name: string; type: string }[]) {
  return z.tuple(
    tupleOf(
      fields.map((field) => z.strictObject({ name: z.literal(field.name), type: z.literal(field.type) })),
    ),
  );
}

/** The shape of the fictional commitment; a real one differs in its values and has a signature. */
const fictionalPurchaseSchema = z
  .strictObject({
    $schema: z.url(),
    fictional: z
      .literal(true)
      .meta({ description: "No program, merchant or purchase has these identifiers." }),
    signature: z
      .null()
      .meta({ description: "Unsigned: a real commitment carries the commitment signer's signature." }),
    program: z.string(),
    purchase: z.string(),
    terms: jsonObjectSchema.meta({
      description: "termsHash is the SHA-256 of the RFC 8785 form of this object.",
    }),
    typed_data: z.strictObject({
      domain: z.strictObject({
        name: z.literal("PurchaseRegistrar"),
        version: z.literal("1"),
        chainId: z.int().min(1),
        verifyingContract: checksumAddressSchema,
      }),
      types: z.strictObject({
        EIP712Domain: typeTable(domainTypes.EIP712Domain),
        Purchase: typeTable(purchaseTypes.Purchase),
      }),
      primaryType: z.literal("Purchase"),
      message: z.strictObject({
        program: hashSchema.meta({ description: "keccak256 of the program's id." }),
        purchaseRef: hashSchema.meta({ description: "keccak256 of the purchase's id." }),
        merchant: checksumAddressSchema,
        buyer: checksumAddressSchema,
        beneficiary: checksumAddressSchema,
        token: checksumAddressSchema,
        amount: amountSchema,
        termsHash: hashSchema,
        offerDeadline: unixSecondsText,
        payDeadline: unixSecondsText,
        claimDeadline: unixSecondsText,
        salt: hashSchema,
      }),
    }),
    commitment_hash: hashSchema.meta({
      description: "The EIP-712 digest of typed_data: what would be signed.",
    }),
  })
  .meta({
    title: "Fictional purchase commitment",
    description:
      "An unsigned purchase commitment (EIP-712) of a purchase that does not exist, to build and test against.",
  });

/** The wallet of the merchant that does not exist. */
const fictionalMerchant = getAddress("0x00000000000000000000000000000000000000b1");

/** The fictional commitment; its digest is a test vector. */
export function fictionalPurchase(docsUrl: string) {
  const terms = { sku: "course-42", title: "A fictional course" };
  const domain = registrarDomain(31337, getAddress("0x00000000000000000000000000000000000000aa"));
  const commitment = {
    program: hashId("prg_fiction"),
    purchaseRef: hashId("pur_fiction"),
    merchant: fictionalMerchant,
    buyer: getAddress("0x00000000000000000000000000000000000000b2"),
    beneficiary: getAddress("0x00000000000000000000000000000000000000b3"),
    token: getAddress("0x00000000000000000000000000000000000000c1"),
    amount: 25n * usdc,
    termsHash: hashJson(terms),
    offerDeadline: 1_767_312_000n,
    payDeadline: 1_767_830_400n,
    claimDeadline: 1_769_817_600n,
    salt: `0x${"5a".repeat(32)}`,
  } as const;
  return {
    $schema: `${docsUrl}/portal/schemas/purchase.json`,
    fictional: true,
    signature: null,
    program: "prg_fiction",
    purchase: "pur_fiction",
    terms,
    typed_data: viewTypedData(commitmentTypedData(domain, commitment)),
    commitment_hash: hashCommitment(domain, commitment),
  };
}

/** The schema of the fictional commitment as JSON Schema 2020-12. */
export function describeFictionalPurchase(docsUrl: string) {
  const schema = z.toJSONSchema(fictionalPurchaseSchema, {
    target: "draft-2020-12",
    unrepresentable: "any",
    reused: "inline",
  });
  return { ...schema, $id: `${docsUrl}/portal/schemas/purchase.json` };
}

function tupleOf<T>(items: readonly T[]): [T, ...T[]] {
  const [first, ...rest] = items;
  if (first === undefined) throw new Error("A tuple needs an item.");
  return [first, ...rest];
}
