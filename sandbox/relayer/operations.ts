import { z } from "zod";
import type { Relayer } from "../../relayer/relayer.ts";
import { relayOperationSchema } from "../../server/schemas/transactions.ts";
import { controlOf } from "../lib/control/operation.ts";

const defineControl = controlOf<{ relayer: Relayer }>();

const resumeBody = z
  .strictObject({
    abandon: z.boolean().default(false).meta({
      description:
        "Give up the current attempt, whose nonce was taken by another transaction; the next request for the same effect starts a new attempt.",
    }),
  })
  .meta({ id: "Resume" });

// The call of a person who has found out which other software used a signer.
/** `POST /operations/{id}/resume` */
export const resumeOperation = defineControl({
  id: "resumeOperation",
  method: "post",
  path: "/operations/{id}/resume",
  tag: "Relayer",
  summary: "Continues a relay operation that needs attention.",
  description: "With `abandon`, it gives up the current attempt.",
  page: { target: "relayer.md#foreign-use-of-the-signers-key", words: "foreign use of the key" },
  params: {
    id: z.string().meta({
      description: "The id of the relay operation, from GET /v1/routing/programs/{program}/transactions.",
      example: "op_abcdefghij234567abcd",
    }),
  },
  command: { name: "resume", description: "continue a relay operation that needs attention" },
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
