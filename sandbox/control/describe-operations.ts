import { STATUS_CODES } from "node:http";
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { openEnum } from "../../server/http/schemas/primitives.ts";
import { openAnswers, tidyReferences } from "../../server/openapi/open-answers.ts";
import { bodyOf, needsBody, type ServedOperation } from "./operation.ts";

/** The parts of an operation that a description shows. */
export type DescribedOperation = Omit<ServedOperation<never>, "handle">;

/** A table of operations, and the refusals of each. */
interface DescribedTable<O extends DescribedOperation, C extends string> {
  operations: readonly O[];
  /** Every code that an operation can answer with. */
  codesOf: (operation: O) => readonly C[];
  describeCode: (code: C) => { status: number; title: string };
  /** The schema of every refusal. */
  problem: z.ZodType;
  /** The documentation host that the pages of operations are linked on. */
  docsUrl?: string;
}

/**
 * Returns the URL of a page of docs/ on the documentation host.
 *
 * @example pageUrl("http://127.0.0.1:4021", "control.md")
 */
export function pageUrl(docsUrl: string, target: string): string {
  return `${docsUrl}/docs/${target}`;
}

/**
 * Describes a table of operations as an OpenAPI 3.1 document.
 *
 * @param head - the document without paths.
 */
export function describeTable<O extends DescribedOperation, C extends string>(
  head: Omit<ZodOpenApiObject, "paths" | "components">,
  table: DescribedTable<O, C>,
): ReturnType<typeof createDocument> {
  const refusals: Refusals = new Map();
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of table.operations)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describeOperation(operation, table, refusals),
    };
  const responses = Object.fromEntries([...refusals.values()].map(({ name, response }) => [name, response]));
  return tidyReferences(
    createDocument(
      { ...head, paths, components: { responses } },
      { allowEmptySchema: { custom: true }, override: openAnswers },
    ),
  );
}

type Refusals = Map<string, { name: string; response: ZodOpenApiResponseObject }>;

function describeOperation<O extends DescribedOperation, C extends string>(
  operation: O,
  table: DescribedTable<O, C>,
  refusals: Refusals,
): ZodOpenApiOperationObject {
  const { id, tag, summary, description = "", page, success, example } = operation;
  const { docsUrl } = table;
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
    ...(page &&
      docsUrl !== undefined && {
        externalDocs: { description: page.words, url: pageUrl(docsUrl, page.target) },
      }),
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
      ...describeRefusals(operation, table, refusals),
    },
  };
}

function describeParameters(place: "path" | "query", schemas: { readonly [name: string]: z.ZodType }) {
  return Object.entries(schemas).map(([name, schema]) => schema.meta({ param: { in: place, name } }));
}

/** Returns the refusals of an operation by status. Equal refusals of several operations are one response. */
function describeRefusals<O extends DescribedOperation, C extends string>(
  operation: O,
  table: DescribedTable<O, C>,
  refusals: Refusals,
) {
  const byStatus = Map.groupBy(new Set(table.codesOf(operation)), (code) => table.describeCode(code).status);
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => {
      const set = own.toSorted().join(" ");
      const name = refusals.get(set)?.name ?? nameOf(status, refusals);
      refusals.set(set, { name, response: describeRefusal(status, own, table) });
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

function describeRefusal<C extends string>(
  status: number,
  codes: readonly C[],
  { describeCode, problem }: Pick<DescribedTable<never, C>, "describeCode" | "problem">,
): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${describeCode(code).title}.`).join(" "),
    content: {
      "application/problem+json": {
        schema: z.intersection(problem, z.object({ status: z.literal(status), code: openEnum(codes) })),
      },
    },
  };
}
