import { STATUS_CODES } from "node:http";
import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { type ErrorCode, errorCatalogue } from "../errors/catalogue.ts";
import { codesOfOperation } from "../errors/codes-of-operation.ts";
import type { Operation } from "../http/operation.ts";
import { openEnum } from "../http/schemas/primitives.ts";
import { problemSchema } from "../http/schemas/problem.ts";
import { capitalize } from "../lib/wording.ts";
import { problemHeaders } from "./headers.ts";

type Reference = { $ref: string };

/**
 * The refusals of all operations: one response for each status and set of codes, which operations refer to.
 *
 * @example new Refusals(operations).of(createPurchase) // { "404": { $ref: "#/components/responses/NotFound" }, … }
 */
export class RefusalResponses {
  readonly components: { [name: string]: ZodOpenApiResponseObject } = {};
  readonly #references = new Map<string, { [status: string]: Reference }>();

  constructor(operations: readonly Operation[]) {
    const names = new Map<string, string>();
    for (const operation of operations) {
      const references: { [status: string]: Reference } = {};
      for (const [status, codes] of byStatus(operation)) {
        const set = codes.join(" ");
        const name = names.get(set) ?? nameOf(status, codes, operation);
        names.set(set, name);
        this.components[name] ??= describeRefusal(status, codes);
        references[String(status)] = { $ref: `#/components/responses/${name}` };
      }
      this.#references.set(operation.id, references);
    }
  }

  /** The refusals of one operation, by status. */
  of({ id }: Operation): { [status: string]: Reference } {
    return this.#references.get(id) ?? {};
  }
}

function byStatus(operation: Operation): Map<number, ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of codesOfOperation(operation)) {
    const { status } = errorCatalogue[code];
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

/** A refusal with one code is named after it, another one after its status and the first operation that answers it. */
function nameOf(status: number, codes: readonly ErrorCode[], operation: Operation): string {
  const [first, ...more] = codes;
  if (first !== undefined && more.length === 0) return pascalCase(first.split("_"));
  return `${pascalCase((STATUS_CODES[status] ?? "").split(" "))}.${operation.id}`;
}

function pascalCase(words: readonly string[]): string {
  return words.map(capitalize).join("");
}

function describeRefusal(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join(" "),
    headers: problemHeaders(status),
    content: {
      "application/problem+json": {
        schema: z.intersection(problemSchema, z.object({ status: z.literal(status), code: openEnum(codes) })),
      },
    },
  };
}
