import type { createDocument } from "zod-openapi";
import { describeTable } from "../../../sandbox/control/describe-operations.ts";
import { bodyCodes, controlProblemSchema } from "../../../sandbox/lib/control/codes.ts";
import { edgeCodes } from "../../../server/http/codes-of-operation.ts";
import { describePoolCode, type PoolCode } from "./pool-codes.ts";
import { poolOperations } from "./pool-operations.ts";

/** The version of the pool's API. */
const poolVersion = "1.0.0";

/** The codes that every operation can answer with. */
const commonCodes = [
  "request_malformed",
  "host_not_allowed",
  "page_not_allowed",
  "internal_error",
] as const satisfies readonly PoolCode[];

/**
 * Describes the API of a pool as an OpenAPI 3.1 document, from the table that runs it.
 *
 * @example describePool("http://127.0.0.1:4030")
 */
export function describePool(url: string): ReturnType<typeof createDocument> {
  const edge = edgeCodes.map((code) => `\`${code}\``).join(", ");
  return describeTable(
    {
      openapi: "3.1.0",
      info: {
        title: "Routing sandbox pool",
        version: poolVersion,
        summary: "Leases running sandboxes to test workers in any language.",
        description: [
          "A pool needs no credential. Each lease starts with a sandbox in its initial state, and expires if it is not renewed.",
          `Every path can also respond with these codes, before an operation runs: ${edge}.`,
        ].join("\n\n"),
        license: { name: "MIT", identifier: "MIT" },
        contact: { name: "Routing sandbox documentation" },
      },
      servers: [{ url, description: "This pool." }],
      security: [],
      tags: [
        { name: "Leases", description: "Sandboxes for one test or one worker." },
        { name: "Pool", description: "The state of the pool." },
      ],
    },
    {
      operations: poolOperations,
      codesOf: ({ method, body, errors }): PoolCode[] => [
        ...commonCodes,
        ...bodyCodes(method, body !== undefined),
        ...errors,
      ],
      describeCode: describePoolCode,
      problem: controlProblemSchema,
    },
  );
}
