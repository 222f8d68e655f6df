/** Writes the TypeScript types of an OpenAPI 3.1 document, in the form that openapi-fetch takes. */

type Node = { readonly [keyword: string]: unknown };

/** Turns a description into TypeScript: `components["schemas"]` and `paths`. */
export function openapiTypes(document: unknown): string {
  const root = asNode(document);
  const { schemas, responses, parameters = {} } = asNode(root["components"]);
  const paths = asNode(root["paths"]);
  return [
    "/** The named parts of the API. */",
    "export interface components {",
    "  schemas: {",
    ...Object.entries(asNode(schemas)).map(
      ([name, schema]) => `${comment(schema, 4)}    ${name}: ${typeOf(schema, 4)};`,
    ),
    "  };",
    "  responses: {",
    ...Object.entries(asNode(responses)).map(
      ([name, response]) => `    ${propertyName(name)}: ${responseType(asNode(response))};`,
    ),
    "  };",
    "  parameters: {",
    ...Object.entries(asNode(parameters)).map(
      ([name, parameter]) => `    ${propertyName(name)}: ${typeOf(asNode(parameter)["schema"], 4)};`,
    ),
    "  };",
    "}",
    "",
    "/** The operations of the API by path and method. */",
    "export interface paths {",
    ...Object.entries(paths).map(
      ([path, item]) => `  ${JSON.stringify(path)}: ${pathType(asNode(item), asNode(parameters))};`,
    ),
    "}",
    "",
  ].join("\n");
}

function pathType(item: Node, shared: Node): string {
  const methods = Object.entries(item).map(
    ([method, operation]) => `    ${method}: ${operationType(asNode(operation), shared)};`,
  );
  return `{\n${methods.join("\n")}\n  }`;
}

function operationType(operation: Node, shared: Node): string {
  const parameters = asList(operation["parameters"]).map((parameter) =>
    namedParameter(asNode(parameter), shared),
  );
  const places = ["query", "header", "path", "cookie"].map((place) => {
    const here = parameters.filter((parameter) => parameter.place === place);
    if (here.length === 0) return `${place}?: never`;
    const needed = here.some(({ required }) => required);
    const members = here.map(
      ({ name, required, type }) => `${JSON.stringify(name)}${required ? "" : "?"}: ${type}`,
    );
    return `${place}${needed ? "" : "?"}: { ${members.join("; ")} }`;
  });
  const body = operation["requestBody"];
  const responses = Object.entries(asNode(operation["responses"])).map(
    ([status, response]) => `        ${status}: ${responseType(asNode(response))};`,
  );
  return [
    "{",
    `      parameters: { ${places.join("; ")} };`,
    body === undefined
      ? "      requestBody?: never;"
      : `      requestBody${asNode(body)["required"] === true ? "" : "?"}: { content: ${contentType(body)} };`,
    "      responses: {",
    ...responses,
    "      };",
    "    }",
  ].join("\n");
}

/** A parameter with its type; a shared parameter has the type of its component. */
function namedParameter(parameter: Node, shared: Node) {
  const reference = nameOf(parameter["$ref"]);
  const described = reference === null ? parameter : asNode(shared[reference]);
  return {
    place: described["in"],
    name: described["name"],
    required: described["required"] === true,
    type:
      reference === null
        ? typeOf(described["schema"], 8)
        : `components["parameters"][${JSON.stringify(reference)}]`,
  };
}

function responseType(response: Node): string {
  const reference = nameOf(response["$ref"]);
  if (reference !== null) return `components["responses"][${JSON.stringify(reference)}]`;
  return `{ headers: { [name: string]: string }; content: ${contentType(response)} }`;
}

/** The last part of a reference, or null where there is none. */
function nameOf(reference: unknown): string | null {
  return typeof reference === "string" ? (reference.split("/").at(-1) ?? null) : null;
}

/** Bodies as the client takes them: pages are for browsers. */
function contentType(holder: unknown): string {
  const media = Object.entries(asNode(asNode(holder)["content"] ?? {}))
    .filter(([type]) => type.endsWith("json"))
    .map(([type, content]) => `${JSON.stringify(type)}: ${typeOf(asNode(content)["schema"], 8)}`);
  return media.length === 0 ? "never" : `{ ${media.join("; ")} }`;
}

function typeOf(schema: unknown, indent: number): string {
  const node = asNode(schema);
  const { $ref, const: only, enum: values, anyOf, oneOf, allOf, type } = node;
  if (typeof $ref === "string") return `components["schemas"][${JSON.stringify(nameOf($ref))}]`;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(anyOf) || Array.isArray(oneOf)) {
    const choices = asList(anyOf ?? oneOf).map(asNode);
    // Codes that may grow are typed by those that are known, so that a client can name and compare them.
    const known = choices.find((choice) => choice["enum"] !== undefined && isOpen(choices));
    return known === undefined
      ? `(${choices.map((part) => typeOf(part, indent)).join(" | ")})`
      : `(${typeOf(known, indent)})`;
  }
  if (Array.isArray(allOf)) return `(${allOf.map((part) => typeOf(part, indent)).join(" & ")})`;
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...node, type: one }, indent)).join(" | ");
  switch (type) {
    case "string":
      return String(node["pattern"] ?? "").startsWith("^0x") ? ["`0x$", "{string}`"].join("") : "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `${wrap(typeOf(node["items"] ?? {}, indent))}[]`;
    case "object":
      return objectType(node, indent);
    default:
      return "unknown";
  }
}

/** Returns whether any text is among the choices, besides those that are listed. */
function isOpen(choices: readonly Node[]): boolean {
  return choices.some((choice) => choice["type"] === "string" && choice["enum"] === undefined);
}

function objectType(node: Node, indent: number): string {
  const required = asList(node["required"]);
  const properties = asNode(node["properties"] ?? {});
  const members = Object.entries(properties).map(
    ([name, part]) =>
      `${comment(part, indent + 2)}${" ".repeat(indent + 2)}${propertyName(name)}${required.includes(name) ? "" : "?"}: ${typeOf(part, indent + 2)};`,
  );
  const more = node["additionalProperties"];
  if (typeof more === "object" && more !== null) {
    // An index signature covers the named members as well, so it can be exact only where they are all of its type.
    const others = typeOf(more, indent + 2);
    const alike = Object.values(properties).every((part) => typeOf(part, indent + 2) === others);
    members.push(`${" ".repeat(indent + 2)}[name: string]: ${alike ? others : "unknown"};`);
  }
  return members.length === 0 ? "Record<string, never>" : `{\n${members.join("\n")}\n${" ".repeat(indent)}}`;
}

function comment(schema: unknown, indent: number): string {
  const { description } = asNode(schema);
  return typeof description === "string"
    ? `${" ".repeat(indent)}/** ${description.replaceAll("*/", "* /")} */\n`
    : "";
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function wrap(type: string): string {
  return type.includes(" | ") && !type.startsWith("(") && !type.startsWith("{") ? `(${type})` : type;
}

function asNode(value: unknown): Node {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError("An object was expected.");
  return { ...value };
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
