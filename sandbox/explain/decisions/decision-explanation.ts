import { z } from "zod";
import { bytesSchema, hashSchema } from "../../../server/http/schemas/primitives.ts";
import { signatureExplanationFields, signedDataSchema } from "../signatures/signature-explanation.ts";

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
