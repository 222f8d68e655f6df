/**
 * The answers of the explorer's routes. It is plain JSON: amounts are decimal strings in base units of the token, `…_at` is RFC 3339 in
 * sandbox time, hashes and addresses are hex.
 */

import { z } from "zod";
import { jsonSchema } from "../../server/schemas/primitives.ts";
import { purchaseTextsSchema } from "../../server/schemas/purchases.ts";
import { checkSchema } from "../activity/views.ts";
import { accountSchema } from "../explain/address-labels.ts";
import { faultSchema } from "../faults/fault.ts";
import { pageOf } from "../lib/page.ts";

const text = z.string();
const count = z.int();
const texts = z.record(z.string(), z.string());

const blockPointFields = { number: count, hash: text, at: text };
const blockPointSchema = z.object(blockPointFields).meta({ id: "BlockPoint" });

/** A point of the chain. */
export type BlockPointView = z.output<typeof blockPointSchema>;

/** The schema of a sandbox's URLs. */
export const urlsSchema = z.object({ api: text, docs: text, rpc: text, control: text }).meta({ id: "Urls" });

const held = z.boolean().meta({
  description: "Whether it is not settled and a fault with the action `hold` has acted on it.",
});

const programViewSchema = z.object({
  id: text,
  name: text,
  operator: text,
  gas_budget: z
    .object({ limit_wei: text, reserved_wei: text, spent_wei: text, available_wei: text })
    .nullable()
    .meta({ description: "Null while the outcome of one of the program's relay operations is unknown." }),
});

/** The schema of the state of the sandbox at one glance. */
export const overviewSchema = z
  .object({
    /** Null on the chain of a node, whose keys are derived from it. */
    seed: text.nullable(),
    mode: z.enum(["live", "deterministic"]),
    now: text,
    block: blockPointSchema,
    chain: z.object({ chain_id: count, epoch: text }),
    anvil_restarts: count.meta({
      description:
        "The number of times that Anvil has ended since the start and was replaced; 0 on a node's chain.",
    }),
    own_chain: z.boolean().meta({
      description:
        "Whether the chain is the sandbox's own, which can be mined, reorganized, saved and moved in time.",
    }),
    network: z
      .object({
        name: text.nullable(),
        block_explorer: text.nullable().meta({ description: "The URL of its block explorer." }),
        requests: z
          .record(z.string(), count)
          .meta({ description: "The requests that the node got since the start, by method." }),
      })
      .nullable()
      .meta({
        description: "The network of the node that the sandbox is connected to; null on its own chain.",
      }),
    urls: urlsSchema,
    contracts: z.object({ token: text, registrar: text, funding_source: text }),
    token: z.object({ symbol: text, decimals: count }),
    labels: texts.meta({
      description: "The labels of known accounts and contracts, by address in lower case.",
    }),
    programs: z.array(programViewSchema),
    unsettled: z.array(z.object({ kind: text, status: text, held, count })).meta({
      description: "The number of relay operations that are not settled, by kind and status.",
    }),
    unknown: z.array(text).meta({
      description: "A sentence for each relay operation whose outcome is unknown after a reorg.",
    }),
    pending_transactions: count.nullable().meta({ description: "Null if the node does not tell." }),
    faults: z.array(faultSchema),
    refusals: count,
    fault_choices: z
      .object({
        intents: z.array(text).readonly(),
        matrix: z.record(z.string(), z.record(z.string(), z.array(text).readonly())),
        operations: z.array(text).readonly(),
      })
      .meta({
        description:
          "The faults that you can set: the common faults, the points of all faults by layer and action, and the writes that a fault can be limited to.",
      }),
  })
  .meta({ id: "Overview" });

/** The state of the sandbox at one glance. */
export type Overview = z.output<typeof overviewSchema>;

const figuresSchema = z.object({
  amount: text,
  approved: text,
  paid: text,
  reconciled: text,
  refunded: text,
});

/** A purchase's money, read at one block. */
export type FiguresView = z.output<typeof figuresSchema>;

