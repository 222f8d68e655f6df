import { z } from "zod";
import { bytesSchema, checksumAddressSchema, hashSchema } from "../../../server/schemas/primitives.ts";
import { callExplanationSchema, memberDifferenceSchema } from "../explanation.ts";
import { signatureMistakeSchema } from "./mistakes.ts";
import { serviceAnswerSchema } from "./service-answer.ts";

/** The signed data: the given data, the data that the sandbox expects, or other data. */
const signedDataSchema = z.enum(["given", "known", "other"]);

const accountSchema = z.object({ address: checksumAddressSchema, name: z.string().nullable() });

/** The members that explanations of typed data and of decisions have in common. */
const signatureExplanationFields = {
  /** Why it would be refused, or as what it would be accepted. */
  cause: z.string(),
  accepted: z.boolean(),
  /** The merchant or the purchase that it is about, by its id. */
  subject: z.string().nullable(),
  /** Every mistake, in the order in which they are corrected. */
  mistakes: z.array(signatureMistakeSchema),
  fields: z.array(memberDifferenceSchema),
  /** The answer of the service; null for a message that no request of the API accepts. */
  answer: serviceAnswerSchema.nullable(),
  /** The newest block, and the time of the next one. */
  simulated: z.object({ block_number: z.int(), at: z.string() }),
};

/** The schema of an explanation of typed data, with its signature if it is signed. */
export const typedDataExplanationSchema = z.object({
  ...signatureExplanationFields,
  primary_type: z.string(),
  domain_separator: hashSchema,
  struct_hash: hashSchema,
  digest: hashSchema,
  /** The account that has signed this digest, whatever the form of the signature; null without a signature, or if no account is found. */
  signer: accountSchema.nullable(),
  /** The account that has to sign. */
  expected_signer: accountSchema.nullable(),
  signature: z
    .object({
      given: bytesSchema,
      /** The same signature in the accepted form: 65 bytes, low s, v of 27 or 28; null for one of a contract. */
      canonical: bytesSchema.nullable(),
      /** The data that the expected signer has signed: the given typed data, the typed data that the sandbox expects, or other data. */
      over: signedDataSchema.nullable(),
    })
    .nullable(),
  /** The contract call that contains the message, explained as if it were sent now; null if no call contains only this message. */
  call: callExplanationSchema.nullable(),
});

/** An explanation of typed data, with its signature if it is signed. */
export type TypedDataExplanation = z.infer<typeof typedDataExplanationSchema>;

/** The schema of an explanation of a decision, with its signature if it is signed. */
export const decisionExplanationSchema = z.object({
  ...signatureExplanationFields,
  /** SHA-256 of the decision bytes, the decision hash of `collectRefund`. */
  decision_hash: hashSchema,
  /** The decision bytes, which the reviewer signs: a line and the RFC 8785 form of the decision. */
  decision_bytes: bytesSchema,
  /** The id of the key that has to sign; null if the decision is not about a purchase of the sandbox. */
  expected_key_id: z.string().nullable(),
  signature: z
    .object({
      given: z.string(),
      /** The same signature in base64url without padding; null for one of another scheme. */
      canonical: z.string().nullable(),
      /** The data that the expected key has signed. */
      over: signedDataSchema.nullable(),
    })
    .nullable(),
});

/** An explanation of a decision, with its signature if it is signed. */
export type DecisionExplanation = z.infer<typeof decisionExplanationSchema>;
