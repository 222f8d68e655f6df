import { z } from "zod";
import { idSchema, programIdSchema } from "../schemas/primitives.ts";

/** The schema of the parameters in a path: `{id}` is named after the word before it. */
export function pathParameters(path: string): z.ZodObject | undefined {
  const shape: { [name: string]: z.ZodType } = {};
  if (path.includes("{program}")) shape["program"] = programIdSchema;
  if (path.includes("{id}")) shape["id"] = idSchema(/\/merchants?\/\{id\}/.test(path) ? "mer" : "pur");
  return Object.keys(shape).length === 0 ? undefined : z.object(shape);
}
