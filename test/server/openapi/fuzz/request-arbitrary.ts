import fc from "fast-check";
import type { DescribedOperation, Description } from "./description.ts";
import { schemaArbitrary } from "./schema-arbitrary.ts";

/** A request of the fuzzer. */
export interface FuzzRequest {
  method: string;
  path: string;
  headers: { [name: string]: string | string[] };
  body: string;
}

/** The real ids and values of the sandbox under test. */
export interface Known {
  program: string;
  credential: string;
  accountKey: string;
  /** A credential of another program. */
  foreign: string;
  /** Identifiers and hashes, to be used where a pattern asks for such. */
  pool: readonly string[];
}

/** Makes requests: right ones, and right ones with something wrong in path, method, headers, query or body. */
export function requestArbitrary(description: Description, known: Known): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const described = operations.map(({ path, method, operation }) =>
    fc.record({
      method: mostly(
        method.toUpperCase(),
        fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"),
      ),
      path: fc
        .tuple(
          pathArbitrary(path, operation, description, known),
          queryArbitrary(operation, description, known),
        )
        .map(([concrete, query]) => concrete + query),
      headers: headersArbitrary(path, operation, description, known),
      body: bodyArbitrary(operation, description, known),
    }),
  );
  const anywhere = fc.record({
    method: fc.constantFrom("GET", "POST"),
    path: fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join("/")}`),
    headers: fc.constant({}),
    body: fc.constant(""),
  });
  return fc.oneof(...described.map((arbitrary) => ({ weight: 4, arbitrary })), {
    weight: 2,
    arbitrary: anywhere,
  });
}

const segment = fc
  .string({ unit: "grapheme", maxLength: 20 })
  .map((text) => encodeURIComponent(text.toWellFormed()));

function mostly<T>(right: T | fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  const arbitrary = right instanceof fc.Arbitrary ? right : fc.constant(right);
  return fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: wrong });
}

function pathArbitrary(
  path: string,
  { parameters = [] }: DescribedOperation,
  description: Description,
  known: Known,
) {
  const parts = path.split("/").map((part) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined) return fc.constant(part);
    if (name === "program") return mostly(known.program, fc.oneof(fc.constant("prg_other"), segment));
    const schema = parameters.find((parameter) => parameter.in === "path" && parameter.name === name)?.schema;
    const value = schemaArbitrary(schema, description.components.schemas, known.pool).map(String);
    return mostly(value, fc.oneof(segment, fc.constantFrom("%", "%00", "..", "%2F", "__proto__")));
  });
  return fc.tuple(...parts).map((concrete) => concrete.join("/"));
}

function queryArbitrary({ parameters = [] }: DescribedOperation, description: Description, known: Known) {
  const right = fc.record(
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === "query")
        .map(({ name, schema }) => [
          name,
          schemaArbitrary(schema, description.components.schemas, known.pool).map(String),
        ]),
    ),
    { requiredKeys: [], noNullPrototype: true },
  );
  const asText = (query: { [name: string]: string | undefined }) => {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const text = new URLSearchParams(given).toString();
    return text === "" ? "" : `?${text}`;
  };
  return mostly(
    right.map(asText),
    fc.oneof(
      fc.dictionary(segment, segment, { maxKeys: 3 }).map(asText),
      segment.map((text) => `?${text}`),
    ),
  );
}

function headersArbitrary(
  path: string,
  operation: DescribedOperation,
  description: Description,
  known: Known,
) {
  const right = path.endsWith("/access") ? known.accountKey : known.credential;
  const authorization = mostly<string | string[] | undefined>(
    `Bearer ${right}`,
    fc.oneof(
      fc.constantFrom(undefined, `Bearer ${known.foreign}`, "Bearer", "Basic dXNlcjpwYXNz", [
        "Bearer a",
        "Bearer b",
      ]),
      headerText.map((text) => `Bearer ${text}`),
      headerText,
    ),
  );
  const type = mostly<string | undefined>(
    "application/json",
    fc.oneof(fc.constantFrom(undefined, "text/plain", "application/json; charset=latin1"), headerText),
  );
  const encoding = mostly<string | undefined>(
    fc.constant(undefined),
    fc.constantFrom("gzip", "identity", "br, gzip"),
  );
  const key = mostly<string | string[] | undefined>(
    fc.stringMatching(/^[!-~]{8,100}$/),
    fc.oneof(fc.constantFrom(undefined, "reused-key", ["twice-sent", "twice-sent"]), headerText),
  );
  const others = fc.record(
    Object.fromEntries(
      (operation.parameters ?? [])
        .filter((parameter) => parameter.in === "header" && parameter.name !== "Idempotency-Key")
        .map(({ name, schema }) => [
          name,
          mostly(
            schemaArbitrary(schema, description.components.schemas, known.pool).map(toHeader),
            headerText,
          ),
        ]),
    ),
    { requiredKeys: [], noNullPrototype: true },
  );
  return fc
    .tuple(authorization, type, encoding, key, others)
    .map(([authorized, typed, encoded, keyed, more]) => {
      const headers: { [name: string]: string | string[] } = {};
      for (const [name, value] of Object.entries(more)) if (value !== undefined) headers[name] = value;
      if (authorized !== undefined) headers["Authorization"] = authorized;
      if (typed !== undefined) headers["Content-Type"] = typed;
      if (encoded !== undefined) headers["Content-Encoding"] = encoded;
      if (keyed !== undefined) headers["Idempotency-Key"] = keyed;
      return headers;
    });
}

const headerText = fc.string({ maxLength: 120 }).map(toHeader);

/** Returns a text as Node's client accepts it for the value of a header. */
function toHeader(text: unknown): string {
  return String(text)
    .replaceAll(/[^\x20-\x7e]/g, "")
    .trim();
}

function bodyArbitrary(
  { requestBody }: DescribedOperation,
  description: Description,
  known: Known,
): fc.Arbitrary<string> {
  const schema = requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return fc.constant("");
  const right = schemaArbitrary(schema, description.components.schemas, known.pool);
  const text = right.map((value) => JSON.stringify(value));
  const changed = fc
    .tuple(right, fc.nat(), anyValue)
    .map(([value, at, other]) => JSON.stringify(change(value, at, other)));
  const damaged = fc.tuple(text, fc.nat(), insertion).map(([whole, at, inserted]) => {
    const cut = whole.length === 0 ? 0 : at % whole.length;
    return whole.slice(0, cut) + inserted + whole.slice(cut + 1);
  });
  return fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 4, arbitrary: changed },
    { weight: 2, arbitrary: damaged },
    { weight: 1, arbitrary: anyJson },
    { weight: 1, arbitrary: anyText },
  );
}

// Made once: what a text of any characters is made of takes fast-check a tenth of a second to put together.
const anyText = fc.string({ unit: "binary", maxLength: 40 });
const anyJson = fc.json();
const anyValue = fc.jsonValue({ maxDepth: 2 });
const insertion = fc.string({ maxLength: 3 });

/** Replaces, takes away or adds one member, chosen by a number. */
function change(value: unknown, at: number, other: unknown): unknown {
  if (typeof value !== "object" || value === null) return other;
  const members = Object.entries(value);
  if (members.length === 0 || at % 5 === 0) return { ...value, [JSON.stringify(other).slice(0, 10)]: other };
  const index = Math.floor(at / 5) % members.length;
  if (at % 5 === 1) return Object.fromEntries(members.filter((_, here) => here !== index));
  return Object.fromEntries(
    members.map(([name, member], here) => [
      name,
      here === index ? change(member, Math.floor(at / 7), other) : member,
    ]),
  );
}
