import { STATUS_CODES } from "node:http";
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { describeRefusals, type RefusalTable } from "../../server/openapi/describe-refusals.ts";
import { openAnswers, tidyReferences } from "../../server/openapi/open-answers.ts";
import { bodyOf, needsBody, type ServedOperation } from "../lib/control/operation.ts";

/** The parts of an operation that a description shows. */
export type DescribedOperation = Omit<ServedOperation<never>, "handle">;

/** A table of operations, and the refusals of each. */
interface DescribedTable<O extends DescribedOperation, C extends string>
  extends Omit<RefusalTable<O, C>, "nameOf"> {
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
  const refusals = describeRefusals({ ...table, nameOf });
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of table.operations)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describeOperation(operation, refusals.of(operation), table.docsUrl),
    };
  return tidyReferences(
    createDocument(
      { ...head, paths, components: { responses: refusals.components } },
      { allowEmptySchema: { custom: true }, override: openAnswers },
    ),
  );
}

function describeOperation(
  operation: DescribedOperation,
  refusals: { [status: string]: { $ref: string } },
  docsUrl: string | undefined,
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
      ...refusals,
    },
  };
}

function describeParameters(place: "path" | "query", schemas: { readonly [name: string]: z.ZodType }) {
  return Object.entries(schemas).map(([name, schema]) => schema.meta({ param: { in: place, name } }));
}

/** Names a refusal after its status; others with this status get a number. */
function nameOf(status: number, _codes: unknown, _operation: unknown, taken: readonly string[]): string {
  const words = (STATUS_CODES[status] ?? "").replaceAll(" ", "");
  const same = taken.filter((name) => name.replace(/\d+$/, "") === words);
  return same.length === 0 ? words : `${words}${same.length + 1}`;
}