/** The schema of a purchase in a list. */
export const purchaseViewSchema = z
  .object({
    id: text,
    program: text,
    merchant_id: text,
    merchant_name: text,
    status: text,
    route: text.nullable(),
    ...purchaseTextsSchema.shape,
    commitment_hash: text,
    merchant: accountSchema,
    buyer: accountSchema,
    beneficiary: accountSchema,
    deadlines: z.object({ offer_at: text, pay_at: text, claim_at: text }),
    figures: figuresSchema,
    created_at: text,
  })
  .meta({ id: "PurchaseView", description: "A purchase, with its money read at one block." });

/** A purchase in a list. */
export type PurchaseView = z.output<typeof purchaseViewSchema>;

/** The schema of a page of purchases. */
export const purchasesSchema = pageOf(purchaseViewSchema)
  .extend({ as_of: blockPointSchema })
  .meta({ id: "PurchaseViews" });

/** Purchases, the newest first, with the block that their figures were read at. */
export type PurchaseViews = z.output<typeof purchasesSchema>;

/** The schema of a merchant with its funding at one block. */
export const merchantViewSchema = z.object({
  id: text,
  program: text,
  name: text,
  status: text,
  reference: text.nullable(),
  wallet: accountSchema,
  funding: z.object({
    cap: text,
    collected: text,
    allowance: text,
    balance: text,
    valid_until: text,
    revoked_at: text.nullable(),
  }),
  created_at: text,
});

/** A merchant with its funding at one block. */
export type MerchantView = z.output<typeof merchantViewSchema>;

/** The schema of a page of merchants. */
export const merchantsSchema = pageOf(merchantViewSchema).meta({ id: "MerchantViews" });

/** The names by which a person knows what a row is about. */
const subjectNames = {
  merchant_name: text.nullable().meta({ description: "The name of the merchant that it is about." }),
  reference: text
    .nullable()
    .meta({ description: "The merchant's own reference of the purchase or the merchant." }),
};

/** The names of an object. */
export type SubjectNames = z.output<z.ZodObject<typeof subjectNames>>;

/** The schema of a relay operation. */
export const relayOperationViewSchema = z
  .object({
    id: text,
    program: text,
    kind: text,
    subject: z.object({ type: text, id: text }),
    purchase_id: text.nullable().meta({ description: "The purchase that it is about." }),
    ...subjectNames,
    sequence: count,
    status: text,
    status_reason: text.nullable(),
    held,
    error: text.nullable(),
    nonce: count.nullable(),
    from: accountSchema,
    transactions: z
      .array(z.object({ hash: text, attempt: count, purpose: text, outcome: text, max_fee_per_gas: text }))
      .meta({ description: "Every transaction that was signed for it, with its outcome." }),
    attempt: count.meta({
      description: "Above 1 when the previous transaction reverted or was abandoned.",
    }),
    hash: text.nullable(),
    cost_wei: text.nullable(),
    reserved_wei: text,
    block_number: count.nullable(),
    confirmations: count,
    reorg_count: count,
    created_at: text,
    signed_at: text.nullable(),
    broadcast_at: text.nullable(),
    mined_at: text.nullable(),
    confirmed_at: text.nullable(),
  })
  .meta({ id: "RelayOperationView", description: "A relay operation." });

/** A relay operation. */
export type RelayOperationView = z.output<typeof relayOperationViewSchema>;

/** The schema of a page of relay operations. */
export const relayOperationsSchema = pageOf(relayOperationViewSchema).meta({ id: "RelayOperationViews" });

const deliveryAttemptSchema = z.object({
  number: count,
  at: text,
  ended: z.boolean().meta({ description: "False while it is in progress, or if a crash lost its outcome." }),
  status_code: count.nullable(),
  error: text.nullable(),
  duration_ms: count.nullable(),
});

/** One attempt to deliver an event. */
export type DeliveryAttemptView = z.output<typeof deliveryAttemptSchema>;

