import { z } from "zod";
import { validate } from "../../server/http/request/validate.ts";
import { hashSchema, signatureSchema } from "../../server/schemas/primitives.ts";
import type { ExplainDecision } from "../explain/decisions/explain-decision.ts";
import { givenDecisionSchema } from "../explain/decisions/explain-decision.ts";
import { type ExplainCall, explainOptionsSchema } from "../explain/explain.ts";
import { callExplanationSchema, explanationSchema } from "../explain/explanation.ts";
import type { ExplainTypedData } from "../explain/signatures/explain-typed-data.ts";
import {
  decisionExplanationSchema,
  typedDataExplanationSchema,
} from "../explain/signatures/signature-explanation.ts";
import { givenTypedDataSchema } from "../explain/signatures/typed-data.ts";
import { urlsSchema } from "../explorer/views.ts";
import { faultSchema } from "../faults/fault.ts";
import { controlOf } from "../lib/control/operation.ts";
import { explainBytes } from "../lib/http/connection-limits.ts";
import { fingerprintSchema } from "../snapshots/fingerprint.ts";
import { callSchema } from "../wallets/read-transaction.ts";
import type { ControlledSandbox } from "./controlled-sandbox.ts";

const defineControl = controlOf<ControlledSandbox>();

const statusSchema = z
  .object({
    version: z.literal(1),
    seed: z
      .string()
      .nullable()
      .meta({ description: "Null on the chain of a node, whose keys are derived from it." }),
    mode: z.enum(["live", "deterministic"]),
    pid: z.int(),
    urls: urlsSchema,
    explorer: z.string().meta({ description: "The URL of the explorer." }),
    chain: z.object({
      chain_id: z.int(),
      epoch: hashSchema,
      block_number: z.int(),
      block_hash: hashSchema,
    }),
    now: z.int().meta({ description: "Sandbox time in Unix seconds." }),
    faults: z.array(faultSchema),
  })
  .meta({ id: "Status" });

const readStatus = defineControl({
  id: "readStatus",
  method: "get",
  path: "/status",
  tag: "Sandbox",
  summary: "Returns the sandbox's seed, mode, process id, URLs, chain, time and faults.",
  success: { status: 200, description: "The status of the sandbox.", schema: statusSchema },
  handle: async ({ sandbox }) => await viewStatus(sandbox),
});

/** `GET /fingerprint` */
export const readFingerprint = defineControl({
  id: "readFingerprint",
  method: "get",
  path: "/fingerprint",
  tag: "Sandbox",
  summary:
    "Returns digests of the newest block, accounts, stored records, faults that can still act, and your own parts.",
  command: {
    name: "fingerprint",
    description:
      "print the fingerprint of the running sandbox, one digest of its chain, records, faults and parts",
  },
  page: { target: "ci.md#equal-runs", words: "equal runs" },
  success: { status: 200, description: "The fingerprint.", schema: fingerprintSchema },
  errors: ["part_failed"],
  gated: true,
  handle: async ({ sandbox }) => await sandbox.fingerprint(),
});

const readDescription = defineControl({
  id: "readControlDescription",
  method: "get",
  path: "/openapi.json",
  tag: "Sandbox",
  summary: "Returns the OpenAPI 3.1 description of the control API.",
  success: {
    status: 200,
    description: "The OpenAPI description.",
    schema: z.looseObject({ openapi: z.string() }).meta({ id: "Description" }),
  },
  handle: ({ describe }) => describe(),
});

const explain = defineControl({
  id: "explain",
  method: "get",
  path: "/explain/{hash}",
  tag: "Sandbox",
  summary: "Returns which step would accept a transaction, or why none would.",
  page: { target: "explain.md", words: "explain" },
  params: { hash: hashSchema },
  query: explainOptionsSchema,
  success: {
    status: 200,
    description: "The explanation.",
    schema: explanationSchema.meta({ id: "Explanation" }),
  },
  errors: ["validation_failed", "argument_invalid"],
  startsOver: true,
  handle: async ({ sandbox, params, query }) =>
    await sandbox.explain(hashSchema.parse(params["hash"]), query),
});

/** The body as it is taken: each kind of request is checked where it is explained. */
const unsentSchema = z.union(
  [
    z.strictObject({ call: z.unknown(), for: z.string().optional() }),
    z.strictObject({
      typed_data: z.unknown(),
      signature: z.unknown().optional(),
      for: z.string().optional(),
    }),
    z.strictObject({ decision: z.unknown(), signature: z.unknown().optional(), for: z.string().optional() }),
  ],
  { error: 'must be {"call": …}, {"typed_data": …} or {"decision": …}' },
);

const { for: forId } = explainOptionsSchema.shape;

const explainUnsent = defineControl({
  id: "explainUnsent",
  method: "post",
  path: "/explain",
  tag: "Sandbox",
  summary: "Returns which step would accept a call or a signature if it were sent now, or why none would.",
  page: { target: "explain.md#explain-a-call-before-it-is-sent", words: "explain a call" },
  query: explainOptionsSchema,
  describedBody: z.union([
    z.strictObject({
      call: callSchema,
      for: forId,
    }),
    z.strictObject({
      typed_data: givenTypedDataSchema,
      signature: signatureSchema.optional(),
      for: forId,
    }),
    z.strictObject({ decision: givenDecisionSchema, signature: z.string().optional(), for: forId }),
  ]),
  example: {
    call: {
      from: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      to: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    },
  },
  bodyLimit: explainBytes,
  success: {
    status: 200,
    description: "The explanation.",
    schema: z.union([
      callExplanationSchema.meta({ id: "CallExplanation" }),
      typedDataExplanationSchema.meta({ id: "TypedDataExplanation" }),
      decisionExplanationSchema.meta({ id: "DecisionExplanation" }),
    ]),
  },
  errors: ["validation_failed", "argument_invalid"],
  recorded: false,
  startsOver: true,
  async handle({ sandbox, body, query }) {
    const about = validate(unsentSchema, body, "");
    if ("call" in about) return await sandbox.explain(z.custom<ExplainCall>().parse(about), query);
    return "decision" in about
      ? await sandbox.explain(z.custom<ExplainDecision>().parse(about), query)
      : await sandbox.explain(z.custom<ExplainTypedData>().parse(about), query);
  },
});

/** The operations that describe the sandbox and its transactions. */
export const sandboxOperations = [readStatus, readFingerprint, readDescription, explain, explainUnsent];

async function viewStatus({ description, chain, faults }: ControlledSandbox) {
  const { seed, mode, pid, urls } = description;
  const block = await chain.client.getBlock({ blockTag: "latest" });
  return {
    version: 1,
    seed: chain.isOwn ? seed : null,
    mode,
    pid,
    urls,
    explorer: `${urls.control}/`,
    chain: { ...description.chain, block_number: Number(block.number), block_hash: block.hash },
    now: await chain.clock.now(),
    faults: faults.list(),
  };
}
