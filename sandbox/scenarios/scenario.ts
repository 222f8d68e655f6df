import { z } from "zod";
import { jsonSchema } from "../../server/schemas/primitives.ts";
import { mostBlocks } from "../chain/clock/mining-limits.ts";
import { confirmationsSchema, seedSchema } from "../options/defaults.ts";
import { accountsSchema, programsSchema } from "../options/programs.ts";
import type { Fingerprint } from "../snapshots/fingerprint.ts";

const hex = z.string().regex(/^0x[0-9a-f]*$/);
const title = z.string().min(1);
/** The newest block after the step, as in `12 0x4f…`; only if the step made one and is compared as a whole. */
const block = z.string().regex(/^\d+ 0x[0-9a-f]{64}$/);

const requestFields = {
  title,
  /** Whose key or credential it carries: an account's or a credential's id. */
  as: z.string().optional(),
  /** Another bearer token of the request. */
  bearer: z.string().optional(),
  idempotency_key: z.string().optional(),
  body: jsonSchema.optional(),
  /** The body, if it is not JSON, differs from the form that JavaScript writes, or has no content type. */
  raw_body: z.string().optional(),
  /** Left out where it is `application/json` and there is a `body`. */
  content_type: z.string().optional(),
};
/** A recorded answer, which is compared as a whole. */
const answered = {
  answer: z.union([
    z.strictObject({
      status: z.int(),
      /** The fields of the body: short values as they are, all others by their digest. */
      body: z.record(z.string(), jsonSchema),
    }),
    /** A fault dropped the connection before the answer was sent, or in the middle of it. */
    z.strictObject({ lost: z.literal(true) }),
  ]),
  block: block.optional(),
};
/** The conditions of an answer; a field that they do not name may have any value. */
const expected = {
  expect: z.strictObject({
    /** One of these. */
    status: z.array(z.int()).min(1),
    /** A dropped connection is accepted, too. */
    lost: z.literal(true).optional(),
    /** Fields that are not named may have any value; lists are compared entry by entry. */
    body: jsonSchema.optional(),
    /** The number of an earlier step, from 1, whose answer must be equal byte for byte. */
    same_as: z.int().positive().optional(),
  }),
};
const requestLine = z.string().regex(/^(?:GET|POST|DELETE) \/\S*$/, "must be a method and a path");

const transaction = z.strictObject({
  /** The wallet's name, or its address. */
  from: z.string(),
  /** A description of the call, for readers. */
  call: z.string(),
  hash: hex,
  status: z.enum(["success", "reverted"]),
  /** The signed bytes. */
  raw: hex,
});

const step = z.union([
  z.strictObject({ api: requestLine, ...requestFields, ...answered }),
  z.strictObject({ control: requestLine, ...requestFields, ...answered }),
  z.strictObject({ api: requestLine, ...requestFields, ...expected }),
  z.strictObject({ control: requestLine, ...requestFields, ...expected }),
  z.strictObject({
    title,
    transactions: z.array(transaction).min(1),
    /** The seconds by which time moved with the block of the transactions, if it moved by more than one. */
    travel: z.int().positive().optional(),
    block: block.optional(),
  }),
  z.strictObject({ title, mine: z.int().min(1).max(mostBlocks), block: block.optional() }),
  /** Seconds. */
  z.strictObject({ title, travel: z.int().positive(), block: block.optional() }),
]);

/** One step, with its action and its result. */
export type Step = z.infer<typeof step>;

/** A request to the routing API or to the control API, and its recorded answer. */
export type RequestStep = Extract<Step, { answer: unknown }>;

/** A request to the routing API or to the control API, and the fields that its answer must have. */
export type ExpectingStep = Extract<Step, { expect: unknown }>;

/** A transaction that a wallet sent. */
export type WalletStep = Extract<Step, { transactions: unknown }>;

/** The steps of a fresh sandbox, and the final state with its hashes. */
export const scenarioSchema = z.strictObject({
  format: z.literal("routing-sandbox-scenario"),
  version: z.literal(1),
  title,
  seed: seedSchema,
  programs: programsSchema,
  accounts: accountsSchema.optional(),
  confirmations: confirmationsSchema,
  gas_budget_wei: z.string().regex(/^\d{1,78}$/),
  steps: z.array(step),
  /** The final state of the sandbox. A scenario that only has `expect` can leave it out. */
  end: z
    .strictObject({ epoch: hex, block, state_root: hex, journal: hex, store: hex, digest: hex })
    .optional(),
});

/** The parsed form of {@link scenarioSchema}. */
export type Scenario = z.infer<typeof scenarioSchema>;

/** The final state of a sandbox, as a recorded scenario has it. */
export type ScenarioEnd = NonNullable<Scenario["end"]>;

/** A block as steps name it. */
export function blockName({ number, hash }: { number: bigint | number; hash: string }): string {
  return `${number} ${hash}`;
}

/** Returns the final state of a sandbox, as a scenario ends with it. */
export function describeEnd({ digest, epoch, block, journal, store }: Fingerprint): ScenarioEnd {
  return { epoch, block: blockName(block), state_root: block.state_root, journal, store, digest };
}
