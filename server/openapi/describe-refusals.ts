import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { openEnum } from "../schemas/primitives.ts";

/** The refusals of a table of operations. */
export interface RefusalTable<O, C extends string> {
  operations: readonly O[];
  /** Every code that an operation can answer with. */
  codesOf: (operation: O) => readonly C[];
  describeCode: (code: C) => { status: number; title: string };
  /** The schema of every refusal. */
  problem: z.ZodType;
  /** Names the refusals of one status of an operation; others have the names in `taken`. */
  nameOf: (status: number, codes: readonly C[], operation: O, taken: readonly string[]) => string;
  headersOf?: (status: number) => NonNullable<ZodOpenApiResponseObject["headers"]>;
}

type References = { [status: string]: { $ref: string } };

/** Describes the refusals of a table: one response for each set of codes, by its name, which the operations refer to by status. */
export function describeRefusals<O, C extends string>(table: RefusalTable<O, C>) {
  const names = new Map<string, string>();
  const components: { [name: string]: ZodOpenApiResponseObject } = {};
  const references = new Map<O, References>();
  for (const operation of table.operations) {
    const own: References = {};
    const codes = new Set(table.codesOf(operation));
    for (const [status, some] of Map.groupBy(codes, (code) => table.describeCode(code).status)) {
      const set = some.toSorted().join(" ");
      const name = names.get(set) ?? table.nameOf(status, some, operation, [...names.values()]);
      names.set(set, name);
      components[name] ??= describeRefusal(status, some, table);
      own[status] = { $ref: `#/components/responses/${name}` };
    }
    references.set(operation, own);
  }
  return { components, of: (operation: O): References => references.get(operation) ?? {} };
}

function describeRefusal<C extends string>(
  status: number,
  codes: readonly C[],
  { describeCode, problem, headersOf }: Omit<RefusalTable<never, C>, "operations">,
): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${describeCode(code).title}.`).join(" "),
    ...(headersOf && { headers: headersOf(status) }),
    content: {
      "application/problem+json": {
        schema: z.intersection(problem, z.object({ status: z.literal(status), code: openEnum(codes) })),
      },
    },
  };
}
