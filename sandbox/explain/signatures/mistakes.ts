import { z } from "zod";
import type { Json } from "../../../protocol/values/json.ts";
import { jsonSchema } from "../../../server/schemas/primitives.ts";
import type { MemberDifference } from "../explanation.ts";

/** The mistakes that are recognized in typed data, in decisions and in their signatures, by name. */
export const signatureMistakes = {
  wrong_chain_id: "the domain has another chain's id",
  wrong_verifying_contract: "the domain names another contract",
  wrong_domain_version: "the domain has another version",
  wrong_domain_name: "the domain has another name",
  missing_domain_type:
    "`types` has no `EIP712Domain`, so a wallet signs an empty domain; a library such as viem adds the type, so its signature can be valid",
  wrong_types: "a type has other members, or another order of them",
  unknown_primary_type: "no step accepts this type",
  changed_field: "a field, named by `field`, differs",
  wrong_claim_hash: "the decision's claim hash is not that of the filed claim",
  personal_sign: "`personal_sign` (EIP-191) signed a text instead of the typed data",
  eth_sign: "`eth_sign` or `personal_sign` signed the digest, with EIP-191's prefix",
  unprefixed_hash:
    "another hash than the digest was signed, such as the struct hash without `0x1901` and the domain",
  typed_data_for_enrollment:
    "the merchant's wallet signed the funding authorization instead of the enrollment text",
  compact_signature: "64 bytes (EIP-2098) instead of 65",
  high_s: "an s in the upper half of the curve's order (EIP-2)",
  wrong_v: "the last byte, v, is not 27 or 28, or is the other one of them",
  wrong_order: "the parts of the signature are not in the order r, s, v",
  other_message: "another object was signed, such as another purchase",
  wrong_signer: "another account signed, or other data",
  wrong_reviewer: "the decision does not name the designated reviewer's key",
  wrong_key: "another Ed25519 key signed, such as a rotated one",
  wrong_encoding: "the signature is not base64url without padding",
  ecdsa_signature: "a wallet signed the decision (ECDSA) instead of Ed25519",
  hex_text_signed: "the decision bytes, or their hash, were signed as hex or base64 text",
  prehashed: "a hash of the decision bytes was signed, or Ed25519ph used",
  missing_domain_line: "the JSON was signed without the line `routing-sandbox/decision/v1`",
  not_canonical_json: "the signed JSON is not in RFC 8785 form, or has other line ends around it",
} as const;

/** The name of a mistake. */
export type SignatureMistakeName = keyof typeof signatureMistakes;

const names = z.enum(Object.keys(signatureMistakes) as [SignatureMistakeName, ...SignatureMistakeName[]]);

/** The schema of a mistake, with both sides. */
export const signatureMistakeSchema = z
  .object({
    name: names,
    /** The member that is wrong, such as `domain.chainId` or `message.amount`; `signature` for the signature. */
    field: z.string(),
    expected: jsonSchema,
    actual: jsonSchema,
    /** The mistake in one sentence. */
    detail: z.string(),
  })
  .meta({ id: "SignatureMistake" });

/** A mistake in what is signed or in the signature, with both sides. */
export type SignatureMistake = z.infer<typeof signatureMistakeSchema>;

/** Makes a mistake of the signature as a whole. */
export function signatureMistake(
  name: SignatureMistakeName,
  expected: Json,
  actual: Json,
  detail: string,
): SignatureMistake {
  return { name, field: "signature", expected, actual, detail };
}

/** Makes the mistake of a signature over other data than the expected, which differs in one member. */
export function signedMember(
  name: SignatureMistakeName,
  { name: field, expected, actual }: Omit<MemberDifference, "equal">,
): SignatureMistake {
  const detail = `The signature is over ${field} ${JSON.stringify(actual)}; ${JSON.stringify(expected)} was expected.`;
  return { name, field, expected, actual, detail };
}
