import { z } from "zod";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { checksumAddressSchema, hashSchema, jsonSchema } from "../../server/schemas/primitives.ts";

/** A field of a call, or a member of what is signed, next to the expected one; null where a side does not have it. */
export const memberDifferenceSchema = z.object({
  name: z.string(),
  expected: jsonSchema,
  actual: jsonSchema,
  equal: z.boolean(),
});

/** A field or member next to the expected one. */
export type MemberDifference = z.infer<typeof memberDifferenceSchema>;

/** 32 bytes of calldata next to those that were expected; the first word is the four bytes of the selector. */
const wordDifference = z.object({
  offset: z.int(),
  expected: z.string(),
  actual: z.string(),
  /** The indexes of the bytes of the word that differ, from 0; a missing byte differs. */
  differing: z.array(z.int()),
  /** The argument in which the word differs; null when it is in none, such as in a byte after the last argument, or in several. */
  field: z.string().nullable(),
});

const step = z.object({
  step: z.string(),
  subject: z.string(),
  accepted: z.boolean(),
  failed: z.array(z.enum(checkNames)),
});

const submission = z.object({
  /** The request, as in `POST /v1/routing/programs/{program}/purchases/{id}/reconcile`. */
  request: z.string(),
  step: z.string(),
  subject: z.string(),
  code: z.string(),
  detail: z.string(),
  /** Sandbox time, RFC 3339. */
  at: z.string(),
  /** The number of times that the same submission was refused in a row. */
  times: z.int(),
});

const revert = z.object({
  name: z.string(),
  args: z.record(z.string(), jsonSchema),
  data: z.string(),
  /** The revert in words, as in `The purchase is fully paid.`; null when the step is not known. */
  meaning: z.string().nullable(),
});

const frameFields = {
  type: z.string(),
  from: checksumAddressSchema,
  to: checksumAddressSchema.nullable(),
  /** The name of the contract or account at `to`. */
  contract: z.string(),
  /** The call as the contract's ABI reads it, or its selector. */
  call: z.string(),
  /** The error of the call, or null. */
  failure: z.string().nullable(),
};

/** One call inside a transaction, with the calls that it made. */
export type Frame = z.infer<z.ZodObject<typeof frameFields>> & { calls: Frame[] };

const frame: z.ZodType<Frame> = z
  .lazy(() => z.object({ ...frameFields, calls: z.array(frame) }))
  .meta({ id: "CallFrame" });

const stateChanges = z
  .object({
    /** Every balance that has changed, in wei or in base units of the token. */
    balances: z.array(
      z.object({
        /** `ETH`, or the symbol of the token. */
        asset: z.string(),
        address: checksumAddressSchema,
        /** The label of the account, as in `buyer`. */
        name: z.string().nullable(),
        before: z.string(),
        after: z.string(),
        change: z.string(),
      }),
    ),
    storage: z.array(
      z.object({
        address: checksumAddressSchema,
        contract: z.string(),
        slot: hashSchema,
        /** As in `_purchases[pur_…].paid`; null for an unknown slot, which is shown as a whole. */
        name: z.string().nullable(),
        type: z.string().nullable(),
        before: jsonSchema,
        after: jsonSchema,
      }),
    ),
  })
  .meta({ id: "StateChanges" });

/** The balances and slots that a transaction has changed. */
export type StateChanges = z.infer<typeof stateChanges>;

/** The schema of an explanation: whether a transaction would be accepted and for which step, and if not why. */
export const explanationSchema = z.object({
  /** Why it is refused, or as what it is accepted, in one sentence. */
  cause: z.string(),
  /** A sentence for each failed check: the cause first, then what follows from it. */
  causes: z.array(z.string()),
  transaction_hash: hashSchema,
  /** The transaction itself; null when the chain does not know its hash. */
  transaction: z
    .object({
      status: z.enum(["success", "reverted", "pending"]),
      /** The sender; null when the signature recovers no account. */
      from: checksumAddressSchema.nullable(),
      to: checksumAddressSchema.nullable(),
      value_wei: z.string(),
      /** The calldata, as it was sent. */
      input: z.string(),
      block_number: z.int().nullable(),
      /** The time of its block, RFC 3339. */
      at: z.string().nullable(),
      gas_used: z.string().nullable(),
      fee_wei: z.string().nullable(),
    })
    .nullable(),
  accepted: z.boolean(),
  /** The step that the transaction is compared with, and the merchant or purchase of this step. */
  step: z.string().nullable(),
  subject: z.string().nullable(),
  /** The refused submission that is explained; null when none was refused. The step then follows from the transaction. */
  submission: submission.nullable(),
  checks: z.array(
    z.object({ name: z.enum(checkNames), ok: z.boolean(), expected: jsonSchema, actual: jsonSchema }),
  ),
  call: z
    .object({
      to: checksumAddressSchema.nullable(),
      contract: z.string(),
      /** The function that it calls; null when no contract of the sandbox has it. */
      function: z.string().nullable(),
      expected_to: checksumAddressSchema,
      expected_contract: z.string(),
      expected_function: z.string(),
      canonical: z.boolean(),
      fields: z.array(memberDifferenceSchema),
      words: z.array(wordDifference),
    })
    .nullable(),
  logs: z.array(
    z.object({
      address: checksumAddressSchema,
      contract: z.string(),
      log_index: z.int(),
      event: z.string().nullable(),
      fields: z.record(z.string(), jsonSchema),
    }),
  ),
  revert: revert.nullable(),
  /** The calls; null if a transaction is not mined, or the node does not trace. */
  trace: frame.nullable(),
  /** Whether the inner calls are left out of `trace`, because the transaction used so much gas that there may be too many. */
  inner_calls_left_out: z.boolean(),
  /**
   * The balances and slots that the transaction has changed, or that the call would change without its fee; null if a transaction is not
   * mined, or the node does not trace.
   */
  changes: stateChanges.nullable(),
  /** Every step that it was compared with: that of the submission first, then the closest. */
  compared: z.array(step),
});

/** An explanation: whether a transaction would be accepted and for which step, and if not why. */
export type Explanation = z.infer<typeof explanationSchema>;

/**
 * The schema of an explanation of a call that was not sent: like that of a transaction, without the checks that need a mined transaction.
 */
export const callExplanationSchema = explanationSchema
  .omit({ transaction_hash: true, transaction: true, submission: true })
  .extend({
    /** The checks that are not known before the call is sent. */
    not_checked: z.array(z.enum(checkNames)),
    /** The block that it is simulated on, and the time of the next block, which it is simulated at. */
    simulated: z.object({ block_number: z.int(), at: z.string() }),
  });

/** An explanation of a call that was not sent: whether its transaction would be accepted, and if not why. */
export type CallExplanation = z.infer<typeof callExplanationSchema>;
