import { z } from "zod";

/** The arguments of a call. */
export interface Arguments {
  readonly [name: string]: unknown;
}

/** A tool of an agent. */
export interface Tool {
  name: string;
  description: string;
  /** The JSON Schema of its arguments. */
  input: ReturnType<typeof inputSchema>;
  /** Returns the result as text. */
  call: (given: Arguments) => Promise<string>;
}

/** Returns the JSON Schema of a tool's arguments. It has no references: many clients do not follow them, and take a referenced object for a string. */
export function inputSchema(schema: z.ZodObject): { type: "object"; [name: string]: unknown } {
  const {
    $schema: _,
    $defs = {},
    ...members
  } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return { ...Object(inline(members, $defs)), type: "object" };
}

/** Replaces each reference by the schema that it names. */
function inline(value: unknown, definitions: { readonly [name: string]: unknown }): unknown {
  if (Array.isArray(value)) return value.map((entry) => inline(entry, definitions));
  if (typeof value !== "object" || value === null) return value;
  const reference: unknown = Reflect.get(value, "$ref");
  const named =
    typeof reference === "string"
      ? inline(definitions[reference.replace("#/$defs/", "")], definitions)
      : undefined;
  const own = Object.entries(value)
    .filter(([name]) => name !== "$ref")
    .map(([name, member]) => [name, inline(member, definitions)]);
  return { ...Object(named), ...Object.fromEntries(own) };
}
