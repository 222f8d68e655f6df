import { z } from "zod";
import { createSchema, type ZodOpenApiExampleObject } from "zod-openapi";
import type { Json } from "../../../protocol/values/json.ts";
import type { Operation } from "../../http/operation.ts";

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

type Schema = { [keyword: string]: unknown };

/**
 * Builds an example of a schema from the examples of its parts; optional members are shown too.
 *
 * @example exampleOf(z.object({ amount: amountSchema }), "input") // { amount: "25000000" }
 */
function exampleOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { schema: root, components } = createSchema(schema, {
    io,
    opts: { allowEmptySchema: { custom: true } },
  });
  return build(root, new Map(Object.entries(components)));
}

function build(node: unknown, components: ReadonlyMap<string, unknown>): Json {
  if (!isObject(node)) return null;
  const { $ref, example, const: only, default: usual, enum: values, anyOf, oneOf, allOf, type } = node;
  if (example !== undefined) return asJson(example);
  if (typeof $ref === "string") return build(components.get($ref.split("/").at(-1) ?? ""), components);
  if (only !== undefined) return asJson(only);
  if (usual !== undefined) return asJson(usual);
  if (Array.isArray(values)) return asJson(values[0]);
  const [choice] = [anyOf, oneOf].filter(Array.isArray).flat();
  if (choice !== undefined) return build(choice, components);
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map((part) => build(part, components)));
  return buildType(Array.isArray(type) ? type[0] : type, node, components);
}

function buildType(type: unknown, node: Schema, components: ReadonlyMap<string, unknown>): Json {
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(isObject(node["properties"]) ? node["properties"] : {}).map(([name, part]) => [
          name,
          build(part, components),
        ]),
      );
    case "array":
      return [build(node["items"], components)];
    case "integer":
    case "number":
      return typeof node["minimum"] === "number" ? Math.max(node["minimum"], 1) : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return node["format"] === "uri" ? "http://127.0.0.1:4020/v1/routing/notification-receiver" : "text";
  }
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value));
}
