import { Problem } from "../../errors/problem.ts";
import { defaultPageSize } from "../../limits.ts";

/** A page as it was asked for: items after a key, one more than is shown so that the end is seen. */
export interface PageRequest {
  after: string | undefined;
  limit: number;
}

/**
 * Reads cursor and limit; a cursor is the key of the last item that was shown.
 *
 * @param exists - whether an item with this key is in the list.
 * @throws Problem validation_failed for a cursor that no answer gave.
 */
export async function readPageRequest(
  query: { cursor?: string | undefined; limit?: string | undefined },
  exists: (key: string) => Promise<boolean>,
): Promise<PageRequest> {
  const limit = query.limit === undefined ? defaultPageSize : Number(query.limit);
  if (query.cursor !== undefined && !(await exists(query.cursor)))
    throw new Problem(
      "validation_failed",
      "The cursor does not belong to this list. Send a next_cursor of an earlier response, or leave cursor out to start at the beginning.",
      {
        errors: [
          {
            pointer: "/query/cursor",
            code: "unknown_cursor",
            detail: "send a next_cursor of an earlier response",
          },
        ],
      },
    );
  return { after: query.cursor, limit };
}

/** Cuts a page from what was read with one item too many. */
export function cutPage<T>(items: readonly T[], limit: number, keyOf: (item: T) => string) {
  const data = items.slice(0, limit);
  const last = data.at(-1);
  return { data, next_cursor: items.length > limit && last !== undefined ? keyOf(last) : null };
}
