import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { type Description, parseDescription } from "../fuzz/description.ts";

type Node = { readonly [keyword: string]: unknown };

/**
 * Holds records against a description whose answers refuse unknown fields and codes, and notes which of the described kinds it has
 * seen: every value of a list, every nullable field with and without a value, every optional field, every list with an item.
 */
export class RecordCheck {
  readonly #description: Description;
  readonly #ajv = formatsPlugin.default(new Ajv2020({ strict: false, allErrors: true }));
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #seen = new Set<string>();
  readonly #routes: { form: RegExp; methods: Description["paths"][string] }[];

  constructor(text: string) {
    const strict = JSON.stringify(closed(JSON.parse(text)));
    this.#description = parseDescription(strict);
    this.#ajv.addSchema({ ...JSON.parse(strict), $id: "api" });
    this.#routes = Object.entries(this.#description.paths).map(([path, methods]) => ({
      form: new RegExp(`^${path.replaceAll(/\{[a-z]+\}/g, "[^/]+")}$`),
      methods,
    }));
  }

  /** Takes an answer; one that is no success is not looked at. Throws when it is not as described. */
  answer(method: string, target: string, status: number, text: string): void {
    const [path = ""] = target.split("?");
    const found = this.#routes.find(({ form }) => form.test(path))?.methods[method.toLowerCase()];
    const schema = found?.responses[String(status)]?.content["application/json"]?.schema;
    if (schema !== undefined) this.#take(schema, JSON.parse(text));
  }

  /** Takes an event as it was delivered. */
  event(body: string): void {
    this.#take({ $ref: "#/components/schemas/Event" }, JSON.parse(body));
  }

  /** Returns the described parts of the answers that no answer had. */
  missing(): string[] {
    const expected = new Set<string>();
    const visited = new Set<string>();
    const roots = Object.values(this.#description.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.entries(responses))
      .flatMap(([status, { content }]) =>
        status.startsWith("2") ? [content["application/json"]?.schema] : [],
      );
    for (const root of [...roots, { $ref: "#/components/schemas/Event" }])
      this.#expect(asNode(root), "", expected, visited);
    return [...expected].filter((kind) => !this.#seen.has(kind)).toSorted();
  }

  #take(schema: unknown, value: unknown): void {
    const node = asNode(schema);
    if (!this.#isValid(node, value)) {
      const validate = this.#validatorOf(node);
      throw new Error(`${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
    }
    this.#note(node, value, "");
  }

  #note(node: Node, value: unknown, place: string): void {
    const { $ref, enum: values, items, properties } = node;
    if (typeof $ref === "string") {
      const name = nameOf($ref);
      this.#note(this.#named(name), value, name);
      return;
    }
    if (Array.isArray(values)) this.#seen.add(`${place} = ${value}`);
    if (isNullable(node)) this.#seen.add(`${place} is ${value === null ? "null" : "not null"}`);
    const choices = choicesOf(node);
    for (const [index, choice] of choices.entries())
      if (value !== null && this.#isValid(choice, value)) {
        if (choices.length > 1) this.#seen.add(`${place} is choice ${index + 1}`);
        this.#note(choice, value, place);
      }
    if (Array.isArray(value)) {
      if (value.length > 0) this.#seen.add(`${place} has an item`);
      for (const item of value) this.#note(asNode(items), item, `${place}[]`);
    } else if (typeof value === "object" && value !== null)
      for (const [name, part] of Object.entries(asNode(properties))) {
        const member = Object.entries(value).find(([key]) => key === name);
        if (isOptional(node, name)) this.#seen.add(`${place}.${name} is ${member ? "there" : "absent"}`);
        if (member) this.#note(asNode(part), member[1], `${place}.${name}`);
      }
  }

  #expect(node: Node, place: string, expected: Set<string>, visited: Set<string>): void {
    const { $ref, enum: values, items, properties, type } = node;
    if (typeof $ref === "string") {
      const name = nameOf($ref);
      if (visited.has(name)) return;
      visited.add(name);
      this.#expect(this.#named(name), name, expected, visited);
      return;
    }
    if (Array.isArray(values)) for (const value of values) expected.add(`${place} = ${value}`);
    if (isNullable(node)) for (const what of ["null", "not null"]) expected.add(`${place} is ${what}`);
    const choices = choicesOf(node);
    for (const [index, choice] of choices.entries()) {
      if (choices.length > 1) expected.add(`${place} is choice ${index + 1}`);
      this.#expect(choice, place, expected, visited);
    }
    if (type === "array") {
      expected.add(`${place} has an item`);
      this.#expect(asNode(items), `${place}[]`, expected, visited);
    }
    for (const [name, part] of Object.entries(asNode(properties))) {
      if (isOptional(node, name))
        for (const what of ["there", "absent"]) expected.add(`${place}.${name} is ${what}`);
      this.#expect(asNode(part), `${place}.${name}`, expected, visited);
    }
  }

  #named(name: string): Node {
    return asNode(this.#description.components.schemas[name]);
  }

  #isValid(node: Node, value: unknown): boolean {
    return this.#validatorOf(node)(value) === true;
  }

  #validatorOf(node: Node): ValidateFunction {
    const text = JSON.stringify(node).replaceAll('"#/components/', '"api#/components/');
    const known = this.#validators.get(text) ?? this.#ajv.compile(JSON.parse(text));
    this.#validators.set(text, known);
    return known;
  }
}

/** The same description with answers that are closed: no unknown field, no unknown code. */
export function closed(node: unknown, isPart = false): unknown {
  if (Array.isArray(node)) return node.map((part) => closed(part, isPart));
  if (typeof node !== "object" || node === null) return node;
  const codes = "anyOf" in node && Array.isArray(node.anyOf) ? openCodes(node.anyOf) : null;
  if (codes !== null) return codes;
  const parts = Object.fromEntries(
    Object.entries(node).map(([name, part]) => [name, closed(part, name === "allOf")]),
  );
  // A part of an intersection has only some of the fields; the schema that it narrows is closed.
  const isOpenObject = !isPart && "properties" in node && "type" in node && !("additionalProperties" in node);
  return isOpenObject ? { ...parts, additionalProperties: false } : parts;
}

/** The listed values of a list that any other text may join, or null for another choice. */
function openCodes(choices: readonly unknown[]): Node | null {
  const nodes = choices.map(asNode);
  const isOpen = nodes.some((choice) => Object.keys(choice).join() === "type" && choice["type"] === "string");
  return isOpen ? (nodes.find((choice) => choice["enum"] !== undefined) ?? null) : null;
}

function choicesOf({ anyOf, oneOf }: Node): Node[] {
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return choices.map(asNode).filter(({ type }) => type !== "null");
}

function isNullable({ anyOf, type }: Node): boolean {
  const choices = Array.isArray(anyOf) ? anyOf.map(asNode) : [];
  return (
    choices.some((choice) => choice["type"] === "null") || (Array.isArray(type) && type.includes("null"))
  );
}

function isOptional({ required }: Node, name: string): boolean {
  return !(Array.isArray(required) && required.includes(name));
}

function nameOf(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

function asNode(value: unknown): Node {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
