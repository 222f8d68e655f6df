import { z } from "zod";

const nextCursor = z
  .string()
  .nullable()
  .meta({ description: "The `cursor` of the next page; null on the last." });

/** Returns the schema of one page of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), next_cursor: nextCursor });
}

/** One page of a list; `next_cursor` asks for the next one, null when this is the last. */
export interface ViewPage<T> {
  data: T[];
  next_cursor: string | null;
}

/**
 * Returns the schema of a number in a query, where it is text.
 *
 * @example decimal(z.int()).parse("7") // 7
 */
export function decimal(schema: z.ZodType<number>) {
  const read = (text: unknown) => (/^\d{1,15}$/.test(String(text)) ? Number(text) : text);
  return z.preprocess(read, schema).optional();
}

/**
 * Returns the schema of the parameter `limit`: the number of items in a page.
 *
 * @example limitTo(50).parse("5") // 5
 */
export function limitTo(most: number) {
  const error = `must be a number from 1 to ${most}`;
  return decimal(z.int({ error }).min(1).max(most));
}
