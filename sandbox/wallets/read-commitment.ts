import { z } from "zod";
import type { Commitment } from "../../protocol/messages/commitment.ts";
import { addressSchema, amountSchema, hashSchema } from "../../server/schemas/primitives.ts";
import type { components } from "../client/api-client.ts";

const integer = amountSchema.transform(BigInt);

/** The message of a commitment's typed data, with its integers read back from decimal strings. */
const commitmentMessage = z.strictObject({
  program: hashSchema,
  purchaseRef: hashSchema,
  merchant: addressSchema,
  buyer: addressSchema,
  beneficiary: addressSchema,
  token: addressSchema,
  amount: integer,
  termsHash: hashSchema,
  offerDeadline: integer,
  payDeadline: integer,
  claimDeadline: integer,
  salt: hashSchema,
});

/** Reads the commitment out of a purchase as the API shows it. */
export function readCommitment(purchase: components["schemas"]["Purchase"]): Commitment {
  return commitmentMessage.parse(purchase.commitment.typed_data.message);
}
