import { z } from "zod";
import type { Json } from "../../../protocol/values/json.ts";
import { jsonSchema } from "../../../server/http/schemas/primitives.ts";
import type { MemberDifference } from "../explanation.ts";

/** The mistakes that are recognized in typed data, in decisions and in their signatures, by name. */
export const signatureMistakes = {
  wrong_chain_id: "The domain has the id of a different chain.",
  wrong_verifying_contract: "The domain names a different contract.",
  wrong_domain_version: "The domain has a different version.",
  wrong_domain_name: "The domain has a different name.",
  missing_domain_type: "`types` has no `EIP712Domain`, so `eth_signTypedData_v4` signs an empty domain.",
  wrong_types: "A type has different members, or the same members in a different order.",
  unknown_primary_type: "No step accepts a message of this type.",
  changed_field: "A field differs from the expected one; `field` names it.",
  wrong_claim_hash: "The claim hash of the decision is not that of the filed claim.",
  personal_sign: "`personal_sign` (EIP-191) signed a text instead of the typed data.",
  eth_sign: "`eth_sign` or `personal_sign` signed the digest, with the prefix of EIP-191.",
  unprefixed_hash:
    "A hash other than the digest was signed, such as the struct hash without `0x1901` and the domain.",
  typed_data_for_enrollment:
    "The merchant's wallet signed the funding authorization instead of the enrollment text.",
  compact_signature: "The signature has 64 bytes (EIP-2098) instead of 65.",
  high_s: "The signature has an s in the upper half of the curve's order (EIP-2).",
  wrong_v: "The last byte of the signature, v, is not 27 or 28.",
  other_message: "The signature is over the message of another object, such as another purchase.",
  wrong_signer: "A different account signed, or it signed different data.",
  wrong_reviewer: "The decision does not name the key of the designated reviewer.",
  wrong_key: "A different Ed25519 key signed, such as a rotated one.",
  wrong_encoding: "The signature of the decision is not base64url without padding.",
  ecdsa_signature: "A wallet signed the decision (ECDSA). A decision requires an Ed25519 signature.",
  hex_text_signed:
    "The signature is over the decision bytes, or their hash, written as hex or base64 text, and not over the bytes themselves.",
  prehashed:
    "The signature is over a hash of the decision bytes, or was made with Ed25519ph. Ed25519 over the bytes is required.",
  missing_domain_line: "The JSON was signed without the line `routing-sandbox/decision/v1`.",
  not_canonical_json: "The signed JSON is not in RFC 8785 form.",
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
