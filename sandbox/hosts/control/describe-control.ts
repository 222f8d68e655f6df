import { STATUS_CODES } from "node:http";
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { edgeCodes } from "../../../server/api/errors/codes-of-operation.ts";
import { openAnswers, tidyReferences } from "../../../server/api/openapi/open-answers.ts";
import { openEnum } from "../../../server/api/schemas/primitives.ts";
import { bodyCodes, type ControlCode, commonCodes, controlProblemSchema, describeCode } from "./codes.ts";
import { bodyOf, type ControlOperation, controlTags, needsBody } from "./operation.ts";
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
  const refusals = new Map<string, { name: string; response: ZodOpenApiResponseObject }>();
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of controlOperations)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describeOperation(operation, urls.docs, refusals),
    };
  const description = {
    openapi: "3.1.0",
    info: {
      title: "Routing sandbox control API",
      version: controlVersion,
      summary: "Controls a sandbox: states, time, faults, snapshots, and everything that the explorer shows.",
      description: introduction(urls.docs),
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "Routing sandbox documentation", url: pageUrl(urls.docs, "control.md") },
    },
    servers: [{ url: urls.control, description: "This sandbox." }],
    security: [],
    tags: Object.entries(controlTags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      responses: Object.fromEntries([...refusals.values()].map(({ name, response }) => [name, response])),
    },
  } satisfies ZodOpenApiObject;
  return tidyReferences(
    createDocument(description, { allowEmptySchema: { custom: true }, override: openAnswers }),
  );
}

function introduction(docsUrl: string): string {
  const edge = edgeCodes.map((code) => `\`${code}\``).join(", ");
  return [
    `The control API needs no credential and is never part of the routing API. ${pageUrl(docsUrl, "control.md")} describes it.`,
    "A later version may add fields and codes to answers. Ignore fields that you do not know, and handle unknown codes by their status. " +
      "A request with an unknown field is refused.",
    `Every path can also answer with these codes, before an operation runs: ${edge}.`,
  ].join("\n\n");
}

function pageUrl(docsUrl: string, target: string): string {
  return `${docsUrl}/docs/${target}`;
}

type Refusals = Map<string, { name: string; response: ZodOpenApiResponseObject }>;

function describeOperation(
  operation: ControlOperation,
  docsUrl: string,
  refusals: Refusals,
): ZodOpenApiOperationObject {
  const { id, tag, summary, description = "", page, success, example } = operation;
  const schema = bodyOf(operation);
  const parameters = [
    ...describeParameters("path", operation.params ?? {}),
    ...(operation.query instanceof z.ZodObject ? describeParameters("query", operation.query.shape) : []),
  ];
  return {
    operationId: id,
    summary,
    description: description === "" ? summary : `${summary} ${description}`,
    tags: [tag],
    ...(page && { externalDocs: { description: page.words, url: pageUrl(docsUrl, page.target) } }),
    ...(parameters.length > 0 && { parameters }),
    ...(schema && {
      requestBody: {
        required: needsBody(operation),
        content: { "application/json": { schema, ...(example !== undefined && { example }) } },
      },
    }),
    responses: {
      [success.status]: {
        description: success.description,
        ...(success.schema && {
          content: { [success.type ?? "application/json"]: { schema: success.schema } },
        }),
      },
      ...describeRefusals(operation, refusals),
    },
  };
}

function describeParameters(place: "path" | "query", schemas: { readonly [name: string]: z.ZodType }) {
  return Object.entries(schemas).map(([name, schema]) => schema.meta({ param: { in: place, name } }));
}

/** Returns the refusals of an operation by status. Equal refusals of several operations are one response. */
function describeRefusals(operation: ControlOperation, refusals: Refusals) {
  const codes: ControlCode[] = [
    ...new Set([...commonCodes, ...(bodyOf(operation) === undefined ? [] : bodyCodes), ...operation.errors]),
  ];
  const byStatus = Map.groupBy(codes, (code) => describeCode(code).status);
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => {
      const set = own.toSorted().join(" ");
      const name = refusals.get(set)?.name ?? nameOf(status, refusals);
      refusals.set(set, { name, response: describeRefusal(status, own) });
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/** Names a refusal after its status; others with this status get a number. */
function nameOf(status: number, refusals: Refusals): string {
  const words = (STATUS_CODES[status] ?? "").replaceAll(" ", "");
  const same = [...refusals.values()].filter(({ name }) => name.replace(/\d+$/, "") === words);
  return same.length === 0 ? words : `${words}${same.length + 1}`;
}

function describeRefusal(status: number, codes: readonly ControlCode[]): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${describeCode(code).title}.`).join(" "),
    content: {
      "application/problem+json": {
        schema: z.intersection(
          controlProblemSchema,
          z.object({ status: z.literal(status), code: openEnum(codes) }),
        ),
      },
    },
  };
}
