import { z } from "zod";
import type { ZodOpenApiExampleObject } from "zod-openapi";
import type { Operation } from "../../http/operation.ts";
import { exampleOf } from "./example-of.ts";

/** An example of each answer, by the name of its schema. */
export type ExampleAnswers = { [name: string]: ZodOpenApiExampleObject };

/** Builds an example of every answer of the operations; one that holds another answer whole is left to its parts. */
export function exampleAnswers(operations: readonly Operation[]): ExampleAnswers {
  const schemas = new Set(
    operations.flatMap(({ responses }) => Object.values(responses).map(({ schema }) => schema)),
  );
  const holdsAnother = (schema: z.ZodType) =>
    schema instanceof z.ZodObject && Object.values<z.ZodType>(schema.shape).some((part) => schemas.has(part));
  const shown = [...schemas].filter((schema) => !holdsAnother(schema));
  return Object.fromEntries(
    shown.map((schema) => [answerName(schema), { value: exampleOf(schema, "output") }]),
  );
}

/** The name of an answer's schema. */
export function answerName(schema: z.ZodType): string {
  const name = z.globalRegistry.get(schema)?.id;
  if (name === undefined) throw new Error("The schema of a response has a name.");
  return name;
}
