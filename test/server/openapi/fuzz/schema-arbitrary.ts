import fc from "fast-check";

type Node = { readonly [keyword: string]: unknown };

/** Values that are real in the sandbox under test, to be used where their pattern fits. */
export type RealValues = readonly string[];

/**
 * Makes values that a JSON Schema of the description takes, real ones where there are some.
 *
 * @param components - the description's `components.schemas`.
 */
export function schemaArbitrary(schema: unknown, components: Node, pool: RealValues): fc.Arbitrary<unknown> {
  const node = asNode(schema);
  const { $ref, const: only, enum: values, anyOf, oneOf, allOf, type } = node;
  if (typeof $ref === "string") {
    const target = asNode(components[$ref.split("/").at(-1) ?? ""]);
    return schemaArbitrary({ ...target, ...without(node, "$ref") }, components, pool);
  }
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(values)) return fc.constantFrom(...values);
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices))
    return fc.oneof(...choices.map((choice) => schemaArbitrary(choice, components, pool)));
  if (Array.isArray(allOf)) {
    const form = new RegExp(String(node["pattern"]));
    return schemaArbitrary(allOf[0], components, pool).filter((value) => form.test(String(value)));
  }
  switch (type) {
    case "string":
      return textArbitrary(node, pool);
    case "integer":
      return fc.integer({
        min: Number(node["minimum"] ?? 0),
        max: Math.min(Number(node["maximum"] ?? 4_000_000_000), 4_000_000_000),
      });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(schemaArbitrary(node["items"], components, pool), {
        minLength: Number(node["minItems"] ?? 0),
        maxLength: Math.min(Number(node["maxItems"] ?? 4), 4),
      });
    case "object":
      return objectArbitrary(node, components, pool);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function textArbitrary(node: Node, pool: RealValues): fc.Arbitrary<string> {
  const { pattern, minLength, maxLength } = node;
  if (typeof pattern !== "string")
    return fc.string({ minLength: Number(minLength ?? 0), maxLength: Math.min(Number(maxLength ?? 60), 60) });
  const form = new RegExp(pattern);
  const made = matching(pattern.replace("{1,4096}", "{1,80}"));
  const real = pool.filter((value) => form.test(value));
  return real.length === 0 ? made : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...real) }, made);
}

/** Each pattern's, made once: many fields share one, and fast-check takes milliseconds to make it. */
const madeOf = new Map<string, fc.Arbitrary<string>>();

function matching(pattern: string): fc.Arbitrary<string> {
  const made = madeOf.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  madeOf.set(pattern, made);
  return made;
}

function objectArbitrary(node: Node, components: Node, pool: RealValues): fc.Arbitrary<unknown> {
  const properties = Object.entries(asNode(node["properties"] ?? {}));
  const required = Array.isArray(node["required"]) ? node["required"] : [];
  if (properties.length === 0)
    return fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
  return fc.record(
    Object.fromEntries(properties.map(([name, part]) => [name, schemaArbitrary(part, components, pool)])),
    { requiredKeys: required.filter((name) => typeof name === "string"), noNullPrototype: true },
  );
}

function asNode(value: unknown): Node {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function without(node: Node, keyword: string): Node {
  return Object.fromEntries(Object.entries(node).filter(([name]) => name !== keyword));
}
