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

/** Returns the JSON Schema of a tool's arguments. */
export function inputSchema(schema: z.ZodObject) {
  const { $schema: _, ...members } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return { ...members, type: "object" as const };
}
