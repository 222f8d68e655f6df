import { z } from "zod";
import { jsonSchema } from "../../server/schemas/primitives.ts";
import { pageOf } from "../lib/page.ts";

const text = z.string();
const count = z.int();

/** The schema of a binding check. */
export const checkSchema = z
  .object({ name: text, ok: z.boolean(), expected: jsonSchema, actual: jsonSchema })
  .meta({ id: "Check", description: "A binding check, with the expected and the actual value." });

/** A binding check, with the expected and the actual value. */
export type CheckView = z.output<typeof checkSchema>;

const nodeCallSchema = z
  .object({
    method: text,
    call: text.nullable().meta({
      description:
        "The decoded call of `eth_call`, `eth_sendRawTransaction` and similar methods, such as `balanceOf(0x…)`, with its contract; null for other methods.",
    }),
    duration_ms: z.number().nullable().meta({ description: "Null while it is in progress." }),
    failed: z.boolean(),
  })
  .meta({ id: "NodeCall", description: "A JSON-RPC call to the chain node that a request needed." });

/** A JSON-RPC call to the chain node that a request needed. */
export type NodeCallView = z.output<typeof nodeCallSchema>;

const openRequestFields = {
  method: text,
  path: text,
  received: text.meta({ description: "The wall clock when it arrived, RFC 3339 in UTC." }),
  calls: z.array(nodeCallSchema),
};
const openRequestSchema = z.object(openRequestFields);

/** A request that has no answer yet. */
export type OpenRequestView = z.output<typeof openRequestSchema>;

const requestSchema = z.object({
  ...openRequestFields,
  number: count.meta({ description: "Counts responses from 1." }),
  id: text.meta({ description: "The request id of the response." }),
  at: text.nullable().meta({
    description: "Sandbox time; null if the request was refused before the time was read.",
  }),
  duration_ms: z.number(),
  operation: text.nullable().meta({
    description: "The id of the API operation, such as `createPurchase`; null for a path that has none.",
  }),
  caller: text.meta({ description: "An account, a credential's id, or `anyone`." }),
  from: z.enum(["backend", "sandbox.client", "sandbox", "given", "demo", "page", "anyone"]).meta({
    description:
      "`sandbox`: another function of the sandbox, such as `reviewer.decide()`. `page`: a wallet route, or a request of a page of the sandbox. `anyone`: another request without a valid credential.",
  }),
  idempotency_key: text.nullable(),
  replayed: z.boolean(),
  status: count.nullable().meta({ description: "Null if a fault dropped the response." }),
  code: text.nullable().meta({ description: "The code of the problem in the response." }),
  body: jsonSchema,
  answer: jsonSchema,
  refusal: z
    .object({ detail: text, causes: z.array(text), checks: z.array(checkSchema) })
    .nullable()
    .meta({
      description:
        "For a refusal: its error in one sentence, a sentence for each cause, and the binding checks, the failed ones first.",
    }),
  objects: z.array(text).meta({
    description: "The ids of the purchases, merchants and other records that it names.",
  }),
  more_calls: count.meta({ description: "The number of further calls, which are not kept." }),
});

/** A request of the API with its answer. */
export type RequestView = z.output<typeof requestSchema>;

/** The schema of a page of requests. */
export const requestsSchema = pageOf(requestSchema)
  .extend({ in_progress: z.array(openRequestSchema) })
  .meta({ id: "RequestViews" });

/** Requests, the newest answer first, and those in progress. */
export type RequestViews = z.output<typeof requestsSchema>;

/** A change, as `GET /stream` sends it. */
export interface ExplorerChange {
  topics: ChangeTopic[];
  /** The purchases that changed; null when there are too many to name. */
  purchases: string[] | null;
}

/** The topic of a change. */
export type ChangeTopic =
  | "blocks"
  | "purchases"
  | "merchants"
  | "operations"
  | "events"
  | "keys"
  | "faults"
  | "refusals"
  | "requests"
  /** Everything: a snapshot was restored, or the client missed too much. */
  | "everything";