/** The schema of an outbox event and how it was delivered. */
export const eventViewSchema = z.object({
  id: text,
  program: text,
  sequence: count,
  type: text,
  subject: text,
  ...subjectNames,
  delivery: text,
  attempts: z.array(deliveryAttemptSchema),
  receipt_id: text.nullable(),
  arrivals: z.array(z.object({ number: count, verified: z.boolean(), status: count.nullable() })).meta({
    description: "The arrivals at the test receiver; `POST /receiver/resend` takes a number.",
  }),
  body: jsonSchema,
  created_at: text,
});

/** An outbox event and how it was delivered. */
export type EventView = z.output<typeof eventViewSchema>;

/** The schema of a page of events. */
export const eventsSchema = pageOf(eventViewSchema).meta({ id: "EventViews" });

const refusalSchema = z.object({
  number: count.meta({ description: "Counts refusals from 1." }),
  at: text,
  times: count.meta({ description: "The number of times that the same submission was refused in a row." }),
  operation: text,
  step: text,
  program: text,
  subject: text,
  code: text,
  detail: text,
  cause: text.meta({ description: "One sentence." }),
  transaction_hash: text,
  checks: z.array(checkSchema),
  explain: text.meta({ description: "The URL that explains the transaction field by field." }),
});

/** A transaction that a step did not accept. */
export type RefusalView = z.output<typeof refusalSchema>;

/** The schema of a page of refusals. */
export const refusalsSchema = pageOf(refusalSchema).meta({ id: "RefusalViews" });

const transactionSchema = z.object({
  hash: text,
  from: accountSchema,
  to: accountSchema.nullable(),
  function: text.nullable().meta({
    description: "The function that is called, such as `pay`; null if no known contract decodes the call.",
  }),
  about: z.array(text).meta({ description: "The purchases and merchants that the transaction names." }),
  succeeded: z.boolean(),
  /** The number of its logs. */
  logs: z.int(),
});

/** A transaction in a block, named by what it does. */
export type TransactionView = z.output<typeof transactionSchema>;

const blockSchema = z.object({
  ...blockPointFields,
  gas_used: text,
  transactions: z.array(transactionSchema),
});

/** A block with its transactions. */
export type BlockView = z.output<typeof blockSchema>;

/** The schema of a page of blocks. */
export const blocksSchema = pageOf(blockSchema).meta({ id: "BlockViews" });

const timelineEntrySchema = z.object({
  at: text,
  kind: z.enum([
    "created",
    "signed",
    "on_chain",
    "relayed",
    "approved",
    "paid",
    "reconciled",
    "submitted",
    "claimed",
    "decided",
    "refunded",
    "event",
    "delivery",
    "refused",
  ]),
  title: text.meta({ description: "One sentence." }),
  actor: text,
  block_number: count.nullable(),
  transaction_hash: text.nullable(),
  details: texts.meta({ description: "Hashes, amounts and states that belong to it, by name." }),
  checks: z.array(checkSchema).meta({ description: "The checks of a refusal." }),
});

/** One entry of a purchase's timeline. */
export type TimelineEntry = z.output<typeof timelineEntrySchema>;

/** The schema of a purchase with its whole timeline, the oldest entry first. */
export const timelineSchema = z
  .object({
    purchase: purchaseViewSchema,
    terms: jsonSchema,
    as_of: blockPointSchema,
    wallet_url: text,
    operations: z.array(relayOperationViewSchema),
    entries: z.array(timelineEntrySchema),
  })
  .meta({ id: "PurchaseTimeline" });

/** A purchase with its whole timeline, the oldest entry first. */
export type PurchaseTimeline = z.output<typeof timelineSchema>;

const searchResultSchema = z.object({
  type: z
    .enum([
      "purchase",
      "merchant",
      "operation",
      "event",
      "transaction",
      "block",
      "account",
      "request",
      "given",
    ])
    .meta({ description: "`given` is a state that can be created." }),
  id: text.meta({ description: "For `given`: `purchase` or `merchant`, and the state." }),
  title: text,
  purchase_id: text.nullable().meta({ description: "The purchase whose timeline contains it, or null." }),
});

/** Something that a search found. */
export type SearchResult = z.output<typeof searchResultSchema>;

/** The schema of what a search found. */
export const searchSchema = z.object({ data: z.array(searchResultSchema) }).meta({ id: "SearchResults" });
