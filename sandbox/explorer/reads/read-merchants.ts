import { toTimestamp } from "../../../protocol/values/time.ts";
import { copyFields } from "../../../server/http/answers/copy-fields.ts";
import type { MerchantRecord } from "../../../server/store/records.ts";
import type { ViewPage } from "../../lib/page.ts";
import type { Sources } from "../sources.ts";
import { type MerchantView, merchantViewSchema } from "../views.ts";
import { type PageQuery, readPage } from "./page.ts";
import { readFundings } from "./read-figures.ts";

/** Reads a page of the merchants of all programs, with their funding at one block. */
export async function readMerchants(query: PageQuery, sources: Sources): Promise<ViewPage<MerchantView>> {
  const { services, node, reader, labels } = sources;
  const { cursor, program, q, order, limit } = query;
  const filter = program === undefined ? {} : { program };
  const { data, next_cursor } = await readPage(services.store, "merchants", filter, {
    cursor,
    order,
    limit,
    ...(q === undefined || q === "" ? {} : { keep: (merchant) => mentions(merchant, q) }),
  });
  const records = data.map(({ value }) => value);
  return await reader.atOneHead(async (head) => {
    const fundings = await readFundings(records, head, node, services.deployment);
    return {
      data: records.flatMap((merchant, index) => {
        const funding = fundings[index];
        if (funding === undefined) return [];
        return [
          {
            ...copyFields(merchantViewSchema, merchant),
            wallet: labels.view(merchant.wallet),
            funding,
            created_at: toTimestamp(merchant.created_at),
          },
        ];
      }),
      next_cursor,
    };
  });
}

function mentions({ id, name, wallet, reference }: MerchantRecord, text: string): boolean {
  const wanted = text.toLowerCase();
  return [id, name, wallet, reference ?? ""].some((field) => field.toLowerCase().includes(wanted));
}
