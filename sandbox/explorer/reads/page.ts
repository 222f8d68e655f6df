import { z } from "zod";
import type { CollectionName, Collections } from "../../../server/store/records.ts";
import type { Filter, Store, Stored } from "../../../server/store/store.ts";
import { limitTo, type ViewPage } from "../../lib/page.ts";

/** The largest number of items in a page, and the number of those in one whose `limit` is not asked for. */
export const pageSize = 50;
/** The largest number of records that one page reads while it searches; those further back are on the next page. */
export const mostScanned = 2_000;

/** The orders of a list. */
const listOrders = ["newest", "oldest"] as const;

/** The query of a list: where the page begins, and what it is about. */
export const pageQuery = z.strictObject({
  /** The `next_cursor` of the page before. */
  cursor: z.string().max(200).optional(),
  program: z.string().max(100).optional(),
  q: z.string().trim().max(200).optional(),
  /** By default the newest records come first. */
  order: z.enum(listOrders).optional(),
  limit: limitTo(pageSize),
});

/** The parsed form of {@link pageQuery}. */
export type PageQuery = z.output<typeof pageQuery>;

/**
 * Reads a page of a collection, the newest records first unless `order` says otherwise, and only as many as it needs.
 *
 * A page of a search can be short or empty and still have a next one: each looks at a bounded number of records.
 *
 * @example await readPage(store, "purchases", {}, { cursor, keep: ({ status }) => status === "active" })
 */
export async function readPage<C extends CollectionName>(
  store: Store,
  collection: C,
  filter: Filter<C>,
  page: Pick<PageQuery, "order" | "limit"> & {
    cursor: string | undefined;
    keep?: (record: Collections[C]) => boolean | Promise<boolean>;
  },
): Promise<ViewPage<Stored<Collections[C]>>> {
  const { cursor, order, limit: size = pageSize, keep = () => true } = page;
  const reverse = order !== "oldest";
  const data: Stored<Collections[C]>[] = [];
  let after = cursor;
  for (let scanned = 0; scanned < mostScanned; ) {
    const limit = page.keep === undefined ? size + 1 : 500;
    const records = await store.list(collection, filter, { after, limit, reverse });
    const kept = await Promise.all(records.map(async ({ value }) => await keep(value)));
    for (const [index, stored] of records.entries()) {
      if (data.length === size) return { data, next_cursor: after ?? null };
      if (kept[index] === true) data.push(stored);
      after = stored.key;
    }
    scanned += records.length;
    if (records.length < limit) return { data, next_cursor: null };
  }
  return { data, next_cursor: after ?? null };
}
