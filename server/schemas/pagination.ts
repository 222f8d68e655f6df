import { z } from "zod";
import { defaultPageSize, limits } from "../limits.ts";

/** The query of a list. */
export const pageQuerySchema = z.strictObject({
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/, "must be a next_cursor of an earlier response")
    .optional()
    .meta({ description: "The `next_cursor` of the previous response." }),
  limit: z
    .string()
    .regex(/^([1-9][0-9]?|100)$/, `must be a number from 1 to ${limits.page_size_max}`)
    .optional()
    .meta({
      description: `The largest number of items, 1 to ${limits.page_size_max}; ${defaultPageSize} by default.`,
      example: String(defaultPageSize),
    }),
});

/** A list as it is answered. */
export function pageSchema<T extends z.ZodType>(item: T, name: string) {
  return z
    .object({
      data: z.array(item),
      next_cursor: z.string().nullable().meta({ description: "Null on the last page.", example: null }),
    })
    .meta({ id: name });
}
