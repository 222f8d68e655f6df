import { z } from "zod";
import { relayOperationSchema } from "../../server/transactions/schemas.ts";
import { defineControl } from "../control/operation.ts";

const resumeBody = z
  .strictObject({
    abandon: z.boolean().default(false).meta({ description: "Give up an attempt whose nonce was taken." }),
  })
  .meta({ id: "Resume" });

// The call of a person who has found out which other software used a signer.
const resumeOperation = defineControl({
  id: "resumeOperation",
  method: "post",
  path: "/operations/{id}/resume",
  tag: "Relayer",
  summary: "Continues a relay operation that needs attention.",
  description:
    "With `abandon`, it gives up the current attempt of an operation whose nonce was taken by another transaction.",
  page: { target: "relayer.md#foreign-use-of-the-signers-key", words: "foreign use of the key" },
  params: {
    id: z.string().meta({ description: "The relay operation's id.", example: "op_abcdefghij234567abcd" }),
  },
  body: resumeBody,
  example: { abandon: true },
  success: { status: 200, description: "The relay operation.", schema: relayOperationSchema },
  errors: ["operation_unknown", "operation_not_resumable", "operation_not_abandonable"],
  gated: true,
  handle: async ({ sandbox: { relayer }, body: { abandon }, params: { id = "" } }) =>
    abandon ? await relayer.abandon(id) : await relayer.resume(id),
});

/** The operations on relay operations that need attention. */
export const relayerOperations = [resumeOperation];
