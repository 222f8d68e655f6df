import type { createDocument } from "zod-openapi";
import { edgeCodes } from "../../server/http/codes-of-operation.ts";
import {
  bodyCodes,
  commonCodes,
  controlProblemSchema,
  describeCode,
  unreadableCodes,
} from "../lib/control/codes.ts";
import { bodyOf, controlTags } from "../lib/control/operation.ts";
import { describeTable, pageUrl } from "./describe-operations.ts";
import { controlOperations } from "./table.ts";

/** The version of the control API. */
const controlVersion = "1.0.0";

/**
 * Describes the control API as an OpenAPI 3.1 document, from the table that runs it.
 *
 * @param urls - where the control API and the documentation are reached.
 * @example describeControl({ control: "http://127.0.0.1:4022", docs: "http://127.0.0.1:4021" })
 */
export function describeControl(urls: { control: string; docs: string }): ReturnType<typeof createDocument> {
  return describeTable(
    {
      openapi: "3.1.0",
      info: {
        title: "Routing sandbox control API",
        version: controlVersion,
        summary:
          "Controls a sandbox: states, time, faults, snapshots, and everything that the explorer shows.",
        description: introduction(urls.docs),
        license: { name: "MIT", identifier: "MIT" },
        contact: { name: "Routing sandbox documentation", url: pageUrl(urls.docs, "control.md") },
      },
      servers: [{ url: urls.control, description: "This sandbox." }],
      security: [],
      tags: Object.entries(controlTags).map(([name, text]) => ({ name, description: text })),
    },
    {
      operations: controlOperations,
      codesOf: (operation) => [
        ...commonCodes,
        ...bodyCodes(operation.method, bodyOf(operation) !== undefined),
        ...operation.errors,
        ...(operation.method !== "get" ? (["undone"] as const) : []),
        ...(operation.needsOwnChain ? (["needs_own_chain"] as const) : []),
      ],
      describeCode,
      problem: controlProblemSchema,
      docsUrl: urls.docs,
    },
  );
}

function introduction(docsUrl: string): string {
  const [edge, unreadable] = [edgeCodes, unreadableCodes].map((codes) =>
    codes.map((code) => `\`${code}\``).join(", "),
  );
  return [
    `The control API needs no credential and is never part of the routing API. ${pageUrl(docsUrl, "control.md")} describes it.`,
    "A later version may add fields and codes to responses. Ignore unknown fields, and handle unknown codes by their status. " +
      "A request with an unknown field is refused.",
    `Every path can also respond with these codes, before an operation runs: ${edge}. ` +
      `A write whose body cannot be read is refused on every path: ${unreadable}.`,
  ].join("\n\n");
}
